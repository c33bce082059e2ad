"""The task loop: nesting, interrupts, scheduling, errors."""

from __future__ import annotations

import logging
import random
from collections import Counter

import gevent
import pytest
from gevent.event import Event
from tests.users.pacing import end_exchange, state_of
from tests.users.user_helpers import TIMEOUT_S, RecordingUser, run_to_end, start_user, wait_for_event

from plimsoll.locust.api import Environment
from plimsoll.users.exceptions import (
    RescheduleTask,
    RescheduleTaskImmediately,
    StopUser,
)
from plimsoll.users.tasks import task
from plimsoll.users.taskset import DefaultTaskSet, TaskSet
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant


@pytest.fixture(autouse=True)
def noted_waits(monkeypatch):
    """Waits of a Recording user are noted and over at once."""
    real = TaskSet.wait

    def wait(self):
        if isinstance(self.user, RecordingUser):
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
    run_to_end(Shopper)
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
            end_exchange(self)
            if counts.total() >= 10_000:
                raise StopUser

    run_to_end(Shopper)
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

    run_to_end(Direct)
    run_to_end(Nested)
    assert owners == ["Direct", "Inner"]


def test_a_taskset_knows_its_parent_its_user_and_the_client():
    found = {}

    class Shopper(RecordingUser):
        @task
        class Outer(TaskSet):
            @task
            class Inner(TaskSet):
                @task
                def look(self):
                    found.update(parent=self.parent, user=self.user, client=self.client)
                    raise StopUser

    Shopper.client = "a client"
    user = run_to_end(Shopper)
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
    class Shopper(RecordingUser):
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

    assert run_to_end(Shopper).seen == expected


def test_interrupt_in_on_start_leaves_before_the_first_task():
    class Shopper(RecordingUser):
        @task
        class Inner(TaskSet):
            def on_start(self):
                self.user.note("start", limit=2)
                self.interrupt(reschedule=len(self.user.seen) == 1)

            @task
            def never(self):
                self.user.note("task")

    assert run_to_end(Shopper).seen == ["start", "start", "wait", "start"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (RescheduleTask, ["task", "wait", "task", "wait", "task"]),
        (RescheduleTaskImmediately, ["task", "task", "task"]),
    ],
)
def test_rescheduling_ends_the_task(raised, expected):
    class Shopper(RecordingUser):
        @task
        def again(self):
            self.note("task", limit=len(expected) - 1)
            raise raised

    assert run_to_end(Shopper).seen == expected


def test_scheduled_tasks_come_before_picked_ones():
    def other(tasks):
        tasks.user.note("other")

    class Shopper(RecordingUser):
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

    seen = [what for what in run_to_end(Shopper).seen if what != "wait"]
    assert seen == ["picked", "other", "bound", "other", "picked"]


def test_what_a_task_raises_is_reported_and_the_next_one_waits(caplog):
    reports = []
    environment = Environment()
    environment.events.user_error.add_listener(lambda **kwargs: reports.append(kwargs))

    class Shopper(RecordingUser):
        @task
        def fail(self):
            self.note("task", limit=2)
            raise ValueError("out of stock")

    with caplog.at_level(logging.ERROR, "locust.user.task"):
        user = run_to_end(Shopper, environment)
    assert user.seen == ["task", "wait", "task"]
    (report,) = reports
    assert isinstance(report["user_instance"], DefaultTaskSet)
    assert str(report["exception"]) == "out of stock"
    assert report["tb"].tb_frame.f_code.co_name == "run"
    assert caplog.messages[0].startswith("out of stock\nTraceback")


def test_without_catch_exceptions_it_ends_the_user(monkeypatch):
    died = []
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *error: died.append(error[1]))

    class Shopper(RecordingUser):
        @task
        def fail(self):
            raise ValueError("out of stock")

    run_to_end(Shopper, Environment(catch_exceptions=False))
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

    run_to_end(Shopper, environment)
    assert died == [ValueError]
    assert reports == ["no idea how long"]


def test_a_failing_on_stop_is_logged_and_the_parent_goes_on(caplog):
    class Shopper(RecordingUser):
        @task
        class Inner(TaskSet):
            def on_stop(self):
                raise ValueError("cannot leave")

            @task
            def leave(self):
                self.user.note("task", limit=2)
                self.interrupt()

    with caplog.at_level(logging.ERROR):
        assert run_to_end(Shopper).seen == ["task", "task", "task"]
    assert caplog.text.count("Uncaught exception in on_stop") == 3


@pytest.mark.parametrize("attribute", ["nothing", "task"])
def test_a_class_without_tasks_says_so(attribute):
    cls = type(User)("Shopper", (User,), {attribute: lambda self: None})
    with pytest.raises(Exception, match="No tasks defined on Shopper") as caught:
        DefaultTaskSet(cls(Environment())).get_next_task()
    assert ("maybe 'tasks' was meant" in str(caught.value)) == (attribute == "task")


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
                leave.wait(timeout=TIMEOUT_S)
                seen.append("done")

    user = start_user(Shopper)
    wait_for_event(entered)
    assert user.stop() is False
    leave.set()
    user.greenlet.join(timeout=TIMEOUT_S)
    assert seen == ["done", "stop"]


@pytest.mark.parametrize("seconds", [0, 0.001], ids=["no wait", "wait"])
def test_a_user_runs_again_after_a_wait(seconds):
    states = []

    class Shopper(User):
        wait_time = constant(seconds)

        @task
        def look(self):
            states.append(state_of(self))
            if len(states) == 2:
                raise StopUser

    run_to_end(Shopper)
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

    run_to_end(Shopper)
    assert seen == ([] if before == "on_start" else ["task"])
