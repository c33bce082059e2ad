"""How users of the open model end: limits, a drain, a stop; and what the engine has recorded by then."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import gevent
from gevent.event import Event
from tests.run.open_population import (
    LONG_NS,
    SECOND_NS,
    TIMEOUT_S,
    blocking_user_class,
    due_time_user_class,
    settle,
    until,
)

from plimsoll._engine import Arrivals, Recorder, Shape, now
from plimsoll.locust.api import Environment
from plimsoll.record import Health, Interval
from plimsoll.run.worker.open_users import OpenUsers
from plimsoll.users.recording import RequestRecorder
from plimsoll.users.tasks import task
from plimsoll.users.user import HttpUser, User

if TYPE_CHECKING:
    from tests.command import CountingTarget


def test_a_limit_of_iterations_ends_all_streams(open_population) -> None:
    seen: list[int] = []
    each = open_population(due_time_user_class(seen), max_users=2, iterations=5)
    each.arrive(range(100))
    each.arrive([LONG_NS])
    until(lambda: each.users.done)
    assert len(seen) == 5
    assert each.users.offered == 5
    each.arrive(3)
    assert each.users.done


def test_dropped_arrivals_do_not_count_as_iterations(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=1, drop=True, iterations=2)
    each.arrive(4)
    until(lambda: each.users.offered == 4)
    settle()
    holder.let_go(0)
    each.arrive(4)
    until(lambda: each.users.offered == 5)
    settle()
    holder.let_go(0)
    assert each.users.done
    assert (each.users.begun, each.users.dropped) == (2, 3)


def test_a_drain_serves_what_is_due_and_nothing_later(open_population) -> None:
    seen: list[int] = []
    each = open_population(due_time_user_class(seen), max_users=1)
    each.arrive([*range(300), LONG_NS, 2 * LONG_NS])
    # Nobody has looked yet: what is due by now belongs to the run all the same.
    assert each.users.offered == 0
    each.users.drain(TIMEOUT_S)
    assert len(seen) == each.users.offered == 300
    assert each.users.counts() == {"Shopper": 0}
    each.arrive(5)
    settle()
    assert each.users.offered == 300


def test_a_drain_without_time_drops_what_was_due(open_population) -> None:
    each = open_population(due_time_user_class([]))
    each.arrive([*range(10), LONG_NS])
    each.users.drain(0)
    assert (each.users.offered, each.users.dropped, each.users.begun) == (10, 10, 0)
    assert each.users.done


def test_a_drain_serves_what_waits_and_ends_as_soon_as_nothing_is_under_way(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=2)
    each.arrive(4)
    until(lambda: each.users.begun == 2)
    drain = gevent.spawn(each.users.drain, 1000)
    settle()
    for number in (0, 1, 0):
        holder.let_go(number)
    assert (each.users.begun, drain.dead) == (4, False)
    holder.let_go(1)
    drain.join(TIMEOUT_S)
    assert drain.successful()
    assert each.users.dropped == 0


def test_a_drain_cuts_off_what_takes_longer(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=2)
    each.arrive(5)
    until(lambda: each.users.begun == 2)
    each.users.drain(0.05)
    assert (each.users.begun, each.users.dropped) == (2, 3)
    assert each.users.counts() == {"Holder": 0}
    assert len(each.group) == 0


def test_stop_cuts_a_drain_short_and_everybody_runs_on_stop(open_population) -> None:
    stopped: list[int] = []

    class Stubborn(User):
        def on_stop(self) -> None:
            stopped.append(1)

        @task
        def rest(self) -> None:
            gevent.sleep(1000)

    each = open_population(Stubborn, max_users=2)
    each.arrive([0, 1, 2, LONG_NS])
    until(lambda: each.users.begun == 2)
    gevent.spawn_later(0.01, each.users.stop)
    with gevent.Timeout(TIMEOUT_S):
        each.users.drain(1000)
    assert len(stopped) == 2
    assert (each.users.begun, each.users.dropped, each.users.offered) == (2, 1, 3)


def test_stop_alone_drops_what_is_due_and_ends_the_streams(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder, max_users=1)
    each.arrive(2)
    until(lambda: each.users.begun == 1)
    each.users.arrive(iter([0, 50_000_000]), now())
    each.users.stop()
    assert (each.users.offered, each.users.dropped) == (3, 2)
    until(lambda: not len(each.group))
    gevent.sleep(0.1)
    assert each.users.offered == 3


def _slow_to_make(gate: Event, made: list[str]) -> type[User]:
    class Slow(User):
        def __init__(self, environment: Environment) -> None:
            super().__init__(environment)
            made.append("begun")
            gate.wait()
            made.append("made")
            raise KeyError("token")

        @task
        def rest(self) -> None: ...

    return Slow


def test_nobody_is_made_any_more_after_the_end(open_population) -> None:
    gate, made = Event(), []
    each = open_population(_slow_to_make(gate, made))
    each.arrive(3)
    until(lambda: made == ["begun"])
    each.users.drain(0)
    gate.set()
    settle()
    assert made == ["begun"]
    assert each.users.failure is None


def test_a_drain_does_not_wait_for_users_that_cannot_be_made(open_population) -> None:
    gate, made = Event(), []
    each = open_population(_slow_to_make(gate, made))
    each.arrive(3)
    until(lambda: made == ["begun"])
    drain = gevent.spawn(each.users.drain, 1000)
    settle()
    gate.set()
    drain.join(TIMEOUT_S)
    assert drain.successful()
    assert "token" in each.users.failure


def test_idle_users_end_with_the_drain_and_run_on_stop(open_population) -> None:
    stopped: list[int] = []

    class Shopper(User):
        def on_stop(self) -> None:
            stopped.append(1)

        @task
        def rest(self) -> None:
            gevent.sleep(0.01)

    each = open_population(Shopper, max_users=5)
    each.serve(5)
    assert each.users.counts() == {"Shopper": 5}
    each.arrive([LONG_NS])
    with gevent.Timeout(TIMEOUT_S):
        each.users.drain(1000)
    assert len(stopped) == 5


def test_the_engines_recorder_has_what_was_offered_and_dropped_and_the_lag_of_the_rest(
    open_population, target: CountingTarget
) -> None:
    class Shopper(HttpUser):
        host = target.url

        @task
        def buy(self) -> None:
            self.client.get("/slow")

    environment = Environment(user_classes=[Shopper])
    start = now() - SECOND_NS // 2
    recorder = Recorder(start)
    environment.events.request.add_listener(RequestRecorder(recorder))
    each = open_population(Shopper, environment=environment, max_users=1, drop=True)
    users = OpenUsers(environment, [Shopper], each.group, environment.hub, recorder, max_users=1, drop=True)
    users.arrive(iter([0, 1, 2]), start)
    until(lambda: users.done)
    users.drain(0)
    intervals, health, _ = recorder.take()
    outcomes = {(each.method, each.name, each.outcome): each for each in map(Interval.from_tuple, intervals)}
    assert {key: each.count for key, each in outcomes.items()} == {
        ("GET", "/slow", "success"): 1,
        ("", "Shopper", "dropped"): 2,
    }
    seconds = [Health.from_tuple(0, row) for row in health]
    assert (sum(each.offered for each in seconds), sum(each.dropped for each in seconds)) == (3, 2)
    assert [each.second for each in seconds if each.offered] == [0]
    success = outcomes["GET", "/slow", "success"]
    assert success.response_sum - success.service_sum >= SECOND_NS // 2
    assert max(each.lag.max for each in seconds) >= 500_000


def test_arrivals_of_the_engine_are_played(open_population) -> None:
    seen: list[int] = []
    each = open_population(due_time_user_class(seen), max_users=1)
    each.users.arrive(Arrivals(Shape.constant(1000, 0.1)), each.start)
    until(lambda: each.users.done)
    assert seen == [each.start + n * 1_000_000 for n in range(100)]


def test_no_user_imports_its_client_at_the_expense_of_an_arrival() -> None:
    code = (
        "import sys, gevent.pool, plimsoll.run.worker.open_users as it, plimsoll._engine as e\n"
        "import plimsoll.locust.api as u\n"
        "from plimsoll.users.hub import current\n"
        "class A(u.HttpUser): host = 'http://x'\n"
        "class B(u.FastHttpUser): host = 'http://x'\n"
        "environment, group = u.Environment(user_classes=[A, B]), gevent.pool.Group()\n"
        "it.OpenUsers(environment, [A, B], group, current(), e.Recorder(1), 1, False)\n"
        "print({'plimsoll.users.http.session', 'plimsoll.locust.fasthttp.session'} <= set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    assert done.stdout.strip() == "True"
