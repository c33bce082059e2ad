from __future__ import annotations

import random

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.record.facts import RunFacts
from plimsoll.stats.generator import GeneratorView, by_machine


@pytest.fixture
def generator_of():
    def fold(rows):
        generator = GeneratorView()
        for row in rows:
            generator.add(row)
        return generator

    return fold


def row(make_health, second, worker=0, *, waiting=0, offered=0, dropped=0, exhausted=0, in_flight=0, **values):
    health = make_health(second, worker, **values)
    health.waiting, health.offered, health.dropped, health.exhausted = waiting, offered, dropped, exhausted
    health.in_flight = in_flight
    return health


def test_workers_and_seconds_add_up(generator_of, make_health):
    generator = generator_of([
        make_health(0, 0, lag_us=[5], delay_us=[1], cpu=0.5, users=3),
        make_health(0, 1, lag_us=[7], cpu=0.25, users=4),
        make_health(1, 0, cpu=0.75, users=2),
        make_health(1, 1, cpu=0.1, users=5),
        make_health(1, 0, lag_us=[900]),  # what was read late, of a second already handed over
    ])  # fmt: skip
    assert (generator.workers, generator.users, generator.cpu_max) == (2, 7, 0.75)
    assert (generator.lag.count, generator.delay.count) == (3, 1)
    assert generator.users_by_second() == {0: 7, 1: 7}


def test_nothing_is_known_of_a_generator_that_never_reported():
    generator = GeneratorView()
    assert (generator.workers, generator.users, generator.in_flight, generator.waiting) == (0, 0, 0, 0)
    assert (generator.offered, generator.begun, generator.busy_share(0.5)) == (0, 0, 0.0)
    assert generator.users_by_second() == generator.offered_by_second() == {}


def test_arrivals_are_begun_dropped_or_wait(generator_of, make_health):
    generator = generator_of([
        row(make_health, 0, offered=100, waiting=7, exhausted=1),
        row(make_health, 1, offered=100, dropped=4, waiting=5, exhausted=2),
        row(make_health, 1, 1, offered=50, dropped=1, waiting=3),
        row(make_health, 0, offered=2),
    ])  # fmt: skip
    assert (generator.offered, generator.dropped, generator.waiting, generator.exhausted) == (252, 5, 8, 3)
    assert generator.begun == 252 - 5 - 8
    assert generator.offered_by_second() == {0: 102, 1: 150}
    assert generator.waiting_by_second() == {0: 7, 1: 8}


def test_how_things_stand_is_what_each_worker_said_last(generator_of, make_health):
    rows = [
        row(make_health, 3, 0, users=3, in_flight=2, waiting=1),
        row(make_health, 3, 0),
        row(make_health, 2, 0, users=9, in_flight=9, waiting=9),
        row(make_health, 1, 1, users=4, in_flight=5, waiting=6),
    ]
    for seed in range(8):
        generator = generator_of(random.Random(seed).sample(rows, len(rows)))
        assert (generator.users, generator.in_flight, generator.waiting) == (7, 7, 7)
        assert generator.in_flight_by_second() == {1: 5, 2: 9, 3: 2}


def test_busy_is_the_share_of_the_workers_whole_seconds(generator_of, make_health):
    seconds = [(0.9, 0.1), (0.81, 0.8), (0.5, 0.2), (1.0, 1.0)]
    rows = [
        make_health(second, worker, cpu=cpu, delay_us=[1])
        for second, by_worker in enumerate(seconds)
        for worker, cpu in enumerate(by_worker)
    ]
    late = [make_health(0, 0, lag_us=[1]), make_health(2, 1, lag_us=[1])]
    generator = generator_of([*rows, *late])
    assert generator.busy_share(0.8) == 4 / 8, "while it goes on every second that was reported is a whole one"
    generator.length = 3.5
    assert generator.busy_share(0.8) == 2 / 6
    generator.length = 3.0
    assert generator.busy_share(0.8) == 2 / 6
    generator.length = 4.0
    assert generator.busy_share(0.8) == 4 / 8
    assert generator.busy_share(0.09) == 1.0


def test_a_run_of_less_than_a_second_was_never_busy(generator_of, make_health):
    generator = generator_of([make_health(0, cpu=1.0)])
    generator.length = 0.5
    assert generator.busy_share(0.5) == 0.0


def test_while_it_warms_up_only_the_present_is_known(make_health):
    generator = GeneratorView()
    busy = row(make_health, 0, cpu=1.0, users=5, offered=10, dropped=2, exhausted=1, waiting=3, in_flight=4, lag_us=[9])
    busy.user_stamps = busy.rejected_stamps = 1
    generator.add(busy, warmup=True)
    assert (generator.workers, generator.users, generator.in_flight, generator.waiting) == (1, 5, 4, 3)
    assert (generator.offered, generator.dropped, generator.exhausted, generator.begun) == (0, 0, 0, 0)
    assert (generator.cpu_max, generator.busy_share(0.5), generator.lag.count) == (0.0, 0.0, 0)
    assert (generator.user_stamps, generator.rejected_stamps) == (0, 0)
    assert generator.users_by_second() == generator.offered_by_second() == {}


def test_a_part_of_the_seconds_may_be_asked_for():
    view = GeneratorView()
    for second in (0, 1, 2, 4, 5):
        for worker in (0, 1):
            view.add(Health(second, worker, Histogram(), Histogram(), users=second, offered=10 * second))
    assert view.users_by_second(range(1, 5)) == {1: 2, 2: 4, 4: 8}
    assert view.offered_by_second(range(4, 99)) == {4: 80, 5: 100}
    assert view.users_by_second(range(99)) == view.users_by_second()
    assert view.waiting_by_second(range(7, 9)) == {}


def of_requests(make_health, worker, milliseconds, failures=0, **values):
    health = make_health(0, worker, **values)
    health.requests, health.failures, health.response = len(milliseconds), failures, Histogram()
    for each in milliseconds:
        health.response.record(each * 1000)
    return health


def machines(*rows):
    return RunFacts.from_json(
        {"cluster": {"machines": [{"host": host, "workers": workers, **more} for host, workers, more in rows]}}
    )


def test_each_machine_has_the_figures_of_its_workers(generator_of, make_health):
    generator = generator_of([
        of_requests(make_health, 0, [1, 1], cpu=0.2, lag_us=[500]),
        of_requests(make_health, 1, [30], 1, cpu=0.4),
        of_requests(make_health, 2, [40], cpu=0.6),
    ])  # fmt: skip
    facts = machines(("b", [1], {"machine": "b"}), ("a", [0], {}), ("b/2", [2], {"machine": "b"}))
    first, second = by_machine(generator, facts, 2.0)
    assert (first.machine, first.workers, first.requests, first.failures, first.share) == ("a", 1, 2, 0, 0.5)
    assert (first.rps, first.cpu, first.lag_p99_ms) == (1.0, 0.2, pytest.approx(0.5, rel=0.01))
    assert (second.machine, second.workers, second.requests, second.failures) == ("b", 2, 2, 1)
    assert (second.p50_ms, second.p99_ms) == (pytest.approx(30, rel=0.01), pytest.approx(40, rel=0.01))
    assert (second.cpu, second.lag_p99_ms) == (pytest.approx(0.5), None)


def test_retransmissions_of_a_machine_are_those_of_its_workers_and_may_be_unknown(generator_of, make_health):
    again = {0: (3, None, 2), 1: (None, 1), 2: (None,), 3: (0,)}
    rows = [of_requests(make_health, worker, [1]) for worker, counts in again.items() for _ in counts]
    for health, count in zip(rows, (count for counts in again.values() for count in counts), strict=True):
        health.retransmissions = count
    generator = generator_of(rows)
    found = by_machine(generator, machines(("a", [0, 1], {}), ("b", [2], {}), ("c", [3], {})), 1.0)
    assert [each.retransmissions for each in found] == [6, None, 0]
    assert generator.retransmissions == 6


def test_a_worker_that_was_replaced_elsewhere_belongs_to_both_machines(generator_of, make_health):
    generator = generator_of([of_requests(make_health, 0, [1]), of_requests(make_health, 1, [1])])
    found = by_machine(generator, machines(("a", [0], {}), ("b", [1], {}), ("c", [1], {})), 1.0)
    assert [(each.machine, each.workers) for each in found] == [("a", 1), ("b, c", 1)]


def test_a_run_on_one_machine_or_without_figures_by_worker_has_no_rows(generator_of, make_health):
    one = generator_of([of_requests(make_health, 0, [1]), of_requests(make_health, 1, [1])])
    assert by_machine(one, machines(("a", [0, 1], {})), 1.0) == []
    assert by_machine(one, RunFacts(), 1.0) == []
    older = generator_of([make_health(0, 0), make_health(0, 1)])
    assert by_machine(older, machines(("a", [0], {}), ("b", [1], {})), 1.0) == []


def test_a_machine_without_requests_has_a_row(generator_of, make_health):
    generator = generator_of([of_requests(make_health, 0, [1])])
    first, second = by_machine(generator, machines(("a", [0], {}), ("b", [1], {})), 0.0)
    assert (first.requests, first.rps) == (1, 0.0)
    assert (second.machine, second.requests, second.p99_ms, second.cpu) == ("b", 0, None, None)
