from __future__ import annotations

import pytest

from plimsoll import FastHttpUser, HttpUser, User, task
from plimsoll.errors import LocustfileError, UsageError
from plimsoll.locust.script.checks import check_hosts, check_tasks
from plimsoll.run.plan import RunPlan


def _class(base: type[User], host: str | None) -> type[User]:
    return type("Visitor", (base,), {"host": host})


@pytest.mark.parametrize("base", [HttpUser, FastHttpUser])
@pytest.mark.parametrize("host", ["http://h", "https://h:8443/base", "HTTP://user:word@h", ""])
def test_hosts_that_can_be_reached_by_http_or_leave_it_to_absolute_urls(base: type[User], host: str) -> None:
    check_hosts([_class(base, host)])


@pytest.mark.parametrize("base", [HttpUser, FastHttpUser])
@pytest.mark.parametrize(
    ("host", "message"),
    [(None, "no host"), ("localhost:80", "must begin with"), ("/tmp/x", "must begin with")],
)
def test_a_class_that_speaks_http_needs_such_a_host(base: type[User], host: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_hosts([_class(base, host)])


def test_other_clients_have_hosts_of_their_own_kind() -> None:
    check_hosts([_class(User, None), _class(User, "localhost:50051")])


def test_a_class_that_chooses_its_host_as_it_is_made_is_left_alone() -> None:
    class Chooser(HttpUser):
        def __init__(self, environment: object) -> None: ...

    check_hosts([Chooser])


def test_a_class_that_may_choose_its_tasks_as_it_starts_is_left_alone() -> None:
    class Starts(User):
        def on_start(self) -> None: ...

    class Made(User):
        def __init__(self, environment: object) -> None: ...

    check_tasks([Starts, Made], RunPlan())


def test_a_class_without_tasks_is_named_with_those_that_have_some() -> None:
    class Idle(User): ...

    class Busy(User):
        @task
        def work(self) -> None: ...

    with pytest.raises(LocustfileError, match=r"test_script\.py:\d+: class Idle has no task.*: Busy$"):
        check_tasks([Busy, Idle], RunPlan())
