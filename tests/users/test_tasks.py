"""@task, @tag, the tasks list of a class, and filtering by tags."""

from __future__ import annotations

import logging
import re
from functools import partial
from unittest.mock import MagicMock

import pytest

from plimsoll.users.markov import MarkovTaskSet, transition
from plimsoll.users.sequential import SequentialTaskSet
from plimsoll.users.tasks import filter_tasks_by_tags, tag, task
from plimsoll.users.taskset import TaskSet
from plimsoll.users.user import User


def first(_user):
    pass


def second(_user):
    pass


def names(cls) -> list[str]:
    return [inner.__name__ for inner in cls.tasks]


def test_bare_decorator_and_weights():
    class Shopper(User):
        @task
        def browse(self):
            pass

        @task(2)
        def search(self):
            pass

        @task(weight=3)
        def buy(self):
            pass

    assert names(Shopper) == ["browse", "search", "search", "buy", "buy", "buy"]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([first, second], ["first", "second"]),
        ([(first, 2), second], ["first", "first", "second"]),
        ({first: 1, second: 2}, ["first", "second", "second"]),
        ([], []),
        (None, []),
    ],
    ids=["list", "list with weights", "dict", "empty", "None"],
)
def test_tasks_attribute(tasks, expected):
    assert names(type(User)("Shopper", (User,), {"tasks": tasks})) == expected


def test_inherited_tasks_come_first_then_the_attribute_then_methods():
    class Base(User):
        @task
        def base(self):
            pass

    class Derived(Base):
        @task
        def own(self):
            pass

        tasks = [first]  # noqa: RUF012

    assert names(Derived) == ["base", "first", "own"]
    assert names(Base) == ["base"]


def test_a_nested_taskset_is_a_task():
    class Shopper(User):
        @task(2)
        class Checkout(TaskSet):
            @task
            def pay(self):
                pass

    assert names(Shopper) == ["Checkout", "Checkout"]


def test_an_attribute_that_answers_to_every_name_is_no_task():
    class Shopper(User):
        helper = MagicMock()

    assert Shopper.tasks == []


def test_run_cannot_be_a_task():
    with pytest.raises(Exception, match="neither overridden nor a task"):

        @task
        def run(self):
            pass


def test_on_start_as_a_task_is_warned_about(caplog):
    with caplog.at_level(logging.WARNING):

        @task
        def on_start(self):
            pass

    assert "at every start or stop" in caplog.text


@pytest.mark.parametrize("misuse", [lambda: tag(), lambda: tag(first)], ids=["no name", "no parentheses"])
def test_a_tag_needs_a_name(misuse):
    with pytest.raises(ValueError, match="No tag name"):
        misuse()


def tagged() -> type[User]:
    class Shopper(User):
        @tag("read")
        @task
        def browse(self):
            pass

        @tag("read", "slow")
        @task
        def search(self):
            pass

        @task
        def idle(self):
            pass

        @tag("write")
        @task
        class Checkout(TaskSet):
            @task
            def pay(self):
                pass

            @tag("slow")
            @task
            def ship(self):
                pass

    return Shopper


@pytest.mark.parametrize(
    ("tags", "exclude", "outer", "inner"),
    [
        (None, None, ["browse", "search", "idle", "Checkout"], ["pay", "ship"]),
        ({"read"}, None, ["browse", "search"], []),
        ({"slow"}, None, ["search", "Checkout"], ["ship"]),
        ({"write"}, None, ["Checkout"], ["pay", "ship"]),
        (None, {"slow"}, ["browse", "idle", "Checkout"], ["pay"]),
        ({"write", "read"}, {"slow"}, ["browse", "Checkout"], ["pay"]),
        ({"read"}, {"read"}, [], []),
    ],
)
def test_filtering(tags, exclude, outer, inner):
    cls = tagged()
    checkout = cls.tasks[-1]
    filter_tasks_by_tags(cls, tags, exclude)
    assert names(cls) == outer
    assert names(checkout) == inner


def test_a_class_left_without_tasks_is_warned_about(caplog):
    with caplog.at_level(logging.WARNING):
        filter_tasks_by_tags(tagged(), {"nothing has this"})
    assert "Shopper had no tasks left after filtering" in caplog.text


async def walk(user):
    """A task that would do nothing."""


@task
async def amble(user):
    """Another one."""


@task(2)
async def stroll(user):
    """One that would not even begin."""
    yield


@pytest.mark.parametrize("base", [User, TaskSet, SequentialTaskSet])
@pytest.mark.parametrize(
    ("function", "body"),
    [
        (amble, {"amble": amble}),
        (stroll, {"stroll": stroll}),
        (walk, {"tasks": [walk]}),
        (walk, {"tasks": {partial(walk): 1}}),
        (walk, {"on_start": walk}),
        (walk, {"on_stop": walk}),
    ],
    ids=["decorated", "a generator", "in a list", "a partial in a dict", "on_start", "on_stop"],
)
def test_an_async_function_is_warned_of_once_with_its_place(base, function, body, caplog):
    place = f"{function.__name__} ({__file__}:{function.__code__.co_firstlineno}) is an async function"
    type(base)("Walker", (base,), dict(body))
    (record,) = caplog.records
    assert record.getMessage().startswith(place)
    assert "write `def`" in record.getMessage()


def test_an_async_task_of_a_chain_is_warned_of(caplog):
    type(MarkovTaskSet)("Walker", (MarkovTaskSet,), {"walk": transition("walk")(walk)})
    assert re.search(r"test_tasks\.py:\d+\) is an async function", caplog.text)
    del walk.transitions
