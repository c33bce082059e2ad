from __future__ import annotations

import pytest

from plimsoll.run.worker import caught
from plimsoll.run.worker.caught import CaughtExceptions


def test_exceptions_are_counted_by_traceback_and_handed_over_once() -> None:
    exceptions = CaughtExceptions()
    exceptions.add("boom", "at a")
    exceptions.add("boom", "at b")
    exceptions.add("boom", "at a")
    assert sorted(exceptions.take()) == [("boom", "at a", 2), ("boom", "at b", 1)]
    assert exceptions.take() == []
    assert exceptions.total == 3


def test_endlessly_many_different_ones_are_counted_but_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caught, "MOST", 2)
    exceptions = CaughtExceptions()
    for number in range(5):
        exceptions.add(f"boom {number}", "at a")
    taken = exceptions.take()
    assert len(taken) == 3
    assert sum(count for _, _, count in taken) == 5
