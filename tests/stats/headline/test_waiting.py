from __future__ import annotations

import pytest
from tests.stats.headline.runs import CLOSED, SOUND, health

from plimsoll._engine import Histogram
from plimsoll.record import Interval
from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.waiting import slow_endpoint, waiting_shares
from plimsoll.stats.view import RunView


def interval(
    name: str, count: int, ms: float, method: str = "GET", outcome: str = "success", second: int = 0
) -> Interval:
    ns = round(ms * 1e6)
    times = Histogram()
    times.record(ns // 1000, count)
    return Interval(
        second, method, name, outcome, count=count, response_sum=ns * count, response_min=ns, response_max=ns,
        service_sum=ns * count, response=times, service=times.copy(),
    )  # fmt: skip


def view_of(*intervals: Interval) -> RunView:
    view = RunView()
    view.add(intervals, ())
    return view


def test_the_share_of_waiting_is_that_of_the_sums_of_times():
    view = view_of(interval("/a", 100, 10.0), interval("/b", 10, 300.0))
    assert waiting_shares(view) == {("GET", "/a"): 0.25, ("GET", "/b"): 0.75}
    assert waiting_shares(view_of()) == {}


def test_requests_that_still_wait_count_and_parts_of_streams_do_not():
    still = interval("/b", 10, 300.0, outcome="unanswered")
    view = view_of(interval("/a", 100, 10.0), still, interval("/a", 100, 50.0, method="first token"))
    assert waiting_shares(view) == {("GET", "/a"): 0.25, ("GET", "/b"): 0.75}


def test_the_slow_endpoint_is_named_with_what_it_costs():
    found = slow_endpoint(view_of(interval("/a", 85, 20.0), interval("/b", 15, 900.0)))
    assert found is not None
    assert (found.method, found.name, found.of_requests) == ("GET", "/b", 0.15)
    assert found.median.value == pytest.approx(900, rel=0.01)
    assert found.next_slowest == "GET /a"
    assert found.next_median.value == pytest.approx(20, rel=0.01)
    assert found.of_waiting == pytest.approx(0.888, abs=0.001)


@pytest.mark.parametrize(
    "rows",
    [
        [interval("/a", 100, 500.0)],  # nothing to compare with
        [interval("/a", 100, 400.0), interval("/b", 100, 900.0)],  # 2.25 times as slow
        [interval("/a", 100, 1.0), interval("/b", 100, 90.0)],  # nobody notices
        [interval("/a", 9000, 20.0), interval("/b", 10, 900.0)],  # users hardly wait for it
        [interval("/a", 100, 20.0), interval("/b", 9, 900.0)],  # too few of them
        [interval("/a", 100, 20.0), interval("/b", 50, 400.0), interval("/c", 50, 500.0)],  # two are slow
    ],
)
def test_what_is_no_slow_endpoint(rows):
    assert slow_endpoint(view_of(*rows)) is None


def test_the_slow_endpoint_is_the_answer_and_what_limits_users_who_pause():
    view = RunView()
    for second in range(12):
        rows = [interval("/a", 85, 20.0, second=second), interval("/b", 15, 900.0, second=second)]
        view.add(rows, [health(second, users=50, in_flight=15)], ())
    found = headline(diagnose(view, CLOSED, SOUND))
    assert (found.target.tone, found.target.title) == ("warning", "GET /b is slow")
    assert found.target.text == (
        "Half of its requests take at least 900 ms; half of those of GET /a, the next slowest, take at most 20 ms. It "
        "is 15 % of the requests and 89 % of the waiting."
    )
    assert (found.bottleneck.title, found.bottleneck.figure) == ("GET /b", "89 % of the waiting")
