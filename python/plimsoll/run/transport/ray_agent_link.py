"""The link's side of the actor of one machine."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import ray

from plimsoll._engine import now
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.cluster_node import ROUND_TRIPS
from plimsoll.run.transport.ray_agent import KEPT, OUTPUT, REPORT

if TYPE_CHECKING:
    from plimsoll.run.transport.ray_agent import Order

CLOCK_TIMEOUT_S = 5.0
CLOSE_TIMEOUT_S = 3.0


class AgentLink:
    """The actor of one machine, and where the bytes of its workers go.

    tell: gets the name and the arguments of what is to be said to the coordinator. workers: the first ones. streams: by
    the keys of workers.
    """

    def __init__(self, actor: Any, workers: list[int], streams: dict[int, socket.socket], tell: Any) -> None:
        self.actor = actor
        self.workers = workers
        self.is_gone = False
        self.first_clock: ClockEstimate | None = None
        """By which the coordinator maps the stamps of its workers."""
        self.kept: dict[int, bytes] = {}
        """What workers have kept when the coordinator was lost, by key."""
        self._streams = streams
        self._tell = tell
        self._left = set(workers)
        """Keys of workers that have not exited."""
        self._lock = threading.Lock()
        self._next = 0

    def start(self, key: int, index: int) -> None:
        """One more worker."""
        with self._lock:
            if is_there := not self.is_gone:
                self._left.add(key)
        if is_there:
            self.order([(key, index)])
        else:
            self._end(key, "is lost with its machine")

    def order(self, orders: list[Order]) -> None:
        """Returns at once."""
        self.actor.order.options(concurrency_group="orders").remote(self._next, orders)
        self._next += 1

    @property
    def has_workers(self) -> bool:
        """Some have not exited."""
        return bool(self._left)

    def end_orders(self) -> None:
        """There is no coordinator any more: its workers write what they have kept, and exit."""
        self.order([(key, None) for key in sorted(self._left)])

    def carry(self) -> None:
        """What comes from the workers, until the actor is closed or gone."""
        how = "was not heard of again"
        try:
            for parcels in self.actor.reports.options(num_returns="streaming", concurrency_group="reports").remote():
                for kind, key, data in ray.get(parcels):
                    self._pass_on(kind, key, data)
        except ray.exceptions.RayError as error:
            how = f"is lost with its machine ({type(error).__name__})"
        with self._lock:
            self.is_gone = True
        for key in sorted(self._left):
            self._end(key, how)

    def estimate(self) -> ClockEstimate:
        """Of its clock. Raises RayError."""
        return ClockEstimate.of([self._round_trip() for _ in range(ROUND_TRIPS)])

    def close(self) -> None:
        with contextlib.suppress(Exception):
            ray.get(self.actor.close.remote(), timeout=CLOSE_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """With its workers."""
        with contextlib.suppress(Exception):
            ray.kill(self.actor)

    def _round_trip(self) -> tuple[int, int, int]:
        before = now()
        theirs = ray.get(self.actor.clock.options(concurrency_group="clock").remote(), timeout=CLOCK_TIMEOUT_S)
        return before, theirs, now()

    def _pass_on(self, kind: str, key: int, data: bytes) -> None:
        if kind == REPORT:
            with contextlib.suppress(OSError):
                self._streams[key].sendall(data)
        elif kind == OUTPUT:
            # Nobody reads it any more if the coordinator is lost.
            with contextlib.suppress(OSError):
                os.write(sys.stdout.fileno(), data)
        elif kind == KEPT:
            self.kept[key] = data
        else:
            self._end(key, data.decode())

    def _end(self, key: int, how: str) -> None:
        self._left.discard(key)
        self._tell("exited", key, how)
        with contextlib.suppress(OSError):
            self._streams[key].shutdown(socket.SHUT_RDWR)
