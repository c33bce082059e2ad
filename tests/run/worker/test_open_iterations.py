"""What users of the open model take for an iteration, and what happens when they end by themselves."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import gevent
from gevent.event import Event
from tests.run.open_population import LONG_NS, SECOND_NS, TIMEOUT_S, blocking_user_class, settle, until
from tests.users.pacing import due_of, pacing_of

from plimsoll._engine import now
from plimsoll.locust.api import Environment
from plimsoll.users.exceptions import InterruptTaskSet, StopUser
from plimsoll.users.sequential import SequentialTaskSet
from plimsoll.users.tasks import task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import HttpUser, User

OWN_CODE_NS = 50_000_000
"""Of on_start, or of a task."""

if TYPE_CHECKING:
    from tests.command import CountingTarget


def test_each_task_of_a_nested_taskset_is_an_iteration(open_population) -> None:
    seen: list[tuple[str, int]] = []

    class Shopper(User):
        wait_time = None  # whoever calls it fails

        @task
        class Visit(SequentialTaskSet):
            def on_start(self) -> None:
                seen.append(("enter", due_of(self.user) - each.start))

            @task
            def look(self) -> None:
                seen.append(("look", due_of(self.user) - each.start))

            @task
            def leave(self) -> None:
                seen.append(("leave", due_of(self.user) - each.start))
                self.interrupt(reschedule=False)

    each = open_population(Shopper, max_users=1)
    each.serve(4)
    assert seen == [("enter", 0), ("look", 0), ("leave", 1), ("enter", 2), ("look", 2), ("leave", 3)]
    assert each.users.begun == 4


def test_a_task_that_wants_the_next_one_at_once_needs_no_further_arrival(open_population) -> None:
    seen: list[str] = []

    class Shopper(User):
        @task
        class Visit(TaskSet):
            @task
            def leave(self) -> None:
                seen.append("leave")
                if len(seen) % 3:
                    self.interrupt()

    each = open_population(Shopper)
    each.serve(2)
    assert len(seen) == 6
    assert each.users.begun == 2


def test_an_error_in_a_task_ends_the_iteration_and_not_the_user(open_population, caplog) -> None:
    class Shopper(User):
        @task
        def fail(self) -> None:
            raise ValueError("sold out")

    each = open_population(Shopper, max_users=1)
    with caplog.at_level(logging.CRITICAL):
        each.serve(3)
    assert each.users.begun == 3
    assert each.users.counts() == {"Shopper": 1}


def test_the_first_request_is_due_when_the_arrival_was_and_the_others_when_they_are_asked_for(
    open_population, target: CountingTarget
) -> None:
    replies: list[Any] = []
    started: list[int] = []

    class Shopper(HttpUser):
        host = target.url

        def on_start(self) -> None:
            started.append(now())
            replies.append(self.client.get("/login").reply)

        @task
        def buy(self) -> None:
            replies.extend(self.client.get(path).reply for path in ("/slow", "/basket"))

    each = open_population(Shopper, max_users=1)
    each.serve([0, 1])
    login, first, second, third, fourth = replies
    assert login.due >= started[0]
    assert [first.due, third.due] == each.ledger.offered_at == [each.start, each.start + 1]
    assert second.due >= first.read
    assert fourth.due >= third.read
    # Neither the wait for the reply to on_start's request nor that for the iteration before is our lag; both are in the
    # response, and not in what the target took.
    assert first.sent >= login.read
    assert third.sent >= second.read
    assert 0 < first.sent - first.due - first.lag <= login.service
    assert second.read <= third.sent - third.lag <= third.sent
    assert third.response - third.service >= SECOND_NS + first.service


def test_the_wait_for_the_replies_to_a_user_that_starts_is_no_lag_and_its_own_code_is(
    open_population, target: CountingTarget
) -> None:
    replies: list[Any] = []

    class Shopper(HttpUser):
        host = target.url

        def on_start(self) -> None:
            replies.append(self.client.get("/slow").reply)
            with self.client.get("/slow", stream=True, catch_response=True) as streamed:
                replies.append(streamed.reply)
            self.client.get("http://127.0.0.1:9/nothing", name="refused")
            burn_until = now() + OWN_CODE_NS
            while now() < burn_until:
                pass

        @task
        def buy(self) -> None:
            replies.append(self.client.get("/").reply)

    each = open_population(Shopper)
    each.users.arrive(iter([0]), now())
    until(lambda: each.users.done)
    first, second, bought = replies
    waited = bought.sent - bought.due
    assert waited >= first.service + second.service + OWN_CODE_NS
    assert OWN_CODE_NS <= bought.lag <= waited - (first.service + second.service) * 0.9
    assert bought.response == bought.arrival - bought.due


def test_an_arrival_that_another_user_takes_waited_for_the_user_that_starts(
    open_population, target: CountingTarget
) -> None:
    """The second user logs in for 0.3 s; the first one ends its iteration meanwhile, and takes the arrival."""
    frees: list[tuple[int, int]] = []
    started: list[HttpUser] = []
    logs_in = Event()

    class Shopper(HttpUser):
        host = target.url

        def on_start(self) -> None:
            started.append(self)
            if len(started) == 2:
                logs_in.set()
                self.client.get("/slow")

        @task
        def buy(self) -> None:
            frees.append((due_of(self), pacing_of(self).free))
            assert logs_in.wait(TIMEOUT_S)
            gevent.sleep(0.01)

    each = open_population(Shopper)
    each.users.arrive(iter([0, 1]), now())
    until(lambda: each.users.done)
    (_, none), (due, free) = frees
    assert none == 0
    assert due < free <= now()


def test_only_waiting_for_one_of_max_users_is_no_lag(open_population) -> None:
    frees: list[tuple[int, int]] = []
    began: list[int] = []

    class Shopper(User):
        @task
        def buy(self) -> None:
            frees.append((due_of(self) - each.start, pacing_of(self).free))
            gevent.sleep(0)
            began.append(now())

    each = open_population(Shopper, max_users=1)
    each.serve(3)
    # The first was taken by a fresh user, the others as soon as it was free again.
    (_, first), (_, second), (_, third) = frees
    assert first == 0
    assert began[0] <= second <= began[1] <= third <= began[2]
    each.serve([9])
    assert frees[-1] == (9, 0)
    roomy = open_population(Shopper, max_users=50)
    roomy.serve(20)
    assert {free for _, free in frees[4:]} == {0}


def test_a_wait_within_a_task_sleeps_and_moves_the_due_time_by_its_length(
    open_population, target: CountingTarget
) -> None:
    replies: list[Any] = []
    waits = iter([0.02, 0])

    class Shopper(HttpUser):
        host = target.url

        def wait_time(self) -> float:
            return next(waits)

        @task
        def buy(self) -> None:
            began = now()
            self.wait()
            replies.append((self.client.get("/").reply, now() - began))

    each = open_population(Shopper, max_users=1)
    each.serve([0, 1])
    (waited, slept), (not_waited, _) = replies
    assert slept >= 20_000_000
    assert waited.due == each.start + 20_000_000
    assert not_waited.due == each.start + 1


def test_the_due_time_of_an_iteration_without_a_request_is_not_that_of_on_stop(open_population) -> None:
    dues: list[int] = []

    class Shopper(User):
        def on_stop(self) -> None:
            dues.append(due_of(self))

        @task
        def think(self) -> None:
            pass

    each = open_population(Shopper)
    each.serve(1)
    each.users.drain(0)
    assert dues == [0]


def test_a_user_that_ends_after_each_task_is_replaced_for_as_long_as_arrivals_wait(open_population) -> None:
    class Brief(User):
        @task
        def leave(self) -> None:
            raise StopUser

    each = open_population(Brief, max_users=2)
    each.serve(20)
    assert each.users.begun == 20
    assert each.users.counts() == {"Brief": 0}


def test_a_user_whose_interrupt_goes_through_frees_its_place(open_population, monkeypatch) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)

    class Brief(User):
        @task
        def leave(self) -> None:
            raise InterruptTaskSet(reschedule=True)

    each = open_population(Brief, max_users=1)
    each.serve(3)
    assert each.users.begun == 3


def test_a_user_asked_to_stop_in_its_task_takes_no_further_arrival(open_population) -> None:
    numbers: list[int] = []

    class Brief(User):
        left = 2

        @task
        def leave(self) -> None:
            numbers.append(id(self))
            keep.append(self)
            self.left -= 1
            if not self.left:
                answers.append(self.stop())

    keep: list[User] = []
    answers: list[bool] = []
    each = open_population(Brief, max_users=1)
    each.serve(6)
    assert sorted(Counter(numbers).values()) == [2, 2, 2]
    assert answers == [False] * 3


def test_an_idle_user_can_be_stopped_at_once_and_gets_no_arrival_any_more(open_population) -> None:
    holder = blocking_user_class()
    each = open_population(holder)
    each.arrive_one()
    user = holder.inside[0][0]
    holder.let_go(0)
    assert user.stop() is True
    assert user.greenlet.dead
    each.arrive_one()
    assert holder.busy() == [1]
    assert each.users.counts() == {"Holder": 1}


def _failing_start(attempts: list[int], failures: int) -> type[User]:
    class Shopper(User):
        def on_start(self) -> None:
            attempts.append(len(attempts))
            if len(attempts) <= failures:
                raise ValueError("no account")

        @task
        def buy(self) -> None:
            attempts.append(due_of(self))

    return Shopper


def test_an_arrival_whose_user_fails_to_start_is_first_in_the_queue_of_the_next(
    open_population, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)
    attempts: list[int] = []
    each = open_population(_failing_start(attempts, 1), max_users=1)
    with caplog.at_level(logging.CRITICAL):
        each.arrive([0, 1, LONG_NS])
        until(lambda: each.users.offered == 2)
        settle()
        assert attempts == [0]
        each.arrive([2])
        until(lambda: each.users.begun == 3)
    assert attempts == [0, 1, each.start, each.start + 1, each.start + 2]


def test_users_that_fail_to_start_are_not_made_again_and_again(open_population, monkeypatch, caplog) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)
    attempts: list[int] = []
    each = open_population(_failing_start(attempts, 1000), max_users=10)
    with caplog.at_level(logging.CRITICAL):
        each.arrive([0, LONG_NS])
        for _ in range(3):
            until(lambda: len(attempts) > 0)
            settle()
        assert len(attempts) == 1
        assert (each.users.waiting, each.users.done) == (1, False)
        each.arrive_one()
        assert len(attempts) == 2
        assert each.users.waiting == 2


def test_what_waits_for_users_that_cannot_start_is_dropped_after_the_last_arrival(
    open_population, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)
    attempts: list[int] = []
    each = open_population(_failing_start(attempts, 1000), max_users=2)
    with caplog.at_level(logging.CRITICAL):
        each.serve(20)
    assert (each.users.begun, each.users.dropped) == (0, 20)
    assert len(attempts) <= 21


def test_after_the_last_arrival_another_user_is_tried_for_what_waits(open_population, monkeypatch, caplog) -> None:
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *_: None)
    attempts: list[int] = []
    each = open_population(_failing_start(attempts, 1))
    with caplog.at_level(logging.CRITICAL):
        each.arrive([0, LONG_NS])
        until(lambda: attempts == [0])
        settle()
        assert each.users.waiting == 1
        each.users.drain(TIMEOUT_S)
    assert attempts == [0, 1, each.start]


def test_what_another_user_will_begin_is_not_dropped_because_one_failed_to_start(open_population) -> None:
    class Holder(blocking_user_class()):
        def on_start(self) -> None:
            if self.number == 1:
                raise StopUser

    each = open_population(Holder, max_users=2)
    each.arrive(2)
    until(lambda: each.users.begun == 1 and each.users.counts() == {"Holder": 1})
    settle()
    assert (each.users.waiting, each.users.dropped) == (1, 0)
    Holder.let_go(0)
    assert (each.users.begun, Holder.busy()) == (2, [0])


def test_a_class_that_cannot_be_made_ends_everything_and_says_why(open_population) -> None:
    class Broken(User):
        def __init__(self, environment: Environment) -> None:
            raise KeyError("token")

        @task
        def idle(self) -> None: ...

    each = open_population(Broken)
    each.arrive([0, 1, LONG_NS])
    until(lambda: each.users.done)
    assert "token" in each.users.failure
    assert __file__.rpartition("/")[2] in each.users.failure
    assert each.users.dropped == each.users.offered == 2
    each.arrive(1)
    settle()
    assert each.users.offered == 2


def test_stop_test_from_a_class_ends_the_run_without_a_failure(open_population, caplog) -> None:
    class Homeless(HttpUser):
        @task
        def idle(self) -> None: ...

    class Runner:
        asked = 0

        def quit(self) -> None:
            self.asked += 1

    environment = Environment(user_classes=[Homeless])
    environment.runner = Runner()
    each = open_population(Homeless, environment=environment)
    each.serve(1)
    assert environment.runner.asked == 1
    assert each.users.failure is None
    assert "You must specify the base host" in caplog.text
