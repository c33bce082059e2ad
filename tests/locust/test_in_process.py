"""A test that a program steers, in its own process. Order and states of events are those seen in Locust 2.47."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.locust.in_process_program import TIMEOUT_S, Custom, Noted, Other, Sleeper

from plimsoll._engine import Recorder
from plimsoll.errors import UsageError
from plimsoll.locust import dispatch
from plimsoll.locust import in_process as library
from plimsoll.locust.api import Environment, LoadTestShape
from plimsoll.locust.runners import LocalRunner, MasterRunner, WorkerRunner
from plimsoll.users.exceptions import RunnerAlreadyExistsError
from plimsoll.users.tasks import task

if TYPE_CHECKING:
    pass


def test_a_test_from_start_to_stop(program):
    shop = program(Sleeper)
    assert shop.runner.state == "ready"
    shop.runner.start(2, spawn_rate=100)
    assert (shop.runner.state, shop.notes) == ("ready", []), "it begins when the caller lets others run"
    shop.until("on_start")
    assert shop.notes == ["test_start ready 0", "spawning_complete running 2", "on_start", "on_start"]
    assert shop.runner.target_user_classes_count == {"Sleeper": 2}
    del shop.notes[:]
    shop.runner.stop()
    assert shop.notes == ["test_stopping running 2", "on_stop", "on_stop", "test_stop stopped 0"]


def test_it_is_stopped_once(program):
    shop = program(Sleeper)
    shop.start(1)
    shop.runner.stop()
    shop.runner.stop()
    shop.runner.quit()
    assert shop.notes.count("test_stop stopped 0") == 1


def test_it_may_be_started_again(program):
    shop = program(Sleeper)
    shop.start(1)
    shop.runner.exceptions["from before"] = {}
    shop.runner.stop()
    del shop.notes[:]
    shop.start(2)
    assert shop.notes[:2] == ["test_start stopped 0", "spawning_complete running 2"]
    assert shop.runner.exceptions == {}
    shop.runner.quit()
    shop.start(1)
    assert shop.runner.user_count == 1, "also after quit()"


def test_a_start_while_it_runs_changes_the_number_of_users(program):
    shop = program(Sleeper)
    shop.start(2)
    shop.start(5)
    assert shop.runner.user_count == 5
    shop.start(1)
    assert (shop.runner.user_count, shop.notes.count("on_stop")) == (1, 4)
    shop.start(0)
    shop.start(3)
    assert shop.runner.user_count == 3
    assert shop.notes.count("test_start ready 0") == 1, "all of it is one test"


def test_a_later_start_takes_the_place_of_one_under_way(program):
    shop = program(Sleeper)
    shop.runner.start(1000, spawn_rate=1)
    shop.until("on_start")
    first = shop.runner.spawning_greenlet
    shop.start(2)
    assert (shop.runner.user_count, first.dead) == (2, True)
    assert sum(note.startswith("spawning_complete") for note in shop.notes) == 1


def test_users_come_and_go_at_the_rate(program, monkeypatch):
    # The clock stands still but for the sleeps, which are noted.
    clock, counts = [0], []
    shop = program(Sleeper)

    def sleep_until(_hub: Any, due: int) -> None:
        clock[0] = due
        shop.runner.controller._departures.join()
        counts.append((due, shop.runner.user_count))

    monkeypatch.setattr(dispatch, "now", lambda: clock[0])
    monkeypatch.setattr(library, "sleep_until", sleep_until)
    shop.start(5, rate=2)
    assert counts == [(1_000_000_000, 2), (2_000_000_000, 4)]
    shop.start(2, rate=1)
    assert counts[2:] == [(3_000_000_000, 4), (4_000_000_000, 3)]


def test_more_users_than_a_batch_all_come(program):
    shop = program(Sleeper)
    shop.start(300, rate=10_000)
    assert shop.runner.user_count == 300


def test_classes_are_mixed_by_weight_and_may_be_chosen(program):
    shop = program(Sleeper, Other)
    shop.start(4)
    assert shop.runner.user_classes_count == {"Sleeper": 2, "Other": 2}
    shop.start(7, user_classes=[Other])
    assert shop.runner.user_classes_count == {"Sleeper": 2, "Other": 5}


def test_users_of_the_programs_own_belong_to_the_test(program):
    shop = program(Sleeper, Other)
    shop.start(2)
    first, second = shop.runner.spawn_users({"Other": 2})
    assert isinstance(first, Other)
    assert first is not second
    assert shop.runner.user_classes_count == {"Sleeper": 1, "Other": 3}
    shop.runner.stop_users({"Other": 1})
    assert shop.runner.user_classes_count == {"Sleeper": 1, "Other": 2}
    shop.start(4)
    assert shop.runner.user_classes_count == {"Sleeper": 2, "Other": 2}, "one of the two was there already"


def test_the_host_of_the_environment_is_that_of_all_classes(program):
    class Shopper(Sleeper):
        host = "http://own"

    shop = program(Shopper, host="http://given")
    shop.start(1)
    assert Shopper.host == "http://given"


def test_tags_choose_tasks(program):
    from plimsoll.users.tasks import tag

    class Shopper(Sleeper):
        @tag("pay")
        @task
        def pay(self) -> None:
            pass

    shop = program(Shopper, tags=["pay"])
    shop.start(1)
    assert [each.__name__ for each in Shopper.tasks] == ["pay"]


def test_a_shape_says_how_many_users_there_are(program, monkeypatch):
    from plimsoll.locust import shape

    monkeypatch.setattr(shape, "PERIOD", 0.001)

    class Stairs(LoadTestShape):
        def tick(self) -> Any:
            seen = shop.runner.user_count
            if seen < 2:
                return 2, 100
            return (5, 100) if seen < 5 and "on_stop" not in shop.notes else None

    shop = program(Sleeper, shape_class=Stairs())
    for _ in range(2):
        del shop.notes[:]
        shop.runner.start_shape()
        shop.until("test_stop stopped 0")
        assert "spawning_complete running 5" in shop.notes
        shop.runner.quit()


def test_exceptions_of_users_are_counted(program):
    class Clumsy(Noted):
        @task
        def rest(self) -> None:
            raise KeyError("token")

    shop = program(Clumsy)
    shop.start(2)
    shop.until("on_start")
    with gevent.Timeout(TIMEOUT_S):
        while sum(row["count"] for row in shop.runner.exceptions.values()) < 2:
            gevent.sleep(0.001)
    (row,) = shop.runner.exceptions.values()
    assert (row["count"], row["msg"], row["nodes"]) == (2, "'token'", {"local"})
    assert "in rest" in row["traceback"]


def test_messages_reach_the_programs_own_listener(program):
    shop = program(Sleeper)
    shop.runner.register_message("users", lambda environment, msg: shop.notes.append(f"{msg.data} {msg.node_id}"))
    shop.runner.send_message("users", [1, 2])
    assert shop.notes == ["[1, 2] local"]


def test_requests_are_counted_as_they_happen(program):
    shop = program(Custom)
    shop.start(2)
    total = shop.environment.stats.total
    with gevent.Timeout(TIMEOUT_S):
        while total.num_requests < 100:
            gevent.sleep(0.001)
    assert (shop.environment.stats.get("work", "X").min_response_time, total.num_failures) == (1, 0)
    shop.runner.stop()
    assert shop.environment.stats.total.num_requests >= 100, "they are there after the end"
    shop.start(0)
    assert shop.environment.stats.total.num_requests == 0, "the next test begins with none"


def test_the_ramp_up_may_be_left_out(program):
    shop = program(Custom, reset_stats=True)
    counted = []
    # The first to hear of it, so that it sees what was before.
    shop.environment.events.spawning_complete.add_listener(
        lambda **_: counted.append(shop.environment.stats.total.num_requests)
    )
    shop.start(2, rate=1)
    assert counted == [0]


def test_seconds_that_are_past_are_forgotten(monkeypatch):
    class Spy:
        """A recorder that notes what is taken of it."""

        def __init__(self, recorder: Recorder) -> None:
            self._recorder = recorder
            self.taken: list[int | None] = []

        def take(self, before: int | None) -> None:
            self.taken.append(before)
            self._recorder.take(before)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._recorder, name)

    clock = [0]
    monkeypatch.setattr(library, "PERIOD", 0.001)
    monkeypatch.setattr(library, "now", lambda: clock[0])
    environment = Environment(user_classes=[Custom])
    environment.recorder = spy = Spy(environment.recorder)
    runner = environment.create_local_runner()
    runner.start(1, 100)
    with gevent.Timeout(TIMEOUT_S):
        while 2 not in spy.taken:
            clock[0] += 500_000_000
            gevent.sleep(0.002)
        runner.quit()
    assert spy.taken == sorted(spy.taken)
    assert spy.taken[0] in (0, 1), "the second in progress stays"


def test_an_environment_has_one_runner(program):
    shop = program(Sleeper)
    with pytest.raises(RunnerAlreadyExistsError):
        shop.environment.create_local_runner()


def test_a_program_spreads_no_users_over_other_processes():
    environment = Environment(user_classes=[Sleeper])
    with pytest.raises(UsageError, match="plimsoll run --processes N"):
        environment.create_master_runner()
    with pytest.raises(UsageError, match="plimsoll run --processes N"):
        environment.create_worker_runner("127.0.0.1", 5557)
    assert environment.runner is None


def test_a_runner_needs_nothing_but_its_environment():
    environment = Environment(user_classes=[Sleeper])
    environment.notes = []
    runner = LocalRunner(environment)
    assert environment.runner is runner
    assert runner.spawning_greenlet is None
    with gevent.Timeout(TIMEOUT_S):
        assert len(runner.spawn_users({"Sleeper": 2})) == len(runner.user_greenlets) == 2
        runner.start(3, spawn_rate=1000)
        runner.spawning_greenlet.join()
        assert (runner.state, runner.user_count) == ("running", 3)
        runner.quit()
    assert (runner.user_count, runner.final_user_classes_count) == (0, {"Sleeper": 3})


@pytest.mark.parametrize("kind", [MasterRunner, WorkerRunner])
def test_a_program_makes_no_runner_of_several_processes(kind):
    environment = Environment(user_classes=[Sleeper])
    with pytest.raises(UsageError, match="plimsoll run --processes N"):
        kind(environment, "127.0.0.1", 5557)
    assert environment.runner is None
