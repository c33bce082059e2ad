"""The task loop: nesting, interrupts, scheduling, errors, waits."""

from __future__ import annotations

import logging
import random
from collections import Counter
from time import monotonic_ns

import gevent
import pytest
from gevent.event import Event
from life import PATIENCE, Recording, live, reached, start, waiting

from plimsoll.users import Environment, TaskSet, User, constant, task
from plimsoll.users.exceptions import (
    MissingWaitTimeError,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopUser,
)
from plimsoll.users.taskset import DefaultTaskSet


@pytest.fixture(autouse=True)
def noted_waits(monkeypatch):
    """Waits of a Recording user are noted and over at once."""
    real = TaskSet.wait

    def wait(self):
        if isinstance(self.user, Recording):
            self.user.note("wait", limit=50)
        else:
            real(self)

    monkeypatch.setattr(TaskSet, "wait", wait)


def test_after_a_seed_the_tasks_are_those_that_random_choice_draws():
    seen: list[str] = []

    class Shopper(User):
        @task(3)
        def browse(self):
            self.note("browse")

        @task
        def buy(self):
            self.note("buy")

        @task
        class Inside(TaskSet):
            @task
            def look(self):
                self.user.note("look")

            @task(2)
            def leave(self):
                self.user.note("leave")
                self.interrupt()

        def note(self, name):
            seen.append(name)
            if len(seen) == 50:
                raise StopUser

    random.seed(7)
    live(Shopper)
    random.seed(7)
    drawn: list[str] = []
    while len(drawn) < 50:
        name = random.choice(["browse", "browse", "browse", "buy", "Inside"])
        drawn += [name] if name != "Inside" else iter(lambda: random.choice(["look", "leave", "leave"]), "leave")
        drawn += ["leave"] if name == "Inside" else []
    assert seen == drawn[:50]


def test_tasks_are_picked_by_weight():
    random.seed(1)
    counts: Counter[str] = Counter()

    class Shopper(User):
        @task(3)
        def browse(self):
            counts["browse"] += 1
            self.finish()

        @task
        def buy(self):
            counts["buy"] += 1
            self.finish()

        def finish(self):
            self._yielded = True
            if counts.total() >= 10_000:
                raise StopUser

    live(Shopper)
    # Binomial with p = 0.75: standard deviation 43.
    assert 7300 < counts["browse"] < 7700


def test_a_task_gets_the_user_or_the_taskset_that_it_is_declared_on():
    owners = []

    def plain(owner):
        owners.append(type(owner).__name__)
        raise StopUser

    class Inner(TaskSet):
        tasks = [plain]  # noqa: RUF012

    class Direct(User):
        tasks = [plain]  # noqa: RUF012

    class Nested(User):
        tasks = [Inner]  # noqa: RUF012

    live(Direct)
    live(Nested)
    assert owners == ["Direct", "Inner"]


def test_a_taskset_knows_its_parent_its_user_and_the_client():
    found = {}

    class Shopper(Recording):
        @task
        class Outer(TaskSet):
            @task
            class Inner(TaskSet):
                @task
                def look(self):
                    found.update(parent=self.parent, user=self.user, client=self.client)
                    raise StopUser

    Shopper.client = "a client"
    user = live(Shopper)
    assert type(found["parent"]).__name__ == "Outer"
    assert found["parent"].parent is user
    assert found["user"] is user
    assert found["client"] == "a client"


@pytest.mark.parametrize(
    ("reschedule", "expected"),
    [
        (True, ["start", "task", "stop", "start", "task", "stop"]),
        (False, ["start", "task", "stop", "wait", "start", "task", "stop"]),
    ],
    ids=["parent goes on at once", "parent waits"],
)
def test_interrupt_leaves_the_taskset(reschedule, expected):
    class Shopper(Recording):
        @task
        class Inner(TaskSet):
            def on_start(self):
                self.user.note("start")

            def on_stop(self):
                self.user.note("stop")

            @task
            def leave(self):
                self.user.note("task", limit=len(expected) - 2)
                self.interrupt(reschedule=reschedule)

    assert live(Shopper).seen == expected


def test_interrupt_in_on_start_leaves_before_the_first_task():
    class Shopper(Recording):
        @task
        class Inner(TaskSet):
            def on_start(self):
                self.user.note("start", limit=2)
                self.interrupt(reschedule=len(self.user.seen) == 1)

            @task
            def never(self):
                self.user.note("task")

    assert live(Shopper).seen == ["start", "start", "wait", "start"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RescheduleTask, ["task", "wait", "task", "wait", "task"]),
        (RescheduleTaskImmediately, ["task", "task", "task"]),
    ],
)
def test_rescheduling_ends_the_task(raised, expected):
    class Shopper(Recording):
        @task
        def again(self):
            self.note("task", limit=len(expected) - 1)
            raise raised

    assert live(Shopper).seen == expected


def test_scheduled_tasks_come_before_picked_ones():
    def other(tasks):
        tasks.user.note("other")

    class Shopper(Recording):
        @task
        class Inner(TaskSet):
            def bound(self):
                self.user.note("bound")

            @task
            def picked(self):
                self.user.note("picked", limit=7)
                self.schedule_task(self.bound)
                self.schedule_task(other)
                self.schedule_task(other, first=True)

    seen = [what for what in live(Shopper).seen if what != "wait"]
    assert seen == ["picked", "other", "bound", "other", "picked"]


def test_what_a_task_raises_is_reported_and_the_next_one_waits(caplog):
    reports = []
    environment = Environment()
    environment.events.user_error.add_listener(lambda **kwargs: reports.append(kwargs))

    class Shopper(Recording):
        @task
        def fail(self):
            self.note("task", limit=2)
            raise ValueError("out of stock")

    with caplog.at_level(logging.ERROR, "locust.user.task"):
        user = live(Shopper, environment)
    assert user.seen == ["task", "wait", "task"]
    (report,) = reports
    assert isinstance(report["user_instance"], DefaultTaskSet)
    assert str(report["exception"]) == "out of stock"
    assert report["tb"].tb_frame.f_code.co_name == "run"
    assert caplog.messages[0].startswith("out of stock\nTraceback")


def test_without_catch_exceptions_it_ends_the_user(monkeypatch):
    died = []
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *error: died.append(error[1]))

    class Shopper(Recording):
        @task
        def fail(self):
            raise ValueError("out of stock")

    live(Shopper, Environment(catch_exceptions=False))
    assert died == [ValueError]


def test_a_failing_wait_time_is_reported_and_ends_the_user(monkeypatch):
    died, reports = [], []
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *error: died.append(error[1]))
    environment = Environment()
    environment.events.user_error.add_listener(lambda **kwargs: reports.append(str(kwargs["exception"])))

    class Shopper(User):
        def wait_time(self):
            raise ValueError("no idea how long")

        @task
        def browse(self):
            pass

    live(Shopper, environment)
    assert died == [ValueError]
    assert reports == ["no idea how long"]


def test_a_failing_on_stop_is_logged_and_the_parent_goes_on(caplog):
    class Shopper(Recording):
        @task
        class Inner(TaskSet):
            def on_stop(self):
                raise ValueError("cannot leave")

            @task
            def leave(self):
                self.user.note("task", limit=2)
                self.interrupt()

    with caplog.at_level(logging.ERROR):
        assert live(Shopper).seen == ["task", "task", "task"]
    assert caplog.text.count("Uncaught exception in on_stop") == 3


@pytest.mark.parametrize("attribute", ["nothing", "task"])
def test_a_class_without_tasks_says_so(attribute):
    cls = type(User)("Shopper", (User,), {attribute: lambda self: None})
    with pytest.raises(Exception, match="No tasks defined on Shopper") as caught:
        DefaultTaskSet(cls(Environment())).get_next_task()
    assert ("maybe 'tasks' was meant" in str(caught.value)) == (attribute == "task")


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
    """Notes `_due` and `_late` at the start of each task, and ends with the second one."""

    wait_time = constant(0.05)
    stamps: list[tuple[int, int, int]]

    def on_start(self):
        self.stamps = []

    @task
    def look(self):
        self.stamps.append((self._due, self._late, monotonic_ns()))
        if len(self.stamps) == 2:
            raise StopUser


def test_a_wait_says_when_it_was_meant_to_end():
    before = monotonic_ns()
    (first_due, first_late, first), (due, late, second) = live(Sleeper).stamps
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

    user = start(Idle)
    waiting(user)
    assert user.stop()
    user.greenlet.join(timeout=PATIENCE)
    assert user.greenlet.dead


def test_a_wait_of_zero_means_no_due_time():
    class Restless(Sleeper):
        wait_time = constant(0)

    assert [stamp[:2] for stamp in live(Restless).stamps] == [(0, 0), (0, 0)]


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
            self._yielded = exchanged
            self.left -= 1
            if not self.left:
                raise StopUser

    users = [start(Restless), start(Restless)]
    for user, label in zip(users, "ab", strict=True):
        user.label = label
    gevent.joinall([user.greenlet for user in users], timeout=PATIENCE)
    assert "".join(order) == expected


def test_an_exchange_spares_one_wait_of_zero_and_no_more():
    order = []

    class Restless(User):
        left = 3

        def on_start(self):
            self._yielded = True

        @task
        def note(self):
            order.append(self.label)
            self.left -= 1
            if not self.left:
                raise StopUser

    users = [start(Restless), start(Restless)]
    for user, label in zip(users, "ab", strict=True):
        user.label = label
    gevent.joinall([user.greenlet for user in users], timeout=PATIENCE)
    assert "".join(order) == "aabbab"


def test_the_due_time_of_a_wait_does_not_outlive_the_next_wait():
    dues = []

    class Irregular(User):
        waits = iter([0.001, 0])

        def wait_time(self):
            return next(self.waits)

        @task
        def look(self):
            dues.append(self._due)
            if len(dues) == 3:
                raise StopUser

    live(Irregular)
    assert [due > 0 for due in dues] == [False, True, False]


def test_self_wait_within_a_task_is_a_wait():
    class Shopper(User):
        wait_time = constant(1000)

        @task
        def browse(self):
            self.wait()

    user = start(Shopper)
    waiting(user)
    assert user.stop() is True
    assert user.greenlet.dead


def test_a_taskset_that_runs_finishes_its_task_when_stopped():
    entered, leave = Event(), Event()
    seen = []

    class Shopper(User):
        @task
        class Inner(TaskSet):
            def on_stop(self):
                seen.append("stop")

            @task
            def work(self):
                entered.set()
                leave.wait(timeout=PATIENCE)
                seen.append("done")

    user = start(Shopper)
    reached(entered)
    assert user.stop() is False
    leave.set()
    user.greenlet.join(timeout=PATIENCE)
    assert seen == ["done", "stop"]


@pytest.mark.parametrize("seconds", [0, 0.001], ids=["no wait", "wait"])
def test_a_user_runs_again_after_a_wait(seconds):
    states = []

    class Shopper(User):
        wait_time = constant(seconds)

        @task
        def look(self):
            states.append(self._state)
            if len(states) == 2:
                raise StopUser

    live(Shopper)
    assert states == ["running", "running"]


@pytest.mark.parametrize("before", ["on_start", "task that wants the next one at once"])
def test_a_user_asked_to_stop_begins_no_further_task(before):
    seen = []

    class Shopper(User):
        def on_start(self):
            if before == "on_start":
                self.stop()

        @task
        def look(self):
            seen.append("task")
            self.stop()
            raise RescheduleTaskImmediately

    live(Shopper)
    assert seen == ([] if before == "on_start" else ["task"])
