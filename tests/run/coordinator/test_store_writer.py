"""Over a real store. Made up is only that it fails for a while."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.errors import StoreError
from plimsoll.record.events import StoreLost
from plimsoll.record.facts import RecordedRows, RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator import store_writer
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.store_writer import StoreWriter
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plimsoll.record import Interval
    from plimsoll.store import RunWriter


class Unreliable:
    """A store's writer that fails on request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.failing = False
        self.attempts: list[object] = []
        self.id = ""

    def open(self, manifest: Manifest) -> Unreliable:
        self._writer: RunWriter = self._store.start_run(manifest)
        self.id = self._writer.id
        return self

    def commit(self, *batch: Any) -> None:
        try:
            self._fail_maybe()
            self._writer.commit(*batch)
        finally:
            self.attempts.append(batch)

    def finish(self, *arguments: Any) -> None:
        self._fail_maybe()
        self._writer.finish(*arguments)

    def _fail_maybe(self) -> None:
        if self.failing:
            raise StoreError("the disk is full")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_writer, "RETRY", 0.01)
    monkeypatch.setattr(store_writer, "LAST_ATTEMPTS", 0.2)


def _progress(*intervals: Interval) -> Progress:
    batch = Batch(list(intervals))
    return Progress(batch, RunView(), 1000.0, 1.0, 1.0, None, users=1, wanted=1, workers=1, state="running")


def _requests(store: Store) -> int:
    return RunView.of(store.run("last")).total.requests


def test_every_second_is_kept_and_the_run_is_closed(store: Store, make_interval: Callable[..., Interval]) -> None:
    kept = StoreWriter(store.start_run, lambda: Manifest(host="http://h"))
    kept.start(1000.0, "kernel")
    for second in range(3):
        kept.second(_progress(make_interval([1.0, 2.0], second=second)))
    assert kept.finish("stopped", 1003.0, ["a note"], RunFacts()) == []
    run = store.run(kept.run or "")
    assert (run.status, run.started, run.ended, run.notes) == ("stopped", 1000.0, 1003.0, ["a note"])
    assert (run.manifest.host, run.manifest.stamp) == ("http://h", "kernel")
    assert _requests(store) == 6


def test_a_second_is_in_the_store_while_the_run_goes_on(store: Store, make_interval: Callable[..., Interval]) -> None:
    kept = StoreWriter(store.start_run, Manifest)
    kept.start(1000.0, "user")
    kept.second(_progress(make_interval([1.0])))
    wait_until(lambda: _requests(store) == 1)
    kept.finish("finished", 1001.0, [], RunFacts())


def test_what_the_store_refuses_is_kept_as_soon_as_it_works_again(
    store: Store, make_interval: Callable[..., Interval], caplog: pytest.LogCaptureFixture
) -> None:
    writer = Unreliable(store)
    losses: list[StoreLost] = []
    kept = StoreWriter(writer.open, Manifest, happened=losses.append)
    kept.start(1000.0, "kernel")
    writer.failing = True
    with caplog.at_level(logging.WARNING, "plimsoll.run"):
        kept.second(_progress(make_interval([1.0], second=0)))
        kept.second(_progress(make_interval([1.0], second=1)))
        wait_until(lambda: len(writer.attempts) >= 3)
        assert all(attempt == writer.attempts[0] for attempt in writer.attempts), "the same comes again first"
        writer.failing = False
        wait_until(lambda: _requests(store) == 2)
        assert kept.finish("finished", 1002.0, [], RunFacts()) == []
    assert [record.message for record in caplog.records] == [
        "the disk is full; the run goes on, its seconds since second 1 are held in memory and tried again",
        text
        := "the store could not be written from second 1 to 1 (the disk is full); what was held in memory is stored",
    ]
    run = store.run("last")
    assert (run.notes, run.facts.store_lost) == ([text], (losses[-1],))


def test_what_could_not_be_kept_is_said_and_counted(store: Store, make_interval: Callable[..., Interval]) -> None:
    writer = Unreliable(store)
    kept = StoreWriter(writer.open, Manifest)
    kept.start(1000.0, "kernel")
    kept.second(_progress(make_interval([1.0], second=0)))
    wait_until(lambda: _requests(store) == 1)
    writer.failing = True
    kept.second(_progress(make_interval([1.0, 2.0], second=1)))
    kept.second(_progress(make_interval([1.0], second=2)))
    assert kept.finish("finished", 1003.0, [], RunFacts()) == [
        "seconds 1 to 2 (3 requests) were not stored: the disk is full",
        "the end of the run was not stored: the disk is full",
    ]


def test_memory_is_bounded_and_the_oldest_seconds_are_given_up(
    store: Store, make_interval: Callable[..., Interval], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_writer, "MOST_ROWS", 3)
    monkeypatch.setattr(store_writer, "RETRY", 60.0)  # so that each attempt is that of another second
    writer = Unreliable(store)
    kept = StoreWriter(writer.open, Manifest)
    kept.start(1000.0, "kernel")
    writer.failing = True
    for second in range(6):
        kept.second(_progress(make_interval([1.0], second=second)))
        wait_until(lambda second=second: len(writer.attempts) > second)
    writer.failing = False
    lost = kept.finish("finished", 1006.0, [], RunFacts())
    assert store.run("last").notes[1:] == lost == ["seconds 1 to 3 (3 requests) were not stored: the disk is full"]
    assert _requests(store) == 3


def test_a_run_that_cannot_be_opened_does_not_begin(store: Store) -> None:
    def refuse(manifest: Manifest) -> RunWriter:
        raise StoreError("read-only")

    kept = StoreWriter(refuse, Manifest)
    with pytest.raises(StoreError, match="read-only"):
        kept.start(1000.0, "kernel")
    assert kept.run is None


@pytest.mark.parametrize("fails", [False, True])
def test_the_run_says_how_much_it_recorded_and_what_of_that_is_missing(
    store: Store, make_interval: Callable[..., Interval], monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    writer = Unreliable(store)
    kept = StoreWriter(writer.open, Manifest)
    kept.start(1000.0, "kernel")
    kept.second(_progress(make_interval([1.0, 2.0], second=0)))
    wait_until(lambda: _requests(store) == 2)
    writer.failing = fails
    # The end finds room, and the last second does not.
    monkeypatch.setattr(writer, "finish", lambda *arguments: writer._writer.finish(*arguments))
    kept.second(_progress(make_interval([3.0], second=1)))
    kept.finish("finished", 1002.0, [], RunFacts())
    run = store.run("last")
    assert run.facts.recorded == RecordedRows(exchanges=3)
    assert run.facts.not_stored == ("seconds 1 to 1 (1 requests) were not stored" if fails else None)
    check = judge(RunView.of(run), run.manifest, run.facts, run.status).named("stored")
    assert check is not None
    assert check.state == ("failed" if fails else "ok")
