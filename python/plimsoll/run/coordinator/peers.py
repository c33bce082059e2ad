"""Passes messages on between the processes of a run. The user's code runs in the main node and in the workers, never in
the coordinator.

The main node imports the locustfile too, has a MasterRunner and no users. It gets:

    connect CLIENT INDEX · heartbeat CLIENT STATE USERS CPU MEMORY · report CLIENT DATA · snapshot CLIENT SNAPSHOT
    message TYPE DATA CLIENT · lose CLIENT · leave CLIENT

and sends `message TYPE DATA CLIENT|None`, `heartbeat CLIENT` (the answer to a worker's), and `fired EVENT`. A worker
sends `connect CLIENT`, `heartbeat STATE USERS CPU MEMORY ADJUSTED`, `report DATA` and `message TYPE DATA`, and gets
`message TYPE DATA` and `heartbeat`. DATA is encoded, and stays so on its way.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.run.transport.orders import Adjust, Drain, Spawned, Tell
from plimsoll.run.transport.report_rules import NEWS, is_news

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from plimsoll.run.loop import Loop
    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.messages import EncodedSnapshot, News
    from plimsoll.run.transport.orders import Order

logger = logging.getLogger("plimsoll.run")

LONGEST_CLIENT = 300
"""Characters of the name by which the user's code knows a worker."""
SPAWN_TIMEOUT_NS = 1_000_000_000
"""ns that the run waits for listeners on the main node, so that events keep their order."""


class ConnectedWorkers:
    """By their index: there is at most one with each. The main node is not one of them."""

    def __init__(self, workers: Iterable[WorkerHandle] = ()) -> None:
        self._by_index: dict[int, WorkerHandle] = {}
        self.add(workers)

    def __iter__(self) -> Iterator[WorkerHandle]:
        """Those that are connected now, even if some are added or removed meanwhile."""
        return iter(list(self._by_index.values()))

    def __len__(self) -> int:
        return len(self._by_index)

    def __contains__(self, worker: WorkerHandle) -> bool:
        """It is connected, and no other one has its index."""
        return self._by_index.get(worker.index) is worker

    def __getitem__(self, index: int) -> WorkerHandle:
        return self._by_index[index]

    @property
    def indexes(self) -> frozenset[int]:
        return frozenset(self._by_index)

    def add(self, workers: Iterable[WorkerHandle]) -> None:
        """A worker takes the place of a connected one with its index."""
        self._by_index.update({worker.index: worker for worker in workers})

    def remove(self, worker: WorkerHandle) -> None:
        """If no other one has its index."""
        if worker in self:
            del self._by_index[worker.index]


class MessageRouter:
    """The main node of a run and its workers. Without a main node nothing is sent and nothing is awaited."""

    def __init__(self, loop: Loop) -> None:
        self.workers = ConnectedWorkers()
        self.main: WorkerHandle | None = None
        self._loop = loop
        self.coming: set[WorkerHandle] = set()
        """Workers that are about to begin, while the others have begun."""
        self._clients: dict[WorkerHandle, str] = {}
        """The names by which the user's code knows the workers, also those that are gone."""
        self._awaited: str | None = None
        """The event that the main node is about to fire."""
        self._then: Callable[[], None] | None = None
        """Called when that event has been fired, or when all workers have carried out their orders."""

    @property
    def processes(self) -> list[WorkerHandle]:
        """All connected processes, the main node first."""
        return [*([self.main] if self.main else []), *self.workers]

    @property
    def users(self) -> Counter[str]:
        """Users alive on all workers, per class, as these last said."""
        users = Counter[str]()
        for worker in self.workers:
            users.update(worker.users)
        return users

    @property
    def authorizing(self) -> int:
        """Users that wait for a token, as the workers last said."""
        return sum(worker.authorizing for worker in self.workers)

    def order_workers(self, order: Order) -> None:
        """Have all workers do this."""
        for worker in self.workers:
            worker.order(order)

    def kill_silent(self, since: int) -> None:
        """Kill processes that have not reported since this stamp."""
        for process in self.processes:
            if process.last_report < since:
                who = "the main node" if process is self.main else f"worker {process.index}"
                logger.error("%s (%s) does not answer and is killed", who, process.place)
                process.kill()

    def kill_all(self) -> None:
        """Kill all connected processes."""
        for process in self.processes:
            process.kill()

    def receive(self, sender: WorkerHandle, news: News) -> None:
        """Pass on news of a process."""
        if sender is self.main:
            self._receive_from_main(news)
        else:
            self._receive_from_worker(sender, news)

    def snapshot(self, sender: WorkerHandle, snapshot: EncodedSnapshot) -> None:
        """What a worker has measured is the main node's to know."""
        if self.main is not None and sender in self._clients:
            self._tell_main("snapshot", self._clients[sender], snapshot.to_list())

    def lose(self, worker: WorkerHandle) -> None:
        """A worker is gone, and should not be."""
        if worker in self._clients:
            self._tell_main("lose", self._clients[worker])
        self._go_on_if_adjusted()

    def leave(self, worker: WorkerHandle) -> None:
        """A worker has ended as it should."""
        if worker in self._clients:
            self._tell_main("leave", self._clients[worker])

    def adjust(self, counts: Mapping[int, Mapping[str, int]], complete: int | None) -> None:
        """Have so many users per worker and class. complete: these are all that were asked for, so many."""
        for index, wanted in counts.items():
            worker = self.workers[index]
            if self.main is None:
                worker.order(Adjust(wanted, complete))
            else:
                worker.adjustments += 1
                worker.order(Adjust(wanted, None))

    def fire_spawned(self, users: int, then: Callable[[], None]) -> None:
        """Have `spawning_complete` fired: on the main node, once it knows the users of all workers, then on these.

        Without a main node workers do so by themselves, before their users begin. then: called when the workers have
        their orders. What was still to come of an earlier call does not.
        """

        def tell_workers() -> None:
            self.order_workers(Spawned(users))
            then()

        def tell_main() -> None:
            assert self.main is not None
            self.main.order(Spawned(users))
            self._await("spawning_complete", tell_workers)

        if self.main is None:
            then()
            return
        self._await(None, tell_main)
        self._go_on_if_adjusted()

    def fire_stopping(self, then: Callable[[], None]) -> None:
        """Have `test_stopping` fired on the main node; then: called when it has, or takes too long."""
        if self.main is None:
            then()
            return
        self.main.order(Drain())
        self._await("test_stopping", then)

    def forget(self) -> None:
        """Nothing is awaited any more, and nothing follows."""
        self._loop.cancel(self._go_on)
        self._awaited = self._then = None

    def _await(self, event: str | None, then: Callable[[], None]) -> None:
        self._awaited, self._then = event, then
        self._loop.at(now() + SPAWN_TIMEOUT_NS, self._go_on)

    def _go_on(self) -> None:
        then = self._then
        self.forget()
        if then is not None:
            then()

    def _go_on_if_adjusted(self) -> None:
        waits = self._then is not None and self._awaited is None
        if waits and not any(worker.adjustments for worker in self.workers):
            self._go_on()

    def _receive_from_worker(self, worker: WorkerHandle, news: News) -> None:
        if not is_news(NEWS, news.kind, news.arguments):
            worker.break_off("news that a worker does not have")
            return
        client = self._clients.get(worker)
        match news.kind, news.arguments:
            case "connect", [name]:
                if client is not None or name in self._clients.values() or not _is_client(name):
                    worker.break_off("a name that it cannot have")
                    return
                self._clients[worker] = name
                self._tell_main("connect", name, worker.index)
            case _ if client is None:
                worker.break_off("news without a name")
            case "heartbeat", [*state, adjusted]:
                self._tell_main("heartbeat", client, *state)
                worker.adjustments = max(0, worker.adjustments - adjusted)
                self._go_on_if_adjusted()
            case "report", [data]:
                self._tell_main("report", client, data)
            case "message", [type_, data, _]:
                self._tell_main("message", type_, data, client)

    def _receive_from_main(self, news: News) -> None:
        match news.kind, news.arguments:
            case "message", [type_, data, client]:
                for worker in (*self.workers, *self.coming):
                    if client is None or self._clients.get(worker) == client:
                        worker.order(Tell("message", [type_, data]))
            case "heartbeat", [client]:
                for worker in (*self.workers, *self.coming):
                    if self._clients.get(worker) == client:
                        worker.order(Tell("heartbeat", []))
            case "fired", [event] if event == self._awaited:
                self._go_on()

    def _tell_main(self, kind: str, *arguments: Any) -> None:
        if self.main is not None:
            self.main.order(Tell(kind, arguments))


def _is_client(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= LONGEST_CLIENT
