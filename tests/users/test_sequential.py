"""SequentialTaskSet: order of declaration."""

from __future__ import annotations

import pytest
from tests.users.user_helpers import run_to_end

from plimsoll.users.exceptions import LocustError, StopUser
from plimsoll.users.sequential import SequentialTaskSet
from plimsoll.users.tasks import task
from plimsoll.users.user import User


def extra(_tasks):
    pass


def test_tasks_run_in_order_repeat_by_weight_and_start_over():
    seen = []

    class Buyer(User):
        @task
        class Purchase(SequentialTaskSet):
            @task
            def search(self):
                seen.append("search")
                if len(seen) > 5:
                    raise StopUser

            @task(2)
            def look(self):
                seen.append("look")

            @task
            def buy(self):
                seen.append("buy")

    run_to_end(Buyer)
    assert seen == ["search", "look", "look", "buy", "search", "look", "look", "buy", "search"]


def test_the_tasks_attribute_stands_where_it_was_written():
    class Purchase(SequentialTaskSet):
        @task
        def search(self):
            pass

        tasks = [extra]  # noqa: RUF012

        @task
        def buy(self):
            pass

    assert [inner.__name__ for inner in Purchase.tasks] == ["search", "extra", "buy"]


def test_tasks_must_be_a_list_or_a_dict():
    with pytest.raises(ValueError, match="list or dict"):
        type(SequentialTaskSet)("Purchase", (SequentialTaskSet,), {"tasks": (extra,)})


def test_without_tasks_the_error_says_so():
    class Empty(SequentialTaskSet):
        pass

    class Buyer(User):
        pass

    with pytest.raises(LocustError, match="No tasks defined"):
        Empty(Buyer(environment=None)).get_next_task()
