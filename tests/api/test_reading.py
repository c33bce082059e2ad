"""What `plimsoll.open(…)` gives is what every report of the same runs says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet
import pytest

from plimsoll import api
from plimsoll.cli.parts.reporting import opened_study
from plimsoll.errors import RefError, UsageError
from plimsoll.report import outputs
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.say.comparisons import verdict
from plimsoll.store import Store

if TYPE_CHECKING:
    from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "python-api.md"


def document(opened: api.RunStore, *refs: str, format: str) -> Any:
    with Store.open(opened.name, create=False) as store:
        source = RunSource.of(store.run(refs[0]))
        if format == "run.json":
            return json.loads(outputs.text(source, format, OutputRequest()))
    with opened_study(refs, opened.name) as study:
        return json.loads(outputs.text(study, format, OutputRequest()))


def test_runs_are_found_as_the_command_finds_them(stored: api.RunStore) -> None:
    runs = stored.runs()
    assert [run.tags for run in runs] == [("nightly",), ()]
    assert [run.id for run in stored.runs(tag="nightly")] == [runs[0].id] == [stored.run().id]
    assert [run.id for run in stored.runs(search="shop", limit=1)] == [runs[0].id]
    assert stored.run(runs[1].id[:14]).id == runs[1].id
    with pytest.raises(RefError, match="has no run 'nothing'"):
        stored.run("nothing")


def test_a_label_is_kept(stored: api.RunStore) -> None:
    before = stored.runs()[1]
    assert before.label(tags=["release"], note="quiet machine").tags == ("release",)
    [found] = stored.runs(tag="release")
    assert (found.id, found.note) == (before.id, "quiet machine")


def test_a_store_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "named.db"))
    with pytest.raises(RefError, match=r"named\.db"):
        api.open()
    assert list(tmp_path.iterdir()) == []


def test_rows_answer_and_findings_are_those_of_the_report(stored: api.RunStore) -> None:
    run = stored.run()
    of_run = document(stored, run.id, format="run.json")
    rows = run.rows()
    assert [(row.name, row.requests, row.failures) for row in rows] == [("/a", 80, 2), ("/b", 80, 0)]
    for row, plain in zip([*rows, run.total], [*of_run["endpoints"], of_run["total"]], strict=True):
        assert (row.name, row.requests, row.rps) == (plain["name"], plain["requests"], plain["rps"])
        time = row.response_ms.quantile(0.99)
        assert time is not None and time.value == plain["response_ms"]["percentiles"]["99"]
    assert run.is_valid == of_run["validity"]["valid"]
    of_study = document(stored, run.id, format="json")
    assert [(each.id, each.statement) for each in run.findings] == [
        (each["id"], each["statement"]) for each in of_study["findings"]
    ]
    assert run.answer and "\n".join(run.answer) in str(run)
    assert [failure.message for failure in run.failures()] == ["500 Server Error"]


def test_seconds_are_without_the_warm_up_unless_asked_for(stored: api.RunStore) -> None:
    run = stored.run()
    seconds = run.seconds()
    assert [(row.second, row.name, row.users, row.requests, row.failures) for row in seconds][:3] == [
        (1, "Aggregated", 5, 80, 1),
        (1, "/a", None, 40, 1),
        (1, "/b", None, 40, 0),
    ]
    assert seconds[0].time == run.started + 1
    assert {row.second for row in seconds} == {1, 2}
    assert sum(row.requests for row in seconds if not row.method) == run.total.requests
    assert {row.second for row in run.seconds(warmup=True)} == {0, 1, 2}


def test_a_comparison_has_the_sentences_and_values_of_the_command(stored: api.RunStore) -> None:
    after, before = stored.runs()
    compared = after.compare(before)
    report = document(stored, before.id, after.id, format="json")
    assert list(compared.answer) == report["answer"]
    assert [(each.ratio, verdict(each)) for each in compared.verdicts] == [
        (each["ratio"], each["verdict"]) for each in report["comparisons"]
    ]
    [p50] = [each for each in compared.verdicts if each.metric.text == "p50" and each.endpoint == ("GET", "/b")]
    assert p50.ratio == pytest.approx(2, rel=0.01)
    assert compared.answer == after.compare(before.id).answer == stored.compare(before.id, after.id).answer
    assert after.compare("main@{last}").answer
    assert compared.regressions == ()
    assert str(compared) == "\n".join(compared.answer)


def test_a_run_is_written_in_the_format_of_its_name(stored: api.RunStore, tmp_path: Path) -> None:
    run = stored.run()
    written = run.write(tmp_path / "run.parquet")
    metadata = pyarrow.parquet.read_schema(written).metadata
    assert metadata[b"plimsoll.run"].decode() == run.id
    assert metadata[b"plimsoll.status"] == b"finished"
    assert json.loads(metadata[b"plimsoll.manifest"])["host"] == "http://127.0.0.1"
    assert run.write(tmp_path / "run.html").read_text().startswith("<!doctype html>")
    assert json.loads(run.write(tmp_path / "run.json").read_text())["schema"] == "plimsoll.analysis"
    assert json.loads(run.write(tmp_path / "other", "run.json").read_text())["schema"] == "plimsoll.run"
    with pytest.raises(UsageError, match="'xlsx' is no format of a report"):
        run.write(tmp_path / "run.xlsx")


@pytest.mark.parametrize("kind", [api.Run, api.RunStore, api.RunComparison, api.Table, api.SecondRow, api.FindingText])
def test_the_guide_names_everything(kind: type) -> None:
    text = GUIDE.read_text()
    missing = [name for name in vars(kind) if not name.startswith("_") and f"`{name}" not in text]
    assert missing == []
    assert f"`{kind.__name__}`" in text and f"VERSION` is {api.VERSION}" in text
