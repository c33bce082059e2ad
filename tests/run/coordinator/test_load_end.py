from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.run.coordinator.load_end import LoadEnd
from plimsoll.run.result import Result
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.record import Health


def closed(end: LoadEnd, view: RunView) -> dict[str, Any]:
    """The facts of a run of 8.5 s."""
    result = Result(view, started=1000.0)
    end.close(result, 1008.5)
    return result.facts.to_json()


def test_the_open_model_waits_from_the_end_of_its_load() -> None:
    view, end = RunView(), LoadEnd(30.0)
    assert (end.at, end.left(3.0)) == (None, None)
    end.note_stop(4.0, view)
    end.note_stop(9.0, view)
    assert (end.at, end.left(10.0), end.left(99.0)) == (4.0, 24.0, 0.0)
    assert closed(end, view) == {"load_end": view.load_end} == {"load_end": 4.0}
    assert (view.length, view.duration) == (8.5, 0.0)


def test_the_closed_model_does_not_wait() -> None:
    view, end = RunView(), LoadEnd(None)
    end.note_stop(4.0, view)
    assert (end.at, end.left(5.0), closed(end, view), view.load_end) == (4.0, None, {}, None)


def test_a_load_that_was_over_by_itself_ends_with_its_last_arrival(make_health: Callable[..., Health]) -> None:
    view, end = RunView(), LoadEnd(30.0)
    rows = [make_health(second) for second in range(9)]
    for row in rows[:3]:
        row.offered = 5
    view.add((), rows)
    end.was_complete = True
    end.note_stop(8.7, view)
    assert closed(end, view) == {"load_end": 3.0}


def test_what_is_waited_for_is_said_once(make_health: Callable[..., Health], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    view, end = RunView(), LoadEnd(30.0)
    end.note_stop(4.0, view)
    end.say_waiting(4.5, view)
    row = make_health(3)
    row.in_flight, row.waiting = 130, 4
    view.add((), [row])
    for elapsed in (6.0, 7.0):
        end.say_waiting(elapsed, view)
    said = "the load is over: waiting for 134 responses, at most 28 s more; Ctrl-C ends it"
    assert [each.message for each in caplog.records] == [said]


def test_users_who_wait_for_a_token_are_waited_for_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    view, end = RunView(), LoadEnd(30.0)
    end.note_stop(4.0, view)
    end.say_waiting(5.0, view, authorizing=7)
    said = "the load is over: waiting for 7 users without a token yet, at most 29 s more; Ctrl-C ends it"
    assert [each.message for each in caplog.records] == [said]
