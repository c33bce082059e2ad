from __future__ import annotations

from typing import Any

import pytest
from tests.users.pacing import state_of

from plimsoll.errors import LocustfileError
from plimsoll.locust.api import Environment
from plimsoll.users.tasks import task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import User, make_user, without_super


class Forgetful(User):
    def __init__(self, environment: Environment) -> None:
        self.name = "Ann"

    @task
    def idle(self) -> None: ...


class Heir(Forgetful):
    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)


class SelfMade(User):
    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    @task
    def idle(self) -> None: ...


@pytest.mark.parametrize("cls", [Forgetful, Heir])
def test_a_user_without_super_names_the_class_and_line_at_fault(cls: type[User]) -> None:
    with pytest.raises(LocustfileError) as refused:
        make_user(cls, Environment())
    line = Forgetful.__init__.__code__.co_firstlineno
    assert str(refused.value) == (
        f"{__file__}:{line}: Forgetful.__init__ does not call that of its base class; add super().__init__(environment)"
    )


def test_a_user_that_sets_its_environment_itself_can_run() -> None:
    environment = Environment()
    user = make_user(SelfMade, environment)
    assert (user.environment, state_of(user), user.greenlet) == (environment, None, None)


def test_an_init_behind_a_decorator_is_found() -> None:
    import functools

    def silent(function: Any) -> Any:
        return functools.wraps(function)(lambda *_: None)

    class Decorated(TaskSet):
        @silent
        def __init__(self, parent: Any) -> None: ...

    assert "Decorated.__init__ does not call that of its base class; add super().__init__(parent)" in str(
        without_super(Decorated, "parent")
    )


def test_a_task_set_without_super_says_so_before_anything_of_it_runs() -> None:
    class Basket(TaskSet):
        def __init__(self, parent: Any) -> None: ...

        def on_start(self) -> None:
            pytest.fail("it cannot run")

    with pytest.raises(LocustfileError, match=r"Basket.__init__ .* add super\(\).__init__\(parent\)"):
        Basket(None).run()
