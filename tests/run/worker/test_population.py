"""Users without requests: what is asked here is who lives, and until when."""

from __future__ import annotations

import gevent
import pytest
from gevent.pool import Group

from plimsoll.locust.api import Environment
from plimsoll.run.worker import population
from plimsoll.run.worker.population import PythonUsers
from plimsoll.users.tasks import task
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant


class Sleeper(User):
    wait_time = constant(1000)
    ended = 0

    def on_stop(self) -> None:
        type(self).ended += 1

    @task
    def rest(self) -> None:
        pass


class Worker(Sleeper):
    wait_time = constant(0)

    @task
    def work(self) -> None:
        gevent.sleep(0.05)


class Stubborn(Sleeper):
    @task
    def rest(self) -> None:
        gevent.sleep(1000)


class Busy(User):
    wait_time = constant(0)
    iterations = ended = 0

    def on_stop(self) -> None:
        type(self).ended += 1

    @task
    def work(self) -> None:
        type(self).iterations += 1
        gevent.sleep(0)


class Brief(User):
    @task
    def leave(self) -> None:
        from plimsoll.users.exceptions import StopUser

        raise StopUser


@pytest.fixture(autouse=True)
def _nobody_ended() -> None:
    Sleeper.ended = Worker.ended = Stubborn.ended = 0


def _users(*classes: type[User], stop_timeout: float = 0) -> PythonUsers:
    return PythonUsers(Environment(user_classes=list(classes), stop_timeout=stop_timeout), classes, Group())


def test_there_are_as_many_of_each_class_as_wanted() -> None:
    users = _users(Sleeper, Worker)
    users.adjust({"Sleeper": 3, "Worker": 2})
    assert users.counts() == {"Sleeper": 3, "Worker": 2}
    users.adjust({"Sleeper": 3, "Worker": 4})
    assert users.counts() == {"Sleeper": 3, "Worker": 4}
    gevent.sleep(0)
    users.drain(0)
    assert users.counts() == {"Sleeper": 0, "Worker": 0}
    assert (Sleeper.ended, Worker.ended) == (3, 4)


def test_more_users_than_a_batch_all_come() -> None:
    users = _users(Sleeper)
    users.adjust({"Sleeper": 2 * population.BATCH + 1})
    assert users.counts() == {"Sleeper": 2 * population.BATCH + 1}
    users.drain(0)


def test_fewer_users_end_at_once_and_run_their_on_stop() -> None:
    users = _users(Sleeper)
    users.adjust({"Sleeper": 5})
    users.adjust({"Sleeper": 2})
    assert users.counts() == {"Sleeper": 2}
    gevent.sleep(0.01)
    assert Sleeper.ended == 3
    users.drain(0)


def test_a_user_that_left_by_itself_is_not_counted() -> None:
    users = _users(Brief)
    users.adjust({"Brief": 3})
    gevent.sleep(0.01)
    assert users.counts() == {"Brief": 0}
    users.drain(0)


def test_a_running_task_may_finish_within_the_stop_timeout() -> None:
    users = _users(Worker, Sleeper, stop_timeout=1000)
    users.adjust({"Worker": 3, "Sleeper": 2})
    gevent.sleep(0.01)
    users.drain(1000)
    assert (Worker.ended, Sleeper.ended) == (3, 2)


def test_a_task_that_takes_longer_is_cut_off() -> None:
    users = _users(Stubborn, stop_timeout=0.05)
    users.adjust({"Stubborn": 2})
    gevent.sleep(0.01)
    users.drain(0.05)
    assert Stubborn.ended == 2


def test_stop_cuts_a_drain_short() -> None:
    users = _users(Stubborn, stop_timeout=1000)
    users.adjust({"Stubborn": 2})
    gevent.sleep(0.01)
    gevent.spawn_later(0.01, users.stop)
    users.drain(1000)
    assert users.counts() == {"Stubborn": 0}


def test_what_a_class_raises_as_a_user_is_made_comes_through() -> None:
    class Broken(User):
        def __init__(self, environment: Environment) -> None:
            raise KeyError("token")

        @task
        def idle(self) -> None: ...

    with pytest.raises(KeyError, match="token"):
        _users(Broken).adjust({"Broken": 1})


def test_all_users_together_begin_as_many_iterations_as_there_are() -> None:
    environment = Environment(user_classes=[Busy])
    users = PythonUsers(environment, [Busy], Group(), iterations=7)
    Busy.iterations = Busy.ended = 0
    users.adjust({"Busy": 3})
    with gevent.Timeout(10):
        while not users.done:
            gevent.sleep(0.001)
    users.drain(1)
    assert (Busy.iterations, Busy.ended, users.counts()) == (7, 3, {"Busy": 0})
    users.adjust({"Busy": 5})
    assert users.counts() == {"Busy": 0}, "nobody begins what cannot go on"


@pytest.mark.parametrize(("count", "iterations"), [(1, 1), (2, 3), (3, 3)])
def test_nobody_waits_for_a_next_iteration_that_does_not_come(count: int, iterations: int) -> None:
    """wait_time is 1000 s after the first iteration of a user, and 10 ms before."""

    class Patient(User):
        begun = ended = 0

        def wait_time(self) -> float:
            return 0.01 if Patient.begun < iterations else 1000

        def on_stop(self) -> None:
            Patient.ended += 1

        @task
        def work(self) -> None:
            Patient.begun += 1
            gevent.sleep(0.002)

    users = PythonUsers(Environment(user_classes=[Patient]), [Patient], Group(), iterations=iterations)
    users.adjust({"Patient": count})
    with gevent.Timeout(10):
        while not users.done:
            gevent.sleep(0.001)
        users.drain(0)
    assert (Patient.begun, Patient.ended) == (iterations, count)


def test_a_pause_within_a_task_is_part_of_the_last_iteration() -> None:
    class Pausing(User):
        wait_time = constant(0.05)
        is_complete = False

        @task
        def work(self) -> None:
            self.wait()
            type(self).is_complete = True

    users = PythonUsers(Environment(user_classes=[Pausing]), [Pausing], Group(), iterations=1)
    users.adjust({"Pausing": 1})
    with gevent.Timeout(10):
        while not users.done:
            gevent.sleep(0.001)
    assert Pausing.is_complete


def test_a_share_of_no_iterations_is_done_at_once() -> None:
    users = PythonUsers(Environment(user_classes=[Busy]), [Busy], Group(), iterations=0)
    users.adjust({"Busy": 3})
    assert users.done
    assert not _users(Busy).done, "without a limit there is no end"


def test_users_that_the_code_has_started_itself_count_and_end_like_the_others() -> None:
    group = Group()
    environment = Environment(user_classes=[Sleeper])
    users = PythonUsers(environment, [Sleeper], group)
    users.adjust({"Sleeper": 2})
    Sleeper(environment).start(group)
    assert users.counts() == {"Sleeper": 3}
    users.adjust({"Sleeper": 4})
    assert (users.counts(), len(group)) == ({"Sleeper": 4}, 4)
    users.adjust({"Sleeper": 1})
    gevent.sleep(0.01)
    assert (users.counts(), len(group)) == ({"Sleeper": 1}, 1)
    Sleeper(environment).start(group)
    gevent.sleep(0)
    users.drain(0)
    assert (users.counts(), Sleeper.ended) == ({"Sleeper": 0}, 5)


def test_no_user_is_started_once_they_are_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[User] = []

    class Counted(Sleeper):
        def __init__(self, environment: Environment) -> None:
            super().__init__(environment)
            made.append(self)

    monkeypatch.setattr(population, "BATCH", 1)
    users = _users(Counted)
    starting = gevent.spawn(users.adjust, {"Counted": 100})
    while not made:
        gevent.sleep(0)
    users.drain(0)
    starting.join(timeout=30)
    assert users.counts() == {"Counted": 0}
    assert 1 <= len(made) < 100


def test_users_on_their_way_out_are_not_counted_again() -> None:
    users = _users(Worker, stop_timeout=30)
    users.adjust({"Worker": 3})
    gevent.sleep(0.01)
    users.adjust({"Worker": 1})
    assert users.counts() == {"Worker": 1}
    users.adjust({"Worker": 2})
    assert users.counts() == {"Worker": 2}
    users.drain(30)
    assert Worker.ended == 4
