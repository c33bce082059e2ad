"""The task loop: waits between tasks, and when the next one is due."""

from __future__ import annotations

from time import monotonic_ns

import gevent
import pytest
from tests.users.pacing import due_of, end_exchange, pacing_of
from tests.users.user_helpers import TIMEOUT_S, run_to_end, start_user, wait_until_user_waits

from plimsoll.locust.api import Environment
from plimsoll.users.exceptions import MissingWaitTimeError, StopUser
from plimsoll.users.tasks import task
from plimsoll.users.taskset import DefaultTaskSet, TaskSet
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant


@pytest.mark.parametrize("on_user", [True, False], ids=["of the user", "of the TaskSet"])
def test_without_wait_time_the_limits_of_old_apply(on_user):
    limits = {"min_wait": 2000, "max_wait": 3000}
    holder = type(User)("Old", (User,), {"wait_time": None, **(limits if on_user else {})})
    taskset = type(TaskSet)("Tasks", (TaskSet,), {} if on_user else limits)
    seconds = {taskset(holder(Environment())).wait_time() for _ in range(100)}
    assert min(seconds) >= 2
    assert max(seconds) <= 3
    assert len(seconds) > 50


def test_no_wait_time_at_all_is_an_error():
    holder = type(User)("Old", (User,), {"wait_time": None, "min_wait": 5})
    with pytest.raises(MissingWaitTimeError, match="Neither Old nor TaskSet has a wait_time"):
        TaskSet(holder(Environment())).wait_time()


def test_a_taskset_uses_its_own_wait_time():
    class Inner(TaskSet):
        wait_time = constant(7)

    class Plain(TaskSet):
        pass

    class Shopper(User):
        wait_time = constant(3)

    user = Shopper(Environment())
    assert Inner(user).wait_time() == 7
    assert Plain(user).wait_time() == 3
    assert Inner(Plain(user)).wait_time() == 7


class Sleeper(User):
    """Notes at each task when the wait before it was meant to end and how late it was; ends with the second task."""

    wait_time = constant(0.05)
    stamps: list[tuple[int, int, int]]

    def on_start(self):
        self.stamps = []

    @task
    def look(self):
        self.stamps.append((*pacing_of(self)[:2], monotonic_ns()))
        if len(self.stamps) == 2:
            raise StopUser


def test_a_wait_says_when_it_was_meant_to_end():
    before = monotonic_ns()
    (first_due, first_late, first), (due, late, second) = run_to_end(Sleeper).stamps
    assert (first_due, first_late) == (0, 0)
    assert before < first
    assert first + 50_000_000 <= due <= second
    assert due + late <= second


def test_a_wait_may_be_for_ever():
    class Idle(User):
        wait_time = constant(float("inf"))

        @task
        def once(self):
            pass

    user = start_user(Idle)
    wait_until_user_waits(user)
    assert user.stop()
    user.greenlet.join(timeout=TIMEOUT_S)
    assert user.greenlet.dead


def test_a_wait_of_zero_means_no_due_time():
    class Restless(Sleeper):
        wait_time = constant(0)

    assert [stamp[:2] for stamp in run_to_end(Restless).stamps] == [(0, 0), (0, 0)]


@pytest.mark.parametrize(
    ("exchanged", "expected"), [(False, "abababab"), (True, "aaaabbbb")], ids=["without exchange", "with exchange"]
)
def test_a_wait_of_zero_lets_others_run_unless_an_exchange_has(exchanged, expected):
    order = []

    class Restless(User):
        left = 4

        @task
        def note(self):
            order.append(self.label)
            end_exchange(self, yielded=exchanged)
            self.left -= 1
            if not self.left:
                raise StopUser

    users = [start_user(Restless), start_user(Restless)]
    for user, label in zip(users, "ab", strict=True):
        user.label = label
    gevent.joinall([user.greenlet for user in users], timeout=TIMEOUT_S)
    assert "".join(order) == expected


def test_an_exchange_spares_one_wait_of_zero_and_no_more():
    order = []

    class Restless(User):
        left = 3

        def on_start(self):
            end_exchange(self)

        @task
        def note(self):
            order.append(self.label)
            self.left -= 1
            if not self.left:
                raise StopUser

    users = [start_user(Restless), start_user(Restless)]
    for user, label in zip(users, "ab", strict=True):
        user.label = label
    gevent.joinall([user.greenlet for user in users], timeout=TIMEOUT_S)
    assert "".join(order) == "aabbab"


def test_the_due_time_of_a_wait_does_not_outlive_the_next_wait():
    dues = []

    class Irregular(User):
        waits = iter([0.001, 0])

        def wait_time(self):
            return next(self.waits)

        @task
        def look(self):
            dues.append(due_of(self))
            if len(dues) == 3:
                raise StopUser

    run_to_end(Irregular)
    assert [due > 0 for due in dues] == [False, True, False]


def test_self_wait_within_a_task_is_a_wait():
    class Shopper(User):
        wait_time = constant(1000)

        @task
        def browse(self):
            self.wait()

    user = start_user(Shopper)
    wait_until_user_waits(user)
    assert user.stop() is True
    assert user.greenlet.dead


@pytest.mark.parametrize("on_root", [True, False], ids=["of the root", "of a TaskSet"])
def test_a_sleep_that_a_script_replaces_is_gone_through(on_root, monkeypatch):
    slept = []
    kept = DefaultTaskSet._sleep

    def replaced(self, seconds):
        slept.append(seconds)
        kept(self, seconds)

    class Inner(TaskSet):
        @task
        def work(self):
            self.user.turns += 1
            if self.user.turns == 3:
                raise StopUser

    class Shopper(User):
        wait_time = constant(0.01)
        turns = 0

        @task
        def work(self):
            Inner.work(self._taskset_instance)

    if on_root:
        monkeypatch.setattr(DefaultTaskSet, "_sleep", replaced)
    else:
        Inner._sleep = replaced
        Shopper.tasks = [Inner]
    run_to_end(Shopper)
    assert slept == [0.01, 0.01]
