"""The task loop in the open model: an arrival stands where the closed model waits."""

from __future__ import annotations

import logging
from time import monotonic_ns

import pytest
from gevent.pool import Group
from tests.users.pacing import begin_arrival, begin_request, due_of, free_user, pacing_of, set_iterations
from tests.users.user_helpers import TIMEOUT_S, RecordingUser

from plimsoll.locust.api import Environment
from plimsoll.users.exceptions import StopUser
from plimsoll.users.tasks import task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant


class FakeSlot:
    """Gives a user of the open model so many arrivals, a nanosecond apart."""

    def __init__(self, arrivals: int) -> None:
        self.left = arrivals
        self.due = 0

    def waits_after(self, user):
        return False

    def next_iteration(self, user):
        if not self.left:
            raise StopUser
        self.left -= 1
        self.due += 1
        begin_arrival(user, self.due)


def play(cls: type[User], arrivals: int) -> User:
    """A user of the open model that has lived until it had no more arrivals."""
    user = cls(Environment())
    set_iterations(user, FakeSlot(arrivals))
    user.start(Group()).join(timeout=TIMEOUT_S)
    assert user.greenlet.successful(), "the user did not end"
    return user


def test_in_the_open_model_an_arrival_takes_the_place_of_each_wait_between_tasks():
    class Shopper(RecordingUser):
        @task
        class Outer(TaskSet):
            @task
            class Inner(TaskSet):
                @task
                def work(self):
                    self.user.note(f"task at {due_of(self.user)}")
                    if due_of(self.user) == 2:
                        self.interrupt(reschedule=False)

    assert play(Shopper, 4).seen == [f"task at {due}" for due in (1, 2, 3, 4)]


def test_in_the_open_model_a_failed_task_is_followed_by_an_arrival(caplog):
    class Shopper(RecordingUser):
        @task
        def fail(self):
            self.note("task")
            raise ValueError("sold out")

    with caplog.at_level(logging.CRITICAL):
        assert play(Shopper, 3).seen == ["task"] * 3


@pytest.mark.parametrize(("seconds", "moved"), [(0.002, 2_000_000), (0, 0)], ids=["wait", "no wait"])
def test_a_wait_within_a_task_moves_the_due_time_of_an_arrival_by_its_length(seconds, moved):
    dues = []

    class Shopper(User):
        wait_time = constant(seconds)

        @task
        def think_first(self):
            self.wait()
            dues.append(pacing_of(self)[:2])

    play(Shopper, 2)
    assert dues == [(1 + moved, None), (2 + moved, None)]


def test_a_wait_within_a_task_moves_the_time_that_its_user_was_free_along():
    frees = []

    class Shopper(User):
        wait_time = constant(0.002)

        @task
        def think_first(self):
            free_user(self, due_of(self) + 5)
            self.wait()
            frees.append(pacing_of(self).free - due_of(self))

    play(Shopper, 1)
    assert frees == [5]


def test_after_the_first_request_a_wait_within_a_task_is_that_of_the_closed_model():
    dues = []

    class Shopper(User):
        wait_time = constant(0.001)

        @task
        def request_and_think(self):
            begin_request(self)
            began = monotonic_ns()
            self.wait()
            dues.append((due_of(self) - began, pacing_of(self).late))

    play(Shopper, 1)
    ((ended, late),) = dues
    assert ended >= 1_000_000
    assert late >= 0
