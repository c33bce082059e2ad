"""Run the same locustfiles under Locust and under Plimsoll and compare: `python -m tests.parity [NAME…] [--jobs N]`

A NAME is a part of a run's name, or a pattern with `*`. The exit status is 1 after a difference that is not in
differences.toml, and after one that is there and no longer occurs.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .case import all_runs
from .differences import load
from .digest import grouped
from .facts import as_text
from .needs import missing
from .score import score
from .tool import LOCUST, TOOLS

if TYPE_CHECKING:
    from .case import Run
    from .differences import Found, Listed
    from .digest import Place
    from .score import Outcome

WIDTH = 600
"""Characters of a value that are printed."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these runs; all by default")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time; 2 by default")
    parser.add_argument("--self", action="store_true", help="Locust beside itself: is every case the same twice?")
    parser.add_argument("--list", action="store_true", help="print the names of the runs and exit")
    arguments = parser.parse_args()
    every = all_runs()
    runs = [run for run in every if not arguments.names or any(_is(run, name) for name in arguments.names)]
    if arguments.list:
        print("\n".join(run.name for run in runs))
        return 0
    if not Path(LOCUST.run[0]).exists():
        sys.exit(f"parity: {LOCUST.run[0]} is missing; `make parity` installs it")
    if not runs:
        sys.exit("parity: no such run; --list has their names")
    runs = [run for run in runs if not _skipped(run)]
    listed = [] if arguments.self else load()
    tools = (LOCUST, LOCUST) if arguments.self else TOOLS
    total = score(runs, listed, arguments.jobs, Teller(listed), every, tools)
    for entry in total.gone:
        print(f"\nlisted, but no longer so: {entry.run}: {entry.fact}")
    print(f"\n{total}")
    return 0 if total.good else 1


def _installed(path: Path | None = None) -> bool:
    return Path(LOCUST.run[0]).exists()


def _skipped(run: Run) -> bool:
    if needs := missing(run):
        print(f"{run.name}: skipped, for {' and '.join(needs)} is not installed; `make parity` installs what it can")
    return bool(needs)


def _is(run: Run, name: str) -> bool:
    return name in run.name or fnmatchcase(run.name, name)


class Teller:
    """Prints each run as it is done, with its differences; one that an earlier run had as well only by number."""

    def __init__(self, listed: list[Listed]) -> None:
        self._listed = listed
        self._printed: set[Place] = set()

    def __call__(self, outcome: Outcome) -> None:
        new = [each for each in outcome.found if not any(entry.explains(each) for entry in self._listed)]
        differ = f", {len(new)} of {len(outcome.found)} differences are not listed" if outcome.found else ""
        print(f"{outcome.run.name}: {outcome.facts} facts{differ}", flush=True)
        for place, (first, count, details) in grouped(new).items():
            if place not in self._printed:
                self._printed.add(place)
                self._print(place, first, count, details)

    def _print(self, place: Place, first: Found, count: int, details: tuple[Any, Any]) -> None:
        more = f" and {count - 1} more" if count > 1 else ""
        print(f"    {first.fact}{more}{f' at {place[0]}' if place[0][:1] in ('[', '.') else ''}")
        for name, value in zip(("locust", "plimsoll"), details, strict=True):
            print(f"        {name:9} {as_text(value)[:WIDTH]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
