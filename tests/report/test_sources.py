"""A stored run is read when something of it is asked for, and no more often than needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from plimsoll.record.manifest import Manifest
from plimsoll.report.outputs import text
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.store import Store
from plimsoll.store.reader import StoredRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.columns import IntervalColumns


class CountedRun(StoredRun):
    """Counts how often its intervals are read."""

    reads = 0

    def columns(self, *arguments: int) -> Iterator[IntervalColumns]:
        CountedRun.reads += 1
        return super().columns(*arguments)


@pytest.fixture
def run(tmp_path, make_interval, make_health, monkeypatch):
    monkeypatch.setattr(CountedRun, "reads", 0)
    with Store.open(str(tmp_path / "runs.db")) as store:
        writer = store.start_run(Manifest(started=1_795_176_000.0))
        writer.commit([make_interval([1.0], second=second) for second in range(3)], [make_health(2)])
        writer.finish("finished", 1_795_176_003.0)
        stored = store.run(writer.id)
        yield CountedRun(**{name: getattr(stored, name) for name in StoredRun.__slots__})


@pytest.mark.parametrize(
    ("format", "reads"), [("html", 1), ("tables", 1), ("seconds.csv", 2), ("locust-full-history.csv", 1)]
)
def test_each_format_reads_no_more_than_it_needs(run, format, reads):
    assert text(RunSource.of(run), format, OutputRequest())
    assert CountedRun.reads == reads


def test_nothing_is_read_before_it_is_asked_for(run):
    source = RunSource.of(run)
    assert CountedRun.reads == 0
    assert source.view.total.requests == source.view.total.requests == 3
    assert CountedRun.reads == 1


def test_a_view_without_courses_is_the_same_as_one_with_them(run):
    plain, read = RunSource.of(run), RunSource.of(replace(run))
    assert read.reading is not None
    assert read.view is read.reading.view
    assert plain.assessment == read.assessment
    assert plain.view.total.requests == read.view.total.requests
