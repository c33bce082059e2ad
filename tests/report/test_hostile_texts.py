"""Whatever a target, a file or a user is called, each format stays what it is, by its own parser, and steers nothing.

The texts of `hostile` are in each text of a study and of a run. The formats are those of the registry, each with a
check here: a new format needs one.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest
from sqlalchemy import JSON, String, Text
from tests.report.hostile import BEGINNINGS, NOT_STORED, TEXT, planted
from tests.report.studies import SAMPLES

from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.formats import FORMATS
from plimsoll.report.outputs import text
from plimsoll.report.render.run_json import runs_document
from plimsoll.report.render.run_listing import otava_csv, run_list
from plimsoll.report.run_summary import RunSummary
from plimsoll.report.sources import OutputRequest, RunSource, StudySource
from plimsoll.report.text import dumps
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.study import Series
from plimsoll.store import Store, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plimsoll.record import Health, Interval
    from plimsoll.store import StoredRun

STARTED = 1_795_176_000.0
SHAPES = ("operations", "rates", "imported")
SEEN = "\t\n\u00a0\u202f"
COMMAND = re.compile(r"::(?:error|warning|notice) title=[^:,\r\n]+::[^\r\n]*")


def is_plain(text: str, seen: str = SEEN) -> None:
    unseen = {each for each in set(text) if not each.isprintable() and each not in seen}
    assert not unseen, sorted(map(ascii, unseen))


def is_terminal_text(text: str) -> None:
    is_plain(text)
    assert not re.search(r"^\s*::|##\[", text, re.MULTILINE)


def is_json(text: str) -> None:
    is_plain(text)
    json.loads(text)


def is_csv(text: str) -> None:
    is_plain(text, f"{SEEN}\r")
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row if cell[:1] in tuple("=+-@＝＋－＠")):
        float(cell)


def is_github(text: str) -> None:
    is_plain(text)
    for line in text.splitlines():
        assert COMMAND.fullmatch(line), ascii(line[:200])


def is_junit(text: str) -> None:
    is_plain(text)
    known = {"testsuites", "testsuite", "properties", "property", "testcase", "system-out", "failure", "error"}
    assert {each.tag for each in ElementTree.fromstring(text).iter()} <= {*known, "skipped"}


def is_markdown(text: str) -> None:
    """Nothing of a text opens markup: backslashes are gone with what they keep, code spans with what is in them."""
    is_plain(text)
    fence, rows = "", []
    for line in text.splitlines():
        if (mark := re.match(r"`{3,}", line)) and (not fence or line == fence):
            fence = "" if fence else mark[0]
            continue
        if fence:
            continue
        bare = re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", line))
        bare = re.sub(r"^!\[[^\]]*\]\([\w./-]+\)$", "", bare)  # a picture of ours
        assert not re.search(r"\]\(|<(?!/?(?:details|summary)>|!-- -->)", bare), ascii(bare[:300])
        rows = [*rows, bare.count("|")] if line.startswith("|") else []
        assert len(set(rows)) <= 1, ascii(line[:300])
    assert not fence


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.script = ""
        self._in_document = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found[f"{tag} {' '.join(name for name, _ in attributes)}"] += 1
        self._in_document = ("id", "document") in attributes

    def handle_data(self, data: str) -> None:
        if self._in_document:
            self.script += data

    def handle_endtag(self, tag: str) -> None:
        self._in_document = False


def is_html(text: str) -> None:
    elements = Elements(text)
    is_json(elements.script)
    assert {each: count for each, count in elements.found.items() if "script" in each} == {
        "script type id": 1, "script ": 1, "noscript ": 1,
    }  # fmt: skip
    known = {"html lang", "head ", "meta charset", "meta http-equiv content", "meta name content", "title ", "style "}
    known |= {"body ", "div id", "noscript ", "main ", "h1 ", "h2 ", "p ", "ul ", "li ", "script type id", "script "}
    assert set(elements.found) <= known
    head, script = text.partition('<script type="application/json"')[::2]
    is_plain(re.sub(r"<style>.*?</style>", "", head, flags=re.DOTALL))
    charts(json.loads(elements.script))
    assert script


def charts(document: dict[str, Any]) -> None:
    """Vega-Lite writes titles into expressions. `test_files_of_a_study…` compiles some."""

    def look(node: Any, key: str = "") -> None:
        if isinstance(node, dict):
            for name, each in node.items():
                look(each, name)
        elif isinstance(node, list):
            for each in node:
                look(each)
        elif isinstance(node, str):
            is_plain(node)
            assert key != "title" or "\\" not in node
            assert key not in ("expr", "calculate", "labelExpr", "test", "filter") or "planted" not in node

    for chart in document["charts"]:
        look(chart["spec"])


def is_svg(text: str) -> None:
    tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(text).iter()}
    assert tags.isdisjoint({"script", "image", "a", "foreignObject", "img"})


def is_hdr(text: str) -> None:
    for line in text.splitlines():
        is_plain(line, "")
        assert re.match(r'#\[|"StartTimestamp"|Tag=[!-+\--~]*,\d| *[\d.]+ |$| +Value ', line), ascii(line)


CHECKS: dict[str, Callable[[str], None]] = {
    "text": is_terminal_text, "tables": is_terminal_text, "md": is_markdown, "html": is_html, "csv": is_csv,
    "json": is_json, "run.json": is_json, "bmf": is_json, "locust.json": is_json, "seconds.json": is_json,
    "grafana-dashboard": is_json, "grafana-dashboard-influxdb": is_json,
    "junit": is_junit, "run.junit": is_junit, "github": is_github, "hgrm": is_hdr, "hlog": is_hdr,
    "seconds.csv": is_csv, "locust-stats.csv": is_csv, "locust-failures.csv": is_csv, "locust-exceptions.csv": is_csv,
    "locust-stats-history.csv": is_csv, "locust-full-history.csv": is_csv,
}  # fmt: skip
PICTURES = {"svg", "png"}
"""Their texts are those of the charts in HTML."""
COLUMNS = {"parquet"}
"""Values without a grammar that a text could break."""


def hostile(shape: str, planted_text: str) -> StudySource:
    analysis = SAMPLES[shape]()
    parts = (planted(each, planted_text) for each in (analysis.study, analysis.findings, analysis.comparisons))
    return StudySource(Analysis(*parts))


def test_each_format_of_the_registry_has_a_check() -> None:
    assert CHECKS.keys() | PICTURES | COLUMNS == FORMATS.keys()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("format", [name for name, each in FORMATS.items() if each.study])
def test_a_study_of_hostile_texts_is_what_its_format_is(format: str, shape: str) -> None:
    for beginning in BEGINNINGS[:1] if format == "html" else BEGINNINGS:
        source = hostile(shape, f"{beginning}{TEXT}{''.join(NOT_STORED)}")
        CHECKS[format](text(source, format, OutputRequest(f"plimsoll {beginning}{TEXT}", width=60)))


def test_files_of_a_study_have_names_of_their_own_and_are_what_their_formats_are() -> None:
    for format in ("csv", "md", "svg"):
        files = FORMATS[format].files
        assert files is not None
        for name, content in files(hostile("imported", TEXT), OutputRequest()):
            assert re.fullmatch(r"[\w.-]+", name, re.ASCII), ascii(name)
            if name.endswith((".csv", ".md", ".svg")):
                {"csv": is_csv, "md": is_markdown, "svg": is_svg}[name.rpartition(".")[2]](content.decode())


RUN_COLUMNS = {
    "run": {"id", "status", "writer", "words"} | {"manifest", "notes", "facts", "tags", "note"},
    "endpoint": {"digest"} | {"method", "name"},
    "interval": {"outcome"},
    "failure": {"outcome", "digest"} | {"message", "example"},
    "exception": {"digest", "workers"} | {"message", "traceback"},
    "observation": {"source", "name", "unit"},
}
"""Columns with text of the tables of runs: first those that are ours, then those that are planted below."""


@pytest.fixture(params=BEGINNINGS)
def stored(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    make_interval: Callable[..., Interval],
    make_health: Callable[..., Health],
) -> Iterator[StoredRun]:
    """A run with hostile texts in each column that can have some."""
    evil = f"{request.param}{TEXT}"
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        manifest = {
            "started": STARTED, "model": "closed", "users_kind": "python", "users": 20, "version": evil, "host": evil,
            "scenario": {"name": evil, "files": [{"path": evil, "sha256": evil}]}, "machine": {"hostname": evil},
            "kernel": evil, "python": evil, "git": {"commit": evil, "branch": evil}, "branch": evil, "command": evil,
            evil: evil,
        }  # fmt: skip
        writer = store.start_run(Manifest.from_json(manifest), experiment=evil)
        for second in range(5):
            names = [{"method": evil, "name": evil}, {"method": "GET", "name": f"{evil}2"}]
            intervals = [make_interval([5.0 + second] * 40, second=second, **each) for each in names]
            failed = [make_interval([5.0], second=second, outcome=each, **names[0]) for each in ("http", "assertion")]
            health = make_health(second, lag_us=[50] * 80, delay_us=[20] * 80, users=20)
            failures = [
                Failure(evil, evil, "http", f"status 500 {evil}", 1, STARTED, STARTED, evil, is_varied=True),
                Failure(evil, evil, "assertion", evil, 1, STARTED, STARTED),
            ]
            exceptions = [CaughtException(evil, f'Traceback\n  File "{evil}", line 1, in x\n{evil}', 1, {0})]
            writer.commit([*intervals, *failed], [health], failures, exceptions)
        threshold = {"text": evil, "passed": False, "value": 1.0, "limit": 0.5, "detail": evil, "unit": evil}
        facts = {
            "lost_workers": 1, "thresholds": [threshold], "edits": [[1, evil]], "not_stored": evil,
            "replaced": [{"worker": 0, "place": evil, "from_second": 1, "to_second": 2}], evil: evil,
            "observed": {evil: {"statements": [{"query": evil, "calls": 3, "ms": 1.0, "rows": 3}]}},
        }  # fmt: skip
        seconds = np.arange(5.0)
        series = [Series(evil, name, evil, seconds, seconds) for name in ("rss", evil)]
        writer.finish("finished", STARTED + 5, [evil], RunFacts.from_json(facts), series)
        yield replace(store.run(writer.id), tags=(evil,), note=evil)


@pytest.mark.parametrize("format", [name for name, each in FORMATS.items() if each.run and name not in COLUMNS])
def test_a_run_of_hostile_texts_is_what_its_format_is(stored: StoredRun, format: str) -> None:
    CHECKS[format](text(RunSource.of(stored), format, OutputRequest(width=60)))


def test_so_are_lists_of_runs(stored: StoredRun) -> None:
    summary, view = RunSummary.of(stored), RunSource.of(stored).view
    odd = replace(stored, id=f"x\x1b[31m{stored.id}", status="\x9b31m::error::")
    is_terminal_text(run_list([(stored, summary), (odd, summary)], 70))
    is_csv(otava_csv([(stored, replace(summary, reasons=()))]))
    is_json(dumps(runs_document([(stored, view)])))


def test_each_column_of_text_of_a_run_is_planted() -> None:
    """Those of cells and imports are texts of an experiment or of a study, which are planted there."""
    for table, columns in RUN_COLUMNS.items():
        found = [each for each in schema.metadata.tables[table].columns if not each.foreign_keys]
        assert {each.name for each in found if isinstance(each.type, Text | String | JSON)} == columns, table
