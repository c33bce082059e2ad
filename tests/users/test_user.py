"""The life of a user: start, tasks, being stopped, what each step may raise."""

from __future__ import annotations

import logging

import gevent
import pytest
from gevent.event import Event
from gevent.pool import Group
from tests.users.pacing import set_iterations
from tests.users.user_helpers import TIMEOUT_S, run_to_end, start_user, wait_for_event, wait_until_user_waits

from plimsoll.locust.api import Environment
from plimsoll.users import log
from plimsoll.users.ending import end_users
from plimsoll.users.exceptions import InterruptTaskSet, StopTest, StopUser
from plimsoll.users.state import STOPPING
from plimsoll.users.tasks import task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import HttpUser, User
from plimsoll.users.wait_time import constant


class Noting(User):
    """A user that notes its start, tasks and stop."""

    abstract = True

    def __init__(self, environment):
        super().__init__(environment)
        self.seen: list[str] = []

    def on_start(self):
        self.seen.append("on_start")

    def on_stop(self):
        self.seen.append("on_stop")


class Idle(Noting):
    """Runs one task and then waits for ever."""

    wait_time = constant(1000)

    @task
    def browse(self):
        self.seen.append("task")


class Working(Noting):
    """Stays in its task until told to finish it."""

    wait_time = constant(1000)

    def __init__(self, environment):
        super().__init__(environment)
        self.entered, self.finish = Event(), Event()

    @task
    def browse(self):
        self.entered.set()
        try:
            self.finish.wait()
            self.seen.append("task")
        finally:
            self.seen.append("left")


class Own(Working):
    """Has a stop of its own."""

    asked = 0

    def stop(self, force=False):
        self.asked += 1
        return super().stop(force)


def test_a_base_class_stays_abstract_and_its_children_are_not():
    class Base(User):
        abstract = True

    class Derived(Base):
        pass

    assert (User.abstract, HttpUser.abstract, Base.abstract, Derived.abstract) == (True, True, True, False)


def test_a_waiting_user_is_stopped_at_once_and_on_stop_runs():
    user = start_user(Idle)
    wait_until_user_waits(user)
    assert user.stop() is True
    assert user.greenlet.dead
    assert user.seen == ["on_start", "task", "on_stop"]


def test_a_running_user_finishes_its_task_first():
    user = start_user(Working)
    wait_for_event(user.entered)
    assert user.stop() is False
    assert not user.greenlet.dead
    user.finish.set()
    user.greenlet.join(timeout=TIMEOUT_S)
    assert user.seen == ["on_start", "task", "left", "on_stop"]


def test_busy_users_are_asked_to_stop_without_a_turn_of_their_own(monkeypatch):
    """While thousands are busy, a greenlet that is made for one has its turn only seconds later."""
    environment, group = Environment(), Group()
    users = [Working(environment) for _ in range(3)]
    for user in users:
        user.start(group)
        wait_for_event(user.entered)
    own = Own(environment)
    own.start(group)
    wait_for_event(own.entered)
    usual, states = gevent.joinall, []

    def joinall(greenlets, timeout=None):
        states.extend(user._state for user in users)
        for user in (*users, own):
            user.finish.set()
        return usual(greenlets, timeout)

    monkeypatch.setattr("plimsoll.users.ending.gevent.joinall", joinall)
    end_users([*users, own], TIMEOUT_S)
    assert states == [STOPPING] * 3
    assert own.asked == 1
    assert [user.seen[-1] for user in users] == ["on_stop"] * 3


def test_asking_twice_to_stop_changes_nothing():
    user = start_user(Working)
    wait_for_event(user.entered)
    assert user.stop() is False
    assert user.stop() is False
    user.finish.set()
    user.greenlet.join(timeout=TIMEOUT_S)
    assert user.seen[-1] == "on_stop"


@pytest.mark.parametrize("asked_before", [False, True])
def test_force_kills_a_running_user_in_mid_task(asked_before):
    user = start_user(Working)
    wait_for_event(user.entered)
    if asked_before:
        user.stop()
    assert user.stop(force=True) is True
    assert user.seen == ["on_start", "left", "on_stop"]


def test_a_user_stopped_before_its_first_step_never_starts():
    user = start_user(Idle)
    assert user.stop() is True
    assert user.greenlet.dead
    assert user.seen == []


def test_a_killed_user_leaves_its_tasksets_from_the_inside_out():
    entered = Event()
    order = []

    class Shopper(User):
        def on_stop(self):
            order.append("user")

        @task
        class Outer(TaskSet):
            def on_stop(self):
                order.append("outer")

            @task
            class Inner(TaskSet):
                def on_stop(self):
                    order.append("inner")

                @task
                def work(self):
                    entered.set()
                    Event().wait()

    user = start_user(Shopper)
    wait_for_event(entered)
    user.stop(force=True)
    assert order == ["inner", "outer", "user"]


def test_stop_user_in_a_task_ends_the_user():
    class Shopper(Noting):
        @task
        def buy(self):
            raise StopUser

    user = run_to_end(Shopper)
    assert user.greenlet.successful()
    assert user.seen == ["on_start", "on_stop"]


def test_stop_user_in_on_start_is_no_error(caplog):
    class Shopper(Noting):
        def on_start(self):
            raise StopUser

    with caplog.at_level(logging.WARNING):
        user = run_to_end(Shopper)
    assert user.seen == ["on_stop"]
    assert caplog.text == ""


def test_an_error_in_on_start_is_reported_and_ends_the_user(caplog, monkeypatch):
    died, reports = [], []
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *error: died.append(error[1]))
    environment = Environment()
    environment.events.user_error.add_listener(lambda **kwargs: reports.append(kwargs))

    class Shopper(Noting):
        def on_start(self):
            raise ValueError("closed")

    with caplog.at_level(logging.ERROR, "locust.user.users"):
        user = run_to_end(Shopper, environment)
    assert died == [ValueError]
    assert user.seen == []
    (report,) = reports
    assert report["user_instance"] is user
    assert report["exception"] is user.greenlet.exception
    assert report["tb"].tb_frame.f_code.co_name == "_start"
    assert caplog.messages[0].startswith("closed\nTraceback")


@pytest.mark.parametrize("where", ["on_start", "task"])
def test_stop_test_ends_the_user_and_asks_the_runner_to_quit(where, caplog):
    class Runner:
        asked = 0

        def quit(self):
            self.asked += 1

    class Shopper(Noting):
        def on_start(self):
            if where == "on_start":
                raise StopTest("sold out")

        @task
        def buy(self):
            raise StopTest("sold out")

    environment = Environment()
    environment.runner = Runner()
    assert run_to_end(Shopper, environment).seen == ["on_stop"]
    assert environment.runner.asked == 1
    assert "sold out" in caplog.text


def test_only_a_running_user_can_wait():
    with pytest.raises(RuntimeError, match="while it runs"):
        Idle(Environment()).wait()


def test_greenlet_group_and_user_know_each_other():
    user = start_user(Idle)
    assert user.greenlet in user.group
    assert user.greenlet.args[0] is user
    user.stop()


def test_of_users_that_end_in_the_same_turn_the_last_one_sees_that_it_is_the_last():
    group, seen, together = Group(), [], Event()

    class Leaver(User):
        @task
        def leave(self):
            together.wait()
            seen.append(len(self.group))
            raise StopUser

    environment = Environment(user_classes=[Leaver])
    for _ in range(3):
        Leaver(environment).start(group)
    gevent.sleep(0)
    together.set()
    group.join(timeout=TIMEOUT_S)
    gevent.idle()
    assert (seen, len(group)) == ([3, 2, 1], 0)


def test_json_and_fullname():
    assert Idle.json() == {"host": None, "weight": 1, "fixed_count": 0, "tasks": ["browse"]}

    class Local(User):
        pass

    assert Local.fullname() == f"{__name__}.test_json_and_fullname.Local"


def test_an_http_user_needs_a_host():
    class Shopper(HttpUser):
        pass

    with pytest.raises(StopTest, match="You must specify the base host"):
        Shopper(Environment())


def test_the_client_of_an_http_user_has_the_host_and_ignores_the_environment():
    class Shopper(HttpUser):
        host = "http://127.0.0.1:1"

    client = Shopper(Environment()).client
    assert (client.base_url, client.trust_env) == ("http://127.0.0.1:1", False)


class FakeSlot:
    """Gives so many arrivals to a user of the open model, and then asks it to leave."""

    def __init__(self, arrivals: int) -> None:
        self.left = arrivals

    def waits_after(self, user):
        return False

    def next_iteration(self, user):
        user.seen.append("arrival")
        if not self.left:
            raise StopUser
        self.left -= 1


class Visitor(Noting):
    @task
    def browse(self):
        self.seen.append("task")

    def wait_time(self):
        raise AssertionError("nobody waits here")


def test_in_the_open_model_each_task_needs_an_arrival_and_the_first_one_is_waited_for_after_on_start():
    user = Visitor(Environment())
    set_iterations(user, FakeSlot(2))
    user.start(Group()).join(timeout=TIMEOUT_S)
    assert user.seen == ["on_start", "arrival", "task", "arrival", "task", "arrival", "on_stop"]
    assert user.greenlet.successful()


def test_a_user_may_leave_before_its_first_arrival():
    user = Visitor(Environment())
    set_iterations(user, FakeSlot(0))
    user.start(Group()).join(timeout=TIMEOUT_S)
    assert user.seen == ["on_start", "arrival", "on_stop"]
    assert user.greenlet.successful()


@pytest.fixture
def died(monkeypatch):
    """The errors that users have died of; the flag for the exit code goes back to what it was."""
    errors = []
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    monkeypatch.setattr(gevent.get_hub(), "handle_error", lambda *error: errors.append(error[2]))
    return errors


def test_an_error_in_on_stop_is_no_task_and_counts_for_the_exit_code(died, caplog):
    class Clumsy(Idle):
        def on_stop(self):
            raise ValueError("dropped")

    user = start_user(Clumsy)
    wait_until_user_waits(user)
    user.stop(force=True)
    assert [str(each) for each in died] == ["dropped"]
    assert log.unhandled_greenlet_exception
    assert "a user of Clumsy died outside of its tasks: ValueError('dropped')" in caplog.text


def test_an_error_that_is_reported_counts_as_an_exception_and_not_twice(died):
    class Impatient(Idle):
        def wait_time(self):
            raise ValueError("now")

    run_to_end(Impatient)
    assert [str(each) for each in died] == ["now"]
    assert not log.unhandled_greenlet_exception


def test_an_interrupt_with_nothing_to_interrupt_ends_the_user_and_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)

    class Bare(User):
        @task
        def work(self) -> None:
            raise InterruptTaskSet(reschedule=False)

    user = Bare(Environment(user_classes=[Bare]))
    user.start(Group()).join(TIMEOUT_S)
    assert not log.unhandled_greenlet_exception


@pytest.mark.parametrize("timeout", [0.0, TIMEOUT_S])
def test_a_stop_that_a_script_replaces_is_called_once_for_each_user(timeout):
    environment, group, forced = Environment(), Group(), []

    class Stopped(Working):
        def stop(self, force=False):
            forced.append(force)
            self.finish.set()
            return super().stop(force)

    users = [Stopped(environment), Working(environment), Stopped(environment)]
    for user in users:
        user.start(group)
        wait_for_event(user.entered)
        user.finish.set() if type(user) is Working else None
    assert end_users(users, timeout) == 0
    assert forced == [not timeout] * 2
    assert [user.seen[-1] for user in users] == ["on_stop"] * 3
