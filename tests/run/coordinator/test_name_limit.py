"""The names of several workers together; a snapshot is what it is whatever its worker is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll._engine import Recorder
from plimsoll.run.coordinator import name_limit
from plimsoll.run.coordinator.name_limit import NameLimit
from plimsoll.run.transport.messages import EncodedSnapshot

if TYPE_CHECKING:
    import pytest


def _snapshot(*names: str, method: str = "GET", failed: tuple[str, ...] = ()) -> EncodedSnapshot:
    recorder = Recorder(0)
    for name in names:
        recorder.custom(recorder.endpoint(method, name), 1.0, 1)
    for name in failed:
        recorder.custom(recorder.endpoint(method, name), 1.0, 1, "assertion", "wrong")
    intervals, _, failures = recorder.take()
    return EncodedSnapshot(0, 0, 0, intervals, [], failures, [], {})


def _names(snapshot: EncodedSnapshot) -> list[str]:
    decoded = snapshot.decode(0.0)
    return sorted(f"{each.method} {each.name}".strip() for each in decoded.intervals)


def test_the_first_names_are_counted_apart_and_stay_so() -> None:
    limit = NameLimit(3)
    first = _snapshot("/a", "/b")
    assert limit.fold(first) == first
    assert _names(limit.fold(_snapshot("/a", "/c", "/d"))) == ["(others)", "GET /a", "GET /c"]
    assert _names(limit.fold(_snapshot("/d", "/c", "/e"))) == ["(others)", "(others)", "GET /c"]
    assert _names(limit.fold(_snapshot("/a", method="POST"))) == ["(others)"]


def test_a_name_without_a_row_has_none_for_its_streams() -> None:
    limit = NameLimit(2)
    # The first event of a stream comes before its request has ended.
    assert _names(limit.fold(_snapshot("/a", method="first event"))) == ["first event /a"]
    limit.fold(_snapshot("/a", "/b"))
    streams = _snapshot("/a", "/b", "/c", method="each event", failed=("/c", "/a"))
    assert _names(limit.fold(streams)) == ["each event /a", "each event /a", "each event /b"]
    assert [each.name for each in limit.fold(streams).decode(0.0).failures] == ["/a"]
    assert _names(limit.fold(_snapshot("/c"))) == ["(others)"]


def test_nothing_but_the_name_changes_and_failures_go_with_their_requests() -> None:
    limit = NameLimit(1)
    limit.fold(_snapshot("/a"))
    before = _snapshot("/b", failed=("/b", "/a"))
    after = limit.fold(before)
    assert [(each[2], each[4:]) for each in after.intervals] == [
        ("(others)" if each[2] == "/b" else each[2], each[4:]) for each in before.intervals
    ]
    assert sorted((each.method, each.name, each.message, each.count) for each in after.decode(0.0).failures) == [
        ("", "(others)", "wrong", 1),
        ("GET", "/a", "wrong", 1),
    ]


def test_it_is_said_once_also_if_only_a_worker_folds(caplog: pytest.LogCaptureFixture) -> None:
    limit = NameLimit(20)
    names = [f"/item/{number}" for number in range(20)]
    limit.fold(_snapshot(*names))
    assert not caplog.records
    for _ in range(3):
        limit.fold(_snapshot("(others)", method=""))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        'this run has more than 20 names: requests of further ones are counted as "(others)". '
        'Most names look like /item/[0-9]+: set name="/item/[id]" for these requests.'
    )


def test_what_is_said_has_no_passwords(caplog: pytest.LogCaptureFixture) -> None:
    limit = NameLimit(20)
    limit.fold(_snapshot(*(f"http://me:secret@host/item/{number}" for number in range(30))))
    (record,) = caplog.records
    assert "secret" not in record.getMessage()
    assert "http://me:***@host/item/[0-9]+" in record.getMessage()


def test_the_others_are_no_name() -> None:
    limit = NameLimit(1)
    limit.fold(_snapshot("(others)", method=""))
    assert _names(limit.fold(_snapshot("/a"))) == ["GET /a"]


def test_names_that_differ_by_a_secret_are_one() -> None:
    limit = NameLimit(2)
    after = limit.fold(_snapshot("/a?token=1234567", "/a?token=7654321", "/b", failed=("/a?token=1234567",)))
    assert sorted({each[2] for each in after.intervals}) == ["/a?token=***", "/b"]
    assert {each[1] for each in after.failures} == {"/a?token=***"}


def test_rows_of_streams_belong_to_a_name_and_are_never_folded() -> None:
    limit = NameLimit(1)
    limit.fold(_snapshot("/a"))
    for method in ("first event", "each event"):
        assert _names(limit.fold(_snapshot("/a", method=method))) == [f"{method} /a"]
    assert _names(limit.fold(_snapshot("/b"))) == ["(others)"]


def test_exceptions_beyond_the_first_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_limit, "MOST_EXCEPTIONS", 3)
    limit = NameLimit(10)
    counts: dict[str, int] = {}
    for number in range(50):
        frames = f'  File "x.py", line {number}, in f\nValueError: {number}\n'
        rows = [(f"{number}", frames, 2), ("0", frames.replace(f"line {number},", "line 0,"), 1)]
        for message, _, count in limit.fold(replace(_snapshot("/a"), exceptions=rows)).exceptions:
            counts[message] = counts.get(message, 0) + count
    assert counts == {"0": 52, "1": 2, "2": 2, "more than 3 different exceptions in this run": 94}
    assert len(limit._exceptions) == 3
