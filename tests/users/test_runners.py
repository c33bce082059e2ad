"""The runner as locustfiles see it."""

from __future__ import annotations

import pytest
from life import waiting

from plimsoll.users import Environment, LoadTestShape, User, constant, task
from plimsoll.users.exceptions import RunnerAlreadyExistsError
from plimsoll.users.runners import LocalRunner, MasterRunner, Runner, WorkerRunner


class Shopper(User):
    wait_time = constant(1000)

    @task
    def browse(self):
        pass


class Clerk(Shopper):
    pass


def nothing() -> None:
    pass


def test_a_runner_belongs_to_one_environment_and_its_shape():
    class Stages(LoadTestShape):
        def tick(self):
            return None

    shape = Stages()
    environment = Environment(user_classes=[Shopper], shape_class=shape)
    runner = LocalRunner(environment, nothing)
    assert environment.runner is shape.runner is runner
    assert shape.get_current_user_count() == 0
    with pytest.raises(RunnerAlreadyExistsError):
        LocalRunner(environment, nothing)


def test_users_are_counted_as_long_as_they_live():
    environment = Environment(user_classes=[Clerk, Shopper])
    runner = LocalRunner(environment, nothing)
    users = [cls(environment) for cls in (Shopper, Shopper, Clerk)]
    for user in users:
        user.start(runner.user_greenlets)
    for user in users:
        waiting(user)
    assert runner.user_count == 3
    assert runner.user_classes_count == {"Clerk": 1, "Shopper": 2}
    users[0].stop()
    assert runner.user_classes_count == {"Clerk": 1, "Shopper": 1}
    runner.user_greenlets.kill()
    assert runner.user_count == 0


@pytest.mark.parametrize("method", ["stop", "quit"])
def test_a_locustfile_can_end_the_test(method):
    asked = []
    runner = LocalRunner(Environment(), lambda: asked.append(True))
    getattr(runner, method)()
    assert asked == [True]


def test_isinstance_tells_the_kinds_apart():
    worker = WorkerRunner(Environment(), nothing, worker_index=1, worker_count=2)
    assert isinstance(worker, Runner)
    assert not isinstance(worker, LocalRunner | MasterRunner)
    assert (worker.worker_index, worker.worker_count) == (1, 2)
    assert worker.client_id != LocalRunner(Environment(), nothing).client_id


def test_exceptions_are_counted_by_traceback():
    runner = LocalRunner(Environment(), nothing)
    runner.log_exception("local", "boom", "line 1")
    runner.log_exception("other", "boom", "line 1")
    runner.log_exception("local", "boom", "line 2")
    assert sorted(row["count"] for row in runner.exceptions.values()) == [1, 2]
    assert {"local", "other"} in [row["nodes"] for row in runner.exceptions.values()]


def test_what_is_not_supported_says_so():
    with pytest.raises(AttributeError, match=r"runner\.stats is not supported yet by plimsoll"):
        _ = LocalRunner(Environment(), nothing).stats
