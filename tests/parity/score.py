"""Runs cases under both tools, two at a time, and adds up what is equal, what is listed and what is neither."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from .differences import Found, Listed, compare
from .facts import facts_of
from .server import Server
from .tool import TOOLS, carry_out, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .case import Run
    from .facts import Facts
    from .tool import Tool


@dataclass
class Score:
    """What came of some runs."""

    facts: int = 0
    files: set[str] = field(default_factory=set)
    listed: list[tuple[Found, Listed]] = field(default_factory=list)
    unexplained: list[Found] = field(default_factory=list)
    gone: list[Listed] = field(default_factory=list)
    """Entries of the table that no longer occur."""

    @property
    def good(self) -> bool:
        return not self.unexplained and not self.gone

    def __str__(self) -> str:
        equal = self.facts - len(self.listed) - len(self.unexplained)
        entries = len({entry for _, entry in self.listed})
        line = (
            f"parity: {equal} of {self.facts} facts equal in {len(self.files)} files, "
            f"{entries} listed differences, {len(self.unexplained)} unexplained"
        )
        return line + (f", {len(self.gone)} listed that no longer occur" if self.gone else "")


@dataclass(frozen=True)
class Outcome:
    """One run under both tools."""

    run: Run
    facts: int
    """How many either of the tools has."""
    found: list[Found]


def outcome_of(run: Run, tools: tuple[Tool, Tool] = TOOLS) -> Outcome:
    """One after the other with the same target."""
    server = Server()
    try:
        locust, plimsoll = (_facts(run, tool, server) for tool in tools)
    finally:
        server.close()
    return Outcome(run, len(locust.keys() | plimsoll.keys()), compare(run.name, locust, plimsoll))


def _facts(run: Run, tool: Tool, server: Server) -> Facts:
    left = carry_out(run, tool, server)
    try:
        return facts_of(run, left)
    finally:
        clean(left)


def score(
    runs: list[Run],
    listed: list[Listed],
    jobs: int,
    report: Callable[[Outcome], None],
    every: Iterable[Run],
    tools: tuple[Tool, Tool] = TOOLS,
) -> Score:
    """`report` is called with each outcome. Of `every` run, those left out say nothing about what no longer occurs."""
    total = Score()
    occurred: set[Listed] = set()
    alone = [run for run in runs if "alone" in run.options]

    def carried_out(run: Run) -> Outcome:
        return outcome_of(run, tools)

    with ThreadPoolExecutor(jobs) as pool:
        for outcome in chain(pool.map(carried_out, [run for run in runs if run not in alone]), map(carried_out, alone)):
            total.facts += outcome.facts
            total.files.add(outcome.run.file)
            for found in outcome.found:
                entry = next((each for each in listed if each.explains(found)), None)
                if entry is None:
                    total.unexplained.append(found)
                else:
                    occurred.add(entry)
                    total.listed.append((found, entry))
            report(outcome)
    left_out = {run.name for run in every} - {run.name for run in runs}
    judged = [entry for entry in listed if not any(entry.concerns(name) for name in left_out)]
    total.gone = [entry for entry in judged if entry not in occurred]
    return total
