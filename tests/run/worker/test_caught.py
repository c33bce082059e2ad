from __future__ import annotations

import pytest

from plimsoll.record import frames_of
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
        exceptions.add("boom", f"at {number}")
    taken = exceptions.take()
    assert [count for _, _, count in taken] == [1, 1, 3]


def test_messages_that_differ_at_one_place_make_one_row_with_the_first_of_them() -> None:
    exceptions = CaughtExceptions()
    for number in range(5):
        exceptions.add(f"item {number}", f'  File "a.py", line 1, in buy\n    pay()\nValueError: item {number}\n')
    ((message, traceback, count),) = exceptions.take()
    assert (message, count) == ("item 0", 5)
    assert traceback.endswith("ValueError: item 0\n")


def test_long_texts_are_clipped_where_they_are_recorded() -> None:
    exceptions = CaughtExceptions()
    frames = '  File "a.py", line 1, in buy\n    pay()\n'
    for number in range(2):
        exceptions.add("漢" * 100_000, f"{frames}ValueError: {number}{'漢' * 100_000}\n")
    ((message, traceback, count),) = exceptions.take()
    assert (message, count) == ("漢" * 2_000, 2)
    assert traceback == f"{frames}ValueError: 0{'漢' * (2_000 - 13)}"


def test_of_many_frames_the_outermost_and_the_innermost_are_kept() -> None:
    exceptions = CaughtExceptions()
    frames = "".join(f'  File "a.py", line {number}, in f{number}\n    f{number + 1}()\n' for number in range(2_000))
    exceptions.add("deep", f"{frames}RecursionError: deep\n")
    exceptions.add("deeper", f"{frames}RecursionError: deeper\n")
    ((_, traceback, count),) = exceptions.take()
    assert count == 2
    assert traceback.startswith('  File "a.py", line 0, in f0\n')
    assert traceback.endswith("    f2000()\nRecursionError: deep\n")
    assert "characters of this traceback are left out" in traceback
    assert len(traceback) < 21_000
    assert frames_of(traceback) + "RecursionError: deep\n" == traceback
