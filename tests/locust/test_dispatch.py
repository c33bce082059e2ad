from __future__ import annotations

import pytest

from plimsoll import User
from plimsoll.locust.dispatch import UsersDispatcher
from plimsoll.locust.worker_nodes import WorkerNode


class Visitor(User):
    weight = 2


class Editor(User):
    pass


@pytest.fixture
def dispatcher() -> UsersDispatcher:
    return UsersDispatcher([WorkerNode("b"), WorkerNode("a")], [Visitor, Editor])


def test_users_are_dealt_in_batches_over_the_workers(dispatcher: UsersDispatcher) -> None:
    dispatcher.new_dispatch(6, 4000.0)
    *_, last = list(dispatcher)
    assert last == {"a": {"Editor": 1, "Visitor": 2}, "b": {"Editor": 1, "Visitor": 2}}
    assert (dispatcher.get_current_user_count(), dispatcher.dispatch_in_progress) == (6, False)


def test_each_batch_is_a_step_up_or_down(dispatcher: UsersDispatcher) -> None:
    dispatcher.new_dispatch(3, 1.9)
    first = next(dispatcher)
    assert sum(sum(counts.values()) for counts in first.values()) == 1
    assert dispatcher.dispatch_in_progress
    dispatcher.new_dispatch(0, 50.0)
    *_, last = list(dispatcher)
    assert not any(sum(counts.values()) for counts in last.values())


def test_users_to_come_may_be_of_some_classes(dispatcher: UsersDispatcher) -> None:
    dispatcher.new_dispatch(2, 100.0, [Editor])
    *_, last = list(dispatcher)
    assert last == {"a": {"Editor": 1, "Visitor": 0}, "b": {"Editor": 1, "Visitor": 0}}


def test_workers_that_come_and_go_get_their_share(dispatcher: UsersDispatcher) -> None:
    dispatcher.new_dispatch(6, 1000.0)
    list(dispatcher)
    dispatcher.add_worker(WorkerNode("c"))
    dispatcher.new_dispatch(6, 1000.0)
    (counts,) = dispatcher
    assert {node: sum(each.values()) for node, each in counts.items()} == {"a": 2, "b": 2, "c": 2}
    dispatcher.remove_worker(WorkerNode("a"))
    dispatcher.new_dispatch(6, 1000.0)
    (counts,) = dispatcher
    assert {node: sum(each.values()) for node, each in counts.items()} == {"b": 3, "c": 3}


@pytest.mark.parametrize(("users", "rate"), [(-1, 1.0), (1, 0.0), (1, float("inf"))])
def test_numbers_that_make_no_sense(dispatcher: UsersDispatcher, users: int, rate: float) -> None:
    with pytest.raises(ValueError, match=r"target_user_count|rate"):
        dispatcher.new_dispatch(users, rate)
