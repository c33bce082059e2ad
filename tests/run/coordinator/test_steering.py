"""Whole runs that the user's code steers while they go on: shapes, start() and quit()."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CommandResult, CountingTarget

HEAD = """
import gevent
from locust import HttpUser, LoadTestShape, constant, events, task

class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def index(self):
        self.client.get("/index")

class Editor(Visitor):
    @task
    def edit(self):
        self.client.get("/edit")
"""

SHAPE = """
class Base(LoadTestShape):
    abstract = True

class Stages(Base):
    ticks = [(1, 100, [Visitor]), (1, 100, [Visitor]), (3, 100, [Editor]), (1, 50)]

    def tick(self):
        self.asked = getattr(self, "asked", -1) + 1
        return self.ticks[self.asked] if self.asked < len(self.ticks) else None
"""


def _run(plimsoll: Command, target: CountingTarget, text: str, *arguments: str) -> CommandResult:
    plimsoll.write(HEAD + text)
    return plimsoll("run", "--headless", "-H", target.url, "-s", "10", *arguments)


def _ramps(done: CommandResult) -> list[int]:
    return [int(users) for users in re.findall(r"Ramping to (\d+) users", done.err)]


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_shape_says_how_many_users_there_are_until_it_says_none(
    plimsoll: Command, target: CountingTarget, processes: str
) -> None:
    done = _run(plimsoll, target, SHAPE, "-u", "9", "-t", "50s", "--processes", processes)
    assert done.code == 0, done
    assert _ramps(done) == [1, 3, 1]
    assert re.findall(r"All users spawned: (\{.*?\}) ", done.err) == [
        '{"Editor": 0, "Visitor": 1}',
        '{"Editor": 2, "Visitor": 1}',
        '{"Editor": 0, "Visitor": 1}',
    ]
    assert "Shape test updating to 3 users at 100.00 spawn rate" in done.err
    assert "Shape test stopping" in done.err
    assert done.err.count("ignored is --run-time, --users") == 1
    assert plimsoll.stored()["total"]["requests"] == target.total > 0


def test_a_shape_that_fails_ends_the_run_with_its_line(plimsoll: Command, target: CountingTarget) -> None:
    text = """
class Broken(LoadTestShape):
    def tick(self):
        return (1, 1) if self.get_run_time() < 0.5 else 1 / 0
"""
    done = _run(plimsoll, target, text)
    assert done.code == 2, done
    number = (HEAD + text).count("\n")
    assert f"locustfile.py:{number}: ZeroDivisionError: division by zero" in done.err
    assert plimsoll.stored()["run"]["status"] == "failed"


@pytest.mark.parametrize("tick", ["(-1, 1)", "(1, 0)", "3"])
def test_a_tick_that_makes_no_sense_ends_the_run(plimsoll: Command, target: CountingTarget, tick: str) -> None:
    done = _run(plimsoll, target, f"class Odd(LoadTestShape):\n    def tick(self):\n        return {tick}\n")
    assert done.code == 2, done
    assert "plimsoll: Odd.tick(): " in done.err


def test_a_load_of_the_command_line_comes_before_a_shape(plimsoll: Command, target: CountingTarget) -> None:
    done = _run(plimsoll, target, SHAPE, "--steps", "1s:2")
    assert done.code == 0, done
    assert "Stages is not followed: the command line gives another load" in done.err
    assert "Shape test updating" not in done.err


def test_a_shape_may_read_the_common_options(plimsoll: Command, target: CountingTarget) -> None:
    text = """
class Common(LoadTestShape):
    use_common_options = True

    def tick(self):
        options = self.runner.environment.parsed_options
        return (options.num_users, options.spawn_rate) if self.get_run_time() < options.run_time else None
"""
    done = _run(plimsoll, target, text, "-u", "2", "-r", "7", "-t", "1s")
    assert done.code == 0, done
    assert "at a rate of 7.00 per second" in done.err
    assert _ramps(done) == [2]
    assert "ignored" not in done.err


def test_the_locustfile_may_change_the_number_of_users(plimsoll: Command, target: CountingTarget) -> None:
    text = """
def steer(runner):
    runner.start(3, 100, wait=True, user_classes=[Editor])
    print("users", runner.user_classes_count, runner.target_user_count)
    runner.start(1, 100, wait=True)
    while runner.user_count > 1:
        gevent.sleep(0.01)
    print("users", runner.user_classes_count, runner.target_user_count)
    runner.quit()

@events.spawning_complete.add_listener
def on_spawned(user_count, **_):
    print("spawned", user_count)
    if not begun:
        begun.append(runners[0].greenlet.spawn(steer, runners[0]))

@events.test_start.add_listener
def on_start(environment, **_):
    runners.append(environment.runner)
    environment.runner.start(2, 100)

begun, runners = [], []
"""
    done = _run(plimsoll, target, text, "-u", "100", "-r", "100")
    assert done.code == 0, done
    assert _ramps(done) == [2, 3, 1]
    assert re.findall(r"spawned (\d)", done.out) == ["2", "3", "1"]
    assert re.findall(r"users (\{.*\}) (\d)", done.out) == [
        ("{'Editor': 2, 'Visitor': 1}", "3"),
        ("{'Editor': 1, 'Visitor': 0}", "1"),
    ]


def test_a_start_that_a_load_forbids_is_told(plimsoll: Command, target: CountingTarget) -> None:
    text = """
@events.spawning_complete.add_listener
def on_spawned(**_):
    runners[0].start(50, 50)

@events.init.add_listener
def on_init(runner, **_):
    runners.append(runner)

runners = []
"""
    done = _run(plimsoll, target, text, "--steps", "1s:2")
    assert done.code == 0, done
    assert "the locustfile's start() changes nothing" in done.err


def test_users_that_end_the_test_as_they_start_go_no_further(plimsoll: Command, target: CountingTarget) -> None:
    text = """
def on_start(self):
    self.client.get("/login")
    self.environment.runner.quit()
    raise RuntimeError("not reached")

Visitor.on_start = on_start
"""
    done = _run(plimsoll, target, text, "-u", "4", "-r", "4")
    assert done.code == 0, done
    assert "not reached" not in done.err
    assert 1 <= target.total <= 4


@pytest.mark.parametrize("stop_timeout", ["0", "10"])
@pytest.mark.parametrize("how", ["self.environment.runner.quit()", "self.environment.runner.stop()", "raise StopTest"])
def test_a_user_that_ends_the_test_sends_nothing_more(
    plimsoll: Command, target: CountingTarget, how: str, stop_timeout: str
) -> None:
    plimsoll.write(
        f"""
from locust import HttpUser, constant, task
from locust.exception import StopTest

class Visitor(HttpUser):
    @task
    def index(self):
        for number in range(100):
            self.client.get(f"/{{number}}")
            if number == 20:
                {how}
"""
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-s", stop_timeout)
    assert done.code == 0, done
    assert target.total == 21
    assert plimsoll.stored()["total"]["requests"] == 21


def test_all_are_spawned_before_the_first_one_begins(plimsoll: Command, target: CountingTarget) -> None:
    text = """
@events.spawning_complete.add_listener
def on_spawned(**_):
    print("spawned")

Visitor.on_start = lambda self: print("begins")
"""
    done = _run(plimsoll, target, text, "-u", "2", "-r", "2", "-t", "1s")
    assert done.out.split()[:3] == ["spawned", "begins", "begins"]


ACCOUNTS = """
accounts = ["ann", "bob"]

class Named(Visitor):
    def __init__(self, environment):
        super().__init__(environment)
        self.name = accounts.pop()
"""


def test_users_that_could_be_made_go_on_when_one_cannot(plimsoll: Command, target: CountingTarget) -> None:
    done = _run(plimsoll, target, ACCOUNTS, "Named", "-u", "5", "-r", "2", "-t", "2")
    assert done.code == 2, done
    assert done.err.count("no more users are started") == 1
    assert "locustfile.py:22: IndexError: pop from empty list" in done.err
    run = plimsoll.stored()
    assert max(run["generator"]["users_by_second"].values()) == 2
    assert run["total"]["completed"] + run["total"]["unanswered"] == target.total > 0
    assert run["run"]["status"] == "finished"


def test_a_run_without_a_single_user_ends_with_the_reason(plimsoll: Command, target: CountingTarget) -> None:
    done = _run(plimsoll, target, ACCOUNTS.replace('"ann", "bob"', ""), "Named", "-t", "50")
    assert done.code == 2, done
    assert "locustfile.py:22: IndexError: pop from empty list" in done.err
    assert target.total == 0


PACED = """
class Slow(Visitor):
    max_spawn_rate = RATE
"""


def test_a_class_may_have_a_spawn_rate_of_its_own(plimsoll: Command, target: CountingTarget) -> None:
    done = _run(plimsoll, target, PACED.replace("RATE", "1"), "Slow", "-u", "9", "-r", "9", "-t", "3")
    assert done.code == 0, done
    users = plimsoll.stored()["generator"]["users_by_second"]
    assert 1 <= users["0"] <= 2 <= users["1"] <= 3
    assert max(users.values()) <= 4


def test_a_spawn_rate_that_is_none_is_told(plimsoll: Command, target: CountingTarget) -> None:
    done = _run(plimsoll, target, PACED.replace("RATE", "0"), "Slow", "-t", "3")
    assert done.code == 2, done
    assert "Slow.max_spawn_rate: must be users per second, above 0, not 0" in done.err
