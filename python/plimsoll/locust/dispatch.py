"""Locust's UsersDispatcher, for code that needs the spawning order of users; runs do not use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

from plimsoll._engine import SpawnTimes, now
from plimsoll.run.dispatch import Dispatcher, UserClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.locust.worker_nodes import WorkerNode
    from plimsoll.users.user import User

    Counts = dict[str, dict[str, int]]
    """Users of each class by the id of their worker."""


class UsersDispatcher:
    """Iterate over it after `new_dispatch`: it yields the users at each change of their planned number."""

    def __init__(self, worker_nodes: Sequence[WorkerNode], user_classes: Sequence[type[User]]) -> None:
        """Raises ValueError without a class or a worker."""
        self._classes = sorted(user_classes, key=lambda each: each.__name__)
        self._nodes = sorted(worker_nodes, key=lambda node: node.id)
        self._dispatcher = self._deal(0)
        self._changes: Iterator[Counts] = iter(())
        self.dispatch_in_progress = False

    def new_dispatch(
        self, target_user_count: int, spawn_rate: float, user_classes: Sequence[type[User]] | None = None
    ) -> None:
        """Set the target number of users and the rate per second. user_classes: those of new users; None: unchanged.

        Raises ValueError for invalid numbers, or a class that this dispatcher does not have.
        """
        if target_user_count < 0:
            raise ValueError(f"target_user_count must not be negative: {target_user_count}")
        if user_classes is not None:
            self._dispatcher.choose(each.__name__ for each in user_classes)
        missing = int(target_user_count) - len(self._dispatcher)
        self._changes = self._move(missing, SpawnTimes(abs(missing), spawn_rate))

    def add_worker(self, worker_node: WorkerNode) -> None:
        """Redistribute the users with one more worker."""
        self._nodes = sorted([*self._nodes, worker_node], key=lambda node: node.id)
        self._dispatcher = self._deal(len(self._dispatcher))

    def remove_worker(self, worker_node: WorkerNode) -> None:
        """Redistribute the users with one worker less."""
        self._nodes = [node for node in self._nodes if node.id != worker_node.id]
        if self._nodes:
            self._dispatcher = self._deal(len(self._dispatcher))

    def get_current_user_count(self) -> int:
        return len(self._dispatcher)

    def __iter__(self) -> Iterator[Counts]:
        return self

    def __next__(self) -> Counts:
        return next(self._changes)

    def _deal(self, users: int) -> Dispatcher:
        classes = [UserClass(each.__name__, float(each.weight), each.fixed_count) for each in self._classes]
        dispatcher = Dispatcher(classes, range(len(self._nodes)))
        dispatcher.grow(users)
        return dispatcher

    def _move(self, missing: int, times: SpawnTimes) -> Iterator[Counts]:
        self.dispatch_in_progress = True
        for due in spread(self._dispatcher, missing, times):
            yield {self._nodes[index].id: counts for index, counts in self._dispatcher.counts().items()}
            if due is not None:
                gevent.sleep(max(0, due - now()) / 1e9)
        self.dispatch_in_progress = False


def spread(dispatcher: Dispatcher, missing: int, times: SpawnTimes) -> Iterator[int | None]:
    """Make the dispatcher grow by this many users (negative: shrink) at these times, relative to now.

    Yields after each step the stamp at which the next one is due, None after the last.
    """
    move = dispatcher.grow if missing > 0 else dispatcher.shrink
    start, moved = now(), 0
    while True:
        before = moved
        while (due := times.due(moved)) is not None and start + due <= now():
            moved += 1
        move(moved - before)
        yield None if due is None else start + due
        if due is None:
            return
