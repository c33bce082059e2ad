"""A machine of a run on several, and its clock."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.record.facts import MachineFacts

if TYPE_CHECKING:
    from plimsoll.run.transport.clock import ClockEstimate

logger = logging.getLogger("plimsoll.run")

ROUND_TRIPS = 20
"""Of an estimate of a machine's clock."""


@dataclass(slots=True)
class ClusterNode:
    """One of those that workers run on."""

    host: str
    workers: list[int]
    machine: str = ""
    """The computer, if its host has several of these."""
    first: ClockEstimate | None = None
    """Of its clock, before the run: its workers' stamps are mapped by this."""
    last: ClockEstimate | None = None

    def note_clock(self, estimate: ClockEstimate) -> bool:
        """Returns whether it is the first one."""
        is_first = self.first is None
        self.first, self.last = self.first or estimate, estimate
        return is_first

    def log_clock(self, count: int) -> None:
        """Once it is known. count: its workers, or those that it has room for."""
        assert self.first is not None
        logger.info(
            "%s: %d worker%s, its clock is %+.3f ms ± %.3f ms from ours",
            self.host, count, "" if count == 1 else "s", self.first.offset / 1e6, self.first.error / 1e6,
        )  # fmt: skip

    def described(self) -> MachineFacts:
        """What readers of a recorded run must know of the machine."""
        known = MachineFacts(host=self.host, workers=tuple(self.workers), machine=self.machine or None)
        if self.first is None or self.last is None:
            return known
        return replace(
            known,
            clock_offset_ms=self.first.offset / 1e6,
            clock_error_ms=self.first.error / 1e6,
            clock_moved_ms=(self.last.offset - self.first.offset) / 1e6,
            clock_moved_error_ms=(self.last.error + self.first.error) / 1e6,
        )


def numbered(hosts: list[str]) -> list[str]:
    """Their names, each another one: of several that are the same, the second is NAME/2."""
    known: dict[str, int] = {}
    names = []
    for host in hosts:
        known[host] = known.get(host, 0) + 1
        names.append(host if known[host] == 1 else f"{host}/{known[host]}")
    return names
