"""Simulated closed models: users who wait for their replies, at targets that freeze and at others that do not."""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health, Interval
from plimsoll.record.manifest import Manifest
from plimsoll.say.validity import omission_lines
from plimsoll.stats.latency.omission import LEAST_EXCHANGES, omission
from plimsoll.stats.view import RunView

CLOSED = Manifest(model="closed")


def lognormal(median, sigma):
    return lambda rng: median * rng.lognormal(0.0, sigma)


def never(begin, end):
    return end


def freezes(first, period=5.0, length=1.0):
    """Everything stands still for `length` again and again, and then goes on from where it was."""

    def freeze(begin, end):
        into = (begin - first) % period
        if into < length:
            return end + length - into
        return end + length if (end - first) % period < end - begin else end

    return freeze


def closed_model(service, freeze=never, *, users=50, seconds=20, think=0.0, seed=1):
    """(due, arrival) of the exchanges of users who ask again when they have their reply, and have thought about it."""
    rng = np.random.default_rng(seed)
    waiting, found = [think * user / users for user in range(users)], []
    while waiting:
        begin = heapq.heappop(waiting)
        end = freeze(begin, begin + service(rng))
        found.append((begin, end))
        again = end + think * rng.uniform(0.5, 1.5)
        if again < seconds:
            heapq.heappush(waiting, again)
    return found


def open_model(service, freeze, rate, *, seconds=20, seed=2):
    """Response times in ms of arrivals at a constant rate, whatever the target does."""
    rng = np.random.default_rng(seed)
    dues = np.arange(seconds * rate) / rate
    return np.array([freeze(due, due + service(rng)) - due for due in dues]) * 1e3


def view_of(exchanges, users=50, warmup=0.0, alone=0):
    """What is recorded of them. Users leave with the last reply that they get. alone: seconds of only one user."""
    seconds, last = defaultdict(list), max(begin for begin, _ in exchanges)
    for begin, end in exchanges:
        seconds[int(end)].append(round((end - begin) * 1e6))
    view = RunView(warmup)
    for second, times in seconds.items():
        row = Interval(second, "GET", "/", "success", count=len(times))
        for micros in times:
            row.response.record(micros)
        row.response_sum = sum(times) * 1000
        row.response_min, row.response_max = min(times) * 1000, max(times) * 1000
        view.add([row])
    for second in range(max(seconds) + 1):
        left = users if second < last else sum(end >= second + 1 for _, end in exchanges)
        left = 1 if second < alone else left
        view.add([], [Health(second, 0, Histogram(), Histogram(), users=left)])
    return view


FAST, USUAL = lognormal(0.002, 0.3), lognormal(0.02, 0.3)


@pytest.mark.parametrize(
    ("service", "freeze"),
    [
        (USUAL, freezes(4.0)),
        (USUAL, freezes(4.5)),
        (lognormal(0.02, 0.5), freezes(3.2)),
        (lognormal(0.005, 0.5), freezes(4.0)),
        (USUAL, freezes(2.0, period=10.0, length=3.0)),
    ],
)
def test_a_freeze_is_warned_of_with_figures_near_the_truth(service, freeze):
    found = omission(view_of(closed_model(service, freeze)), CLOSED)
    truth = open_model(service, freeze, found.rate)
    assert found.is_significant
    for q in (0.9, 0.99):
        assert found.modelled[q] == pytest.approx(np.quantile(truth, q), rel=0.2)
    assert found.modelled[0.9] > 10 * found.recorded[0.9]


def test_the_case_of_the_truth_lab():
    """50 users without think time, everything stops for 1 s every 5 s: in truth p90 is 0.5 s, and p99 0.95 s."""
    found = omission(view_of(closed_model(FAST, freezes(4.0))), CLOSED)
    assert found.recorded[0.9] < 5 and found.recorded[0.99] < 10
    assert found.modelled[0.9] == pytest.approx(500, rel=0.2)
    assert found.modelled[0.99] == pytest.approx(950, rel=0.2)
    # Each user met each of the four freezes once, and would have asked every 2 ms of it.
    assert found.stalls == 200
    assert found.missed == pytest.approx(200 * 1.0 / found.interval, rel=0.05)
    assert (found.rate, found.interval) == (pytest.approx(24_000, rel=0.02), pytest.approx(50 / found.rate))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("sigma", [0.5, 1.0])
@pytest.mark.parametrize(("median", "users"), [(0.05, 50), (0.2, 50), (0.3, 8), (0.3, 5)])
def test_ordinary_times_are_no_stall(sigma, median, users, seed):
    run = closed_model(lognormal(median, sigma), users=users, seconds=40, seed=seed)
    found = omission(view_of(run, users), CLOSED)
    assert not found.is_significant
    if users == 50:
        assert (found.stalls, found.missed) == (0, 0)
        assert found.modelled == found.recorded


@pytest.mark.parametrize(("users", "period", "length"), [(5, 3.0, 1.0), (8, 5.0, 1.8)])
def test_no_modelled_percentile_is_less_than_the_recorded_one(users, period, length):
    """Here the waits that are added are spread below the longest ones that were seen."""
    run = closed_model(lognormal(0.02, 0.8), freezes(4.0, period=period, length=length), users=users, seconds=40)
    found = omission(view_of(run, users), CLOSED)
    assert found.missed
    assert all(found.modelled[q] >= found.recorded[q] for q in found.recorded)


@pytest.mark.parametrize("users", [5, 50])
def test_slow_requests_that_hold_up_nobody_else_hide_nothing(users):
    """2 % take 1.2 s. Filled in blindly, p90 would be 0.9 s; of independent clients, 98 % see 20 ms."""

    def bimodal(rng):
        return 1.2 if rng.random() < 0.02 else 0.02

    found = omission(view_of(closed_model(bimodal, users=users, seconds=60), users), CLOSED)
    assert (found.is_significant, found.missed) == (False, 0)
    assert found.modelled[0.9] == pytest.approx(20, rel=0.01)


def test_users_who_think_longer_than_a_stall_miss_no_request():
    found = omission(view_of(closed_model(USUAL, freezes(4.0), think=2.0, seconds=40)), CLOSED)
    assert (found.is_significant, found.missed) == (False, 0)


def test_a_stall_that_changes_no_percentile_much_is_modelled_without_a_warning():
    run = closed_model(lognormal(0.1, 0.5), freezes(60.2, period=1000.0, length=1.3), users=20, seconds=110)
    found = omission(view_of(run, 20), CLOSED)
    assert not found.is_significant
    assert found.stalls == 20
    assert found.missed > 150
    assert found.modelled[0.99] > found.recorded[0.99]


def test_the_warning_says_what_was_hidden_and_what_to_do():
    found = omission(view_of(closed_model(USUAL, freezes(4.0))), CLOSED)
    what, figures, advice = omission_lines(found)
    assert f"while {found.stalls} exchanges took over 2" in what
    assert what.endswith(f"their users sent about {found.missed} requests less")
    p90, p99 = (f"{found.modelled[q]:.3g} ms instead of {found.recorded[q]:.3g} ms" for q in (0.9, 0.99))
    assert figures == f"modelled for clients who do not wait for each other: p90 {p90}, p99 {p99}"
    assert advice == f"to measure it instead, run the open model: --rate {found.rate:.0f}/s"


def test_nothing_recorded_is_changed():
    view = view_of(closed_model(USUAL, freezes(4.0)))
    before = view.total.outcomes["success"].response.encode()
    omission(view, CLOSED)
    assert view.total.outcomes["success"].response.encode() == before


def test_the_warmup_and_the_ramp_are_not_typical():
    run = closed_model(USUAL, freezes(4.0))
    # One user for the first 12 s: most seconds of the run, none of them typical.
    slow = [(begin, end) for begin, end in closed_model(USUAL, users=1, seconds=12)]
    both = view_of([*slow, *((begin + 12, end + 12) for begin, end in run)], alone=12)
    assert omission(both, CLOSED).rate == pytest.approx(omission(view_of(run), CLOSED).rate, rel=0.02)
    after = view_of([*slow, *((begin + 12, end + 12) for begin, end in run)], warmup=12.0)
    assert omission(after, CLOSED).is_significant


def seconds_of(*rows):
    """A view of (users at the end, requests) second by second."""
    view = RunView()
    for second, (users, count) in enumerate(rows):
        row = Interval(second, "GET", "/", "success", count=count)
        row.response.record(1000, count)
        view.add([row], [Health(second, 0, Histogram(), Histogram(), users=users)])
    return view


def test_a_typical_second_is_whole_and_has_all_users():
    begins, ends = (50, 100), (50, 100)
    assert omission(seconds_of((10, 5), begins, (50, 900), (50, 1000), (50, 1100), ends), CLOSED).rate == 1000
    assert omission(seconds_of((10, 5), begins, (50, 900), (50, 1100), ends), CLOSED) is None


def with_slow(view, ms, count):
    """The same view with so many more exchanges, in its last second."""
    row = Interval(view.last_second, "GET", "/", "success", count=count)
    row.response.record(ms * 1000, count)
    view.add([row])
    return view


STALLED = [(50, 100)] * 5 + [(50, 0)] + [(50, 100)] * 5


def test_only_what_outlasted_its_users_pace_is_a_stall():
    """50 users and 100 requests a second: each asks every 500 ms."""
    view = with_slow(with_slow(seconds_of(*STALLED), ms=499, count=7), ms=1600, count=40)
    found = omission(view, CLOSED)
    assert (found.interval, found.stalls, found.missed) == (0.5, 40, 80)


@pytest.mark.parametrize(("count", "missed"), [(100, 200), (101, 0)])
def test_the_missed_must_be_missing(count, missed):
    """100 requests are lacking; half of what was missed must be."""
    assert omission(with_slow(seconds_of(*STALLED), ms=1600, count=count), CLOSED).missed == missed


EVEN, UNEVEN = [100, 99, 101, 100], [60, 140, 80, 120]


@pytest.mark.parametrize(("counts", "least", "missed"), [(EVEN, 70, 8), (EVEN, 80, 0), (UNEVEN, 70, 0)])
def test_a_second_within_the_usual_spread_lacks_nothing(counts, least, missed):
    rows = [(50, 100), *((50, count) for count in (*counts, least, *counts)), (50, 100)]
    assert omission(with_slow(seconds_of(*rows), ms=1600, count=4), CLOSED).missed == missed


def test_what_cannot_be_told():
    run = closed_model(USUAL, freezes(4.0))
    assert omission(view_of(run), Manifest(model="open")) is None
    assert omission(view_of(run), Manifest()) is not None
    assert omission(RunView(), CLOSED) is None
    assert omission(view_of([each for each in run if each[1] < 3]), CLOSED) is None
    assert omission(view_of(run, users=0), CLOSED) is None
    assert omission(view_of(closed_model(USUAL, users=4), 4), CLOSED) is None
    assert omission(view_of(closed_model(USUAL, users=5), 5), CLOSED) is not None
    few = [(second + 0.1 * each, second + 0.1 * each + 0.01) for second in range(9) for each in range(10)]
    assert omission(view_of(few), CLOSED) is None
    assert len(few) < LEAST_EXCHANGES <= len([*few, *few])
    assert omission(view_of([*few, *few]), CLOSED) is not None
