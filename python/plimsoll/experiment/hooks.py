"""The commands around a run, and what the target is asked before and after it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.health import below, get, value_of
from plimsoll.experiment.placeholders import fill, fill_all
from plimsoll.redact import storable
from plimsoll.run.supervised.process import Process, StartError, last_lines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from plimsoll.experiment.spec import Hook, TargetFact

LONGEST_OUTPUT = 256 << 10
"""Bytes that are kept of what a hook prints."""
FACT_SECONDS = 30.0
STOP_TIMEOUT_S = 5.0
"""Seconds that a command which took too long has to end."""


@dataclass(frozen=True, slots=True)
class Commands:
    """The folder, environment and placeholders with which commands run."""

    values: Mapping[str, object]
    """The values of placeholders, by name."""
    cwd: Path
    env: Mapping[str, str]
    """The whole environment of a command."""
    folder: Path
    """The folder for the output of the commands."""

    def run(self, command: tuple[str, ...], within: float, name: str) -> str:
        """What it prints, up to 256 KiB. It must end with 0 within so many seconds; else, and when it cannot be
        started, CellError is raised. What it leaves running is ended. name: of the files for its output."""
        words = fill_all(command, self.values)
        output, errors = self._files(name)
        shown = shlex.join(words)
        try:
            with Process(
                words, output=output, errors=errors, cwd=self.cwd, env=self.env, grace=STOP_TIMEOUT_S
            ) as process:
                ending = process.wait(within)
                too_long = ending is None
                ending = ending or process.stop()
        except StartError as error:
            raise CellError(f"`{shown}` cannot be started: {error}", command=words) from error
        if too_long or ending.status:
            log = process.tail() or last_lines(output)
            what = f"did not end within {within:g} s" if too_long else f"failed: {ending}"
            raise CellError(f"`{shown}` {what}", command=words, ending=str(ending), log=log)
        return kept(output)

    def hook(self, hook: Hook, kind: str) -> str:
        """What it prints. kind: "seed", … Raises CellError."""
        return self.run(hook.command, hook.within, kind if hook.name == kind else f"{kind}-{hook.name}")

    def fact(self, fact: TargetFact) -> int | float | str:
        """A JSON number or text, from the target or the command. Raises CellError."""
        if fact.command is not None:
            return value_of(self.run(fact.command, FACT_SECONDS, f"fact-{fact.name}"))
        place = below(str(self.values["url"]), fill(fact.path or "/", self.values))
        try:
            reply = get(place)
        except OSError as error:
            raise CellError(f"{fact.name}: GET {place}: {error.strerror or error}") from error
        if not 200 <= reply.status < 300:
            raise CellError(f"{fact.name}: GET {place} answers {reply.status}")
        value = value_of(reply.text)
        return storable(value) if isinstance(value, str) else value

    def _files(self, name: str) -> tuple[Path, Path]:
        """New ones: a hook may be run twice."""
        plain = "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
        number = 1
        while (output := self.folder / f"{plain}-{number}.out").exists():
            number += 1
        return output, output.with_suffix(".err")


def kept(output: Path) -> str:
    """What a file begins with, and a line that says so if that is not all."""
    length = output.stat().st_size
    with output.open("rb") as opened:
        text = opened.read(LONGEST_OUTPUT).decode("utf-8", "replace")
    return storable(text if length <= LONGEST_OUTPUT else f"{text}\n[the first {LONGEST_OUTPUT} of {length} bytes]\n")
