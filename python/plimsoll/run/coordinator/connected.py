"""The workers of a run that are still connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.run.transport.handle import WorkerHandle


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
