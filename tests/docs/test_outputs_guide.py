"""The tables of docs/guides/outputs.md have what there is, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from plimsoll.outputs import metrics
from plimsoll.outputs.kinds import OUTPUTS
from plimsoll.outputs.metric_histogram import BOUNDS_S

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "outputs.md").read_text()


def test_every_metric_has_a_row_with_its_type() -> None:
    rows = dict(re.findall(r"^\| `(plimsoll_\w+)` \| (\w+) \|", GUIDE, re.MULTILINE))
    assert rows == {each.name: each.type for each in vars(metrics).values() if isinstance(each, metrics.OutputMetric)}


def test_every_output_has_a_row_with_its_settings() -> None:
    rows: dict[str, set[str]] = {}
    for name, settings in re.findall(r"^\| `(\w+)[=`].* \| ([^|]*) ?\|$", GUIDE, re.MULTILINE):
        if name in OUTPUTS:
            rows.setdefault(name, set()).update(re.findall(r"`(\w+)", settings))
    assert rows == {name: set(kind.settings) for name, kind in OUTPUTS.items()}


def test_the_buckets_are_those_that_there_are() -> None:
    text = " ".join(GUIDE.split())
    (listed,) = re.findall(r"The buckets end at ([\d., ]+) ms, ([\d., and]+) s", text)
    milliseconds, seconds = ([float(each) for each in re.findall(r"\d+(?:\.\d+)?", part)] for part in listed)
    assert [*(each / 1000 for each in milliseconds), *seconds] == list(BOUNDS_S)


def test_the_query_of_the_store_has_the_figures_of_a_run(
    plimsoll: Command, target: CountingTarget, postgresql_url: str
) -> None:
    (query,) = re.findall(r"```sql\n(.*?)```", GUIDE, re.DOTALL)
    done = plimsoll("run", f"{target.url}/fail", "-u", "2", "-t", "2", "--store", postgresql_url)
    assert done.code == 1, done
    with psycopg.connect(postgresql_url) as connection:
        row = connection.execute("SELECT id FROM run").fetchone()
        assert row is not None
        rows = connection.execute(re.sub(r"run.id = '[^']+'", f"run.id = '{row[0]}'", query)).fetchall()  # type: ignore[call-overload]
    assert {endpoint for _, endpoint, *_ in rows} == {"GET /fail"}
    assert sum(requests for _, _, requests, _, _ in rows) == target.total
    assert sum(failures for _, _, _, failures, _ in rows) == target.total
    assert all(mean > 0 for *_, mean in rows)
