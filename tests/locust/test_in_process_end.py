"""The end of a test in the process of its program. Order and states of events are those seen in Locust 2.47."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
import pytest
from gevent.event import Event
from tests.locust.in_process_program import EVENTS, TIMEOUT_S, Noted, Sleeper

from plimsoll.locust.api import LoadTestShape
from plimsoll.users.exceptions import StopTest
from plimsoll.users.tasks import task
from plimsoll.users.user import HttpUser
from plimsoll.users.wait_time import constant

if TYPE_CHECKING:
    pass


@pytest.mark.parametrize("way", ["stop", "quit"])
@pytest.mark.parametrize("stop_timeout", [0, 1000])
def test_a_user_may_end_the_test(program, way, stop_timeout):
    class Decisive(Noted):
        wait_time = constant(0.001)

        @task
        def decide(self) -> None:
            getattr(self.environment.runner, way)()

    shop = program(Decisive, stop_timeout=stop_timeout)
    shop.runner.start(3, 100)
    shop.until("test_stop stopped 0")
    assert shop.notes.count("on_stop") == 3
    if way == "quit":
        shop.runner.greenlet.join()


@pytest.mark.parametrize("event", ["test_start", "spawning_complete", "test_stopping", "test_stop"])
@pytest.mark.parametrize("way", ["stop", "quit"])
def test_a_listener_may_end_the_test(program, event, way):
    shop = program(Sleeper)
    getattr(shop.environment.events, event).add_listener(lambda **_: getattr(shop.runner, way)())
    shop.runner.start(2, 100)
    if event in EVENTS[2:]:
        shop.until("on_start")
        shop.runner.stop()
    shop.until("test_stop stopped 0")
    gevent.sleep(0.01)
    assert [note.split()[0] for note in shop.notes if note.startswith("test_")] == [
        "test_start",
        "test_stopping",
        "test_stop",
    ]
    assert shop.runner.user_count == 0


def test_a_listener_of_the_end_may_start_it_again(program):
    shop = program(Sleeper)
    again = iter([True])
    shop.environment.events.test_stop.add_listener(lambda **_: next(again, None) and shop.runner.start(2, 100))
    shop.start(1)
    shop.runner.stop()
    shop.until("spawning_complete running 2")
    assert shop.runner.user_count == 2


def test_running_tasks_may_finish_within_the_stop_timeout(program):
    finished = []

    class Worker(Noted):
        @task
        def rest(self) -> None:
            self.environment.notes.append("begun")
            gevent.sleep(0.05)
            finished.append(1)

    shop = program(Worker, stop_timeout=1000)
    shop.start(2)
    shop.until("begun")
    shop.runner.stop()
    assert finished == [1, 1]


def test_users_that_are_on_their_way_out_are_not_counted_on(program):
    done = Event()

    class Thorough(Noted):
        @task
        def work(self) -> None:
            self.environment.notes.append("begun")
            done.wait()

    shop = program(Thorough, stop_timeout=1000)
    shop.start(1)
    shop.until("begun")
    shop.runner.start(0, 1000)
    gevent.sleep(0.01)
    shop.runner.start(1, 1000)
    with gevent.Timeout(TIMEOUT_S):
        while shop.notes.count("on_start") < 2:
            gevent.sleep(0.001)
    assert "on_stop" not in shop.notes
    done.set()
    shop.until("spawning_complete running 1")


def test_a_shape_is_followed_no_longer_than_the_test(program, monkeypatch):
    from plimsoll.locust import shape

    monkeypatch.setattr(shape, "PERIOD", 0.001)

    class Endless(LoadTestShape):
        def tick(self) -> Any:
            shop.notes.append("tick")
            return 1, 100

    shop = program(Sleeper, shape_class=Endless())
    shop.runner.start_shape()
    shop.until("on_start")
    shop.runner.stop()
    del shop.notes[:]
    gevent.sleep(0.01)
    assert shop.notes == []
    shop.runner.start_shape()
    shop.until("tick")


def test_joining_the_runner_is_waiting_for_its_end(program):
    shop = program(Sleeper)
    shop.runner.start(1, 1)
    gevent.spawn_later(0.01, shop.runner.quit)
    shop.runner.greenlet.join()
    assert shop.runner.state == "stopped"


def test_background_work_of_the_program_ends_with_the_runner(program):
    shop = program(Sleeper)
    work = shop.runner.greenlet.spawn(gevent.sleep, 1000)
    shop.start(1)
    shop.runner.stop()
    assert not work.dead
    shop.runner.quit()
    assert work.dead


def test_a_user_that_cannot_be_made_ends_the_test(program):
    class Homeless(HttpUser):
        @task
        def browse(self) -> None: ...

    shop = program(Homeless)
    shop.runner.start(1, 1)
    shop.until("test_stop stopped 0")
    shop.runner.greenlet.join()


def test_a_listener_of_the_beginning_may_refuse_the_test(program):
    def refuse(**_: Any) -> None:
        raise StopTest("no token")

    shop = program(Sleeper)
    shop.environment.events.test_start.add_listener(refuse)
    shop.runner.start(1, 1)
    shop.until("test_stop stopped 0")
    assert "on_start" not in shop.notes
