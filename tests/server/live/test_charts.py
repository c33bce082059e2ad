from __future__ import annotations

import threading

import pytest
from tests.server.page_server import FakeClock, in_thread, interval, micros, wait_until

from plimsoll.record import TIMED
from plimsoll.report.charts.columns import Second
from plimsoll.server.live import charts as live_charts
from plimsoll.server.live.charts import INTEREST, Charts, PriorityLock
from plimsoll.server.live.endpoint_history import EndpointHistory
from plimsoll.stats.seconds import by_second

A, B = ("GET", "/a"), ("GET", "/b")


def second(number, requests=1):
    return Second(number, requests, 0, micros(*[1000] * requests), micros(*[1000] * requests))


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def charts(clock):
    return Charts(EndpointHistory(TIMED), is_open=False, warmup=0, clock=clock)


def points(chart):
    return [(row["second"], row["value"]) for row in chart.spec["datasets"]["points"] if row["of"] == "requests"]


def rate_of(charts, key):
    found, _ = charts.charts(key, lambda: 0)
    return points(next(each for each in found if each.name == "live-rate"))


def test_an_endpoint_has_its_whole_past_when_somebody_asks(charts):
    for number in range(5):
        charts.take(by_second([interval(number, "/a", [1.0] * (number + 1))]), [second(number)])
    assert rate_of(charts, A) == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0)]
    assert rate_of(charts, None) == [(float(n), 1.0) for n in range(5)]


def test_seconds_without_requests_are_seconds_of_none(charts):
    charts.take(by_second([interval(0, "/a", [1.0])]), [second(0)])
    charts.take([], [second(1), second(2)])
    assert rate_of(charts, A) == [(0.0, 1.0), (1.0, 0.0), (2.0, 0.0)]


def test_what_is_looked_at_goes_on_second_by_second(charts):
    charts.take(by_second([interval(0, "/a", [1.0])]), [second(0)])
    charts.listen(A)
    for number in (1, 2):
        new = charts.take(
            by_second([interval(number, "/a", [1.0] * 4), interval(number, "/b", [1.0])]), [second(number)]
        )
    assert set(new.versions) == {None, A}
    assert [row["value"] for row in new.rows[A]["live-rate"]["points"] if row["of"] == "requests"] == [4.0]
    assert rate_of(charts, A)[-1] == (2.0, 4.0)


def test_what_comes_late_changes_what_was_drawn(charts):
    charts.listen(A)
    charts.take(by_second([interval(0, "/a", [1.0])]), [second(0)])
    before = charts.take(by_second([interval(1, "/a", [1.0])]), [second(1)]).versions
    after = charts.take(by_second([interval(0, "/a", [1.0] * 2)]), [second(0, 3)]).versions
    assert after[A] > before[A] and after[None] > before[None]
    assert rate_of(charts, A) == [(0.0, 3.0), (1.0, 1.0)]


def test_who_no_longer_looks_is_forgotten(charts, clock):
    charts.listen(A)
    clock.now += INTEREST / 2
    charts.listen(B)
    clock.now += INTEREST / 2 + 1
    assert set(charts.take([], [second(0)]).versions) == {None, B}


def test_only_so_many_endpoints_are_kept_up_to_date(charts, clock, monkeypatch):
    monkeypatch.setattr(live_charts, "MOST_WATCHED", 3)
    for number in range(6):
        clock.now += 1
        charts.listen(("GET", f"/{number}"))
    assert set(charts.take([], [second(0)]).versions) == {None, *(("GET", f"/{n}") for n in (3, 4, 5))}


def test_a_reset_leaves_out_what_was_in_all_charts(charts):
    charts.listen(A)
    before = charts.take(by_second([interval(0, "/a", [1.0])]), [second(0)]).versions
    charts.leave_out(1)
    after = charts.take([], [second(1)]).versions
    assert all(after[key] > before[key] for key in (None, A))


def test_an_endpoint_whose_past_is_thinned_has_all_its_requests_and_says_so(clock):
    history = EndpointHistory(TIMED, budget=5_000)
    charts = Charts(history, is_open=False, warmup=0, clock=clock)
    for number in range(80):
        times = [1.0] * (number % 5)
        charts.take(by_second([interval(number, "/a", times)] if times else []), [second(number)])
    width = history.past(A).width
    assert width > 1
    shown = rate_of(charts, A)
    assert [at for at, _ in shown] == [float(n) for n in range(0, 80, width) if n + width <= 80]
    assert shown == [(at, sum(n % 5 for n in range(int(at), int(at) + width)) / width) for at, _ in shown]
    found, _ = charts.charts(A, lambda: 0)
    notes = {each.name: each.note for each in found}
    assert f"Each point stands for {width} s" in notes["live-rate"]
    assert f"A column stands for {width} s" in notes["live-heat"]
    assert len(rate_of(charts, None)) == 80


def test_only_the_latest_changes_of_the_load_are_kept(charts, monkeypatch):
    monkeypatch.setattr(live_charts, "MOST_EDITS", 3)
    charts.take(by_second([interval(0, "/a", [1.0])]), [second(0)])
    for number in range(10):
        charts.mark(number, f"{number} users")
    for key in (None, A):
        found, _ = charts.charts(key, lambda: 0)
        for each in found:
            assert [row["text"] for row in each.spec["datasets"]["edits"]] == ["7 users", "8 users", "9 users"]
            assert "Only the last 3 of 10 changes of the load are marked." in each.note


def test_after_the_end_there_is_no_part_of_a_second_also_for_who_asks_only_then(charts):
    charts.listen(A)
    for number in range(4):
        charts.take(
            by_second([interval(number, name, [1.0] * (5 - number)) for name in ("/a", "/b")]), [second(number)]
        )
    version = charts.take([], []).versions[A]
    new = charts.end(3)
    assert (new.rows, set(new.versions)) == ({}, {None, A})
    assert new.versions[A] > version, "who has drawn it must ask for it again"
    for key in (A, B, None):
        assert [at for at, _ in rate_of(charts, key)] == [0.0, 1.0, 2.0], key


def test_the_first_waits_for_one_of_the_others_only():
    turns = PriorityLock()
    order: list[str] = []
    go = threading.Event()
    begun = threading.Event()

    def hold() -> None:
        with turns.other():
            begun.set()
            go.wait(60)
            order.append("holder")

    def other() -> None:
        with turns.other():
            order.append("other")

    def first() -> None:
        with turns.first():
            order.append("first")

    threads = [in_thread(hold)]
    begun.wait(60)
    threads += [in_thread(other) for _ in range(5)]
    threads.append(in_thread(first))
    wait_until(lambda: not turns._is_free.is_set())
    go.set()
    for each in threads:
        each.join(60)
    # One of the others may have been let through before the first wanted its turn.
    assert order[0] == "holder"
    assert order.index("first") <= 2
    assert len(order) == 7


def test_nobody_is_let_in_beside_another():
    turns = PriorityLock()
    inside = []
    most = []

    def work(enter) -> None:
        for _ in range(200):
            with enter():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [in_thread(lambda: work(turns.other)) for _ in range(4)] + [in_thread(lambda: work(turns.first))]
    for each in threads:
        each.join(60)
    assert (max(most), len(most)) == (1, 1000)
