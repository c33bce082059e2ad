from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from plimsoll.stats.ranking import by_waiting, most_notable, natural
from plimsoll.stats.table import RunRow, rows_of, total_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from plimsoll.record import Interval

MakeInterval = Callable[..., "Interval"]


def rows(view: RunView) -> list[RunRow]:
    return by_waiting(rows_of(view))


def names(view: RunView) -> list[str]:
    return [f"{row.method} {row.name}" for row in rows(view)]


def test_the_endpoint_that_users_wait_for_most_comes_first(make_interval: MakeInterval) -> None:
    view = RunView()
    view.add([make_interval([1.0] * 20, name="/often"), make_interval([300.0], name="/slow")])
    assert names(view) == ["GET /slow", "GET /often"]
    assert [row.waited_s for row in rows(view)] == [pytest.approx(0.3), pytest.approx(0.02)]
    assert total_of(view).waited_s == pytest.approx(0.32)


def test_events_of_a_stream_stand_below_its_requests_and_are_no_waiting_of_their_own(
    make_interval: MakeInterval,
) -> None:
    view = RunView()
    view.add([make_interval([5.0], name="/a"), make_interval([50.0], name="/feed")])
    view.add([make_interval([40.0] * 9, method="first event", name="/feed")])
    assert names(view) == ["GET /feed", "first event /feed", "GET /a"]
    assert rows(view)[1].waited_s == 0
    assert total_of(view).waited_s == pytest.approx(0.055)


def test_names_with_the_same_waiting_are_in_the_order_of_their_numbers(make_interval: MakeInterval) -> None:
    view = RunView()
    view.add([make_interval([1.0], name=name) for name in ("/item/10", "/item/9", "/item/100", "/about")])
    assert names(view) == ["GET /about", "GET /item/9", "GET /item/10", "GET /item/100"]


def test_a_number_may_have_as_many_digits_as_it_likes() -> None:
    assert natural("1" * 5000) < natural("2" * 5000) < natural("1" * 5001)
    assert natural("/٣") > natural("/2")


def test_of_many_the_failing_ones_and_those_with_most_waiting_are_kept(make_interval: MakeInterval) -> None:
    view = RunView()
    view.add([make_interval([float(number)], name=f"/{number}") for number in range(10, 40)])
    view.add([make_interval([1.0] * number, name=f"/bad{number}", outcome="http") for number in range(1, 9)])
    kept = [row.name for row in most_notable(rows(view), 6)]
    assert kept == ["/39", "/38", "/37", "/bad8", "/bad7", "/bad6"]
    assert len(most_notable(rows(view), 38)) == 38
