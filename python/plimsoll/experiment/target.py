"""The target of one cell: what it is made of, started, asked what it is, and stopped."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.experiment import container, source
from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.health import wait_until_healthy
from plimsoll.experiment.hooks import Commands
from plimsoll.experiment.placeholders import fill, fill_all
from plimsoll.experiment.ports import free_port
from plimsoll.redact import redact_options, storable_json
from plimsoll.run.supervised.process import Process, ProcessEnd, StartError

if TYPE_CHECKING:
    from plimsoll.experiment.cell_values import CellFolder, ExperimentCell
    from plimsoll.experiment.source import SourceCheckout
    from plimsoll.experiment.spec import Experiment, Variant

_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def known_values(cell: ExperimentCell, spec: Experiment, variant: Variant) -> dict[str, object]:
    """The placeholders whose values are known before anything is made or started."""
    return {
        "python": sys.executable,
        "folder": spec.folder,
        "variant": variant.build,
        "level": _number(cell.level.value) if cell.level else "",
        "operation": cell.operation,
        "repeat": cell.repeat,
        "seed": cell.seed,
    }


def placeholder_values(
    cell: ExperimentCell, spec: Experiment, variant: Variant, made: SourceCheckout, port: int
) -> dict[str, object]:
    """What `{port}` and the others become in one cell."""
    values = {
        **known_values(cell, spec, variant), "source": made.folder,
        "port": port, "port2": free_port(), "port3": free_port(),
    }  # fmt: skip
    return {**values, "url": fill(variant.target.url, values).rstrip("/")}


@dataclass(eq=False)
class CellTarget:
    """A variant's target during one cell, as `prepared` makes it."""

    variant: Variant
    source: SourceCheckout
    values: dict[str, object]
    cwd: Path
    env: dict[str, str]
    log: Path
    engine: str | None = None
    """The program that runs containers, for a target with an image."""
    image_id: str | None = None
    build: str | None = None
    """What it says it is."""
    process: Process | None = None
    crashed: ProcessEnd | None = None
    """How the target ended, if it ended by itself."""
    notes: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return str(self.values["url"])

    @property
    def container(self) -> str:
        """The name of its container, if it is one."""
        return f"plimsoll-{os.getpid()}-{self.values['port']}"

    def commands(self, cell: ExperimentCell, folder: Path) -> Commands:
        """What runs the hooks of its variant."""
        names = ("url", "variant", "level", "operation", "repeat", "seed")
        known = {f"PLIMSOLL_{name.upper()}": str(self.values[name]) for name in names}
        return Commands(self.values, self.cwd, {**self.env, **known}, folder)

    def command(self) -> list[str]:
        """What starts it; empty when nothing is started."""
        target = self.variant.target
        words = list(fill_all(target.start, self.values))
        if target.image is None or self.engine is None or target.container_port is None:
            return words
        return container.run_words(
            self.engine, target.image, words, name=self.container, port=int(str(self.values["port"])),
            container_port=target.container_port, env=sorted(target.env),
        )  # fmt: skip

    def start(self) -> None:
        """Raises CellError when there is no such program or folder."""
        command = self.command()
        last = container.remove_words(self.engine, self.container) if self.engine else []
        try:
            self.process = Process(
                command, output=self.log, cwd=self.cwd, env=self.env, grace=self.variant.target.stop_within, last=last
            )
        except StartError as error:
            raise CellError(f"the target cannot be started: {error}", command=command) from error

    def wait_until_healthy(self, commands: Commands) -> None:
        """Wait until the target is healthy, and check its build. Raises CellError."""
        healthy = self.variant.target.healthy
        ask = None
        if healthy.command is not None:
            words = healthy.command

            def ask(seconds: float) -> str:
                try:
                    commands.run(words, seconds, "healthy")
                except CellError as error:
                    return error.one_line
                return ""

        wait_until_healthy(healthy, self.url, self.process, ask)
        if self.variant.target.build is not None:
            self.build = str(commands.fact(self.variant.target.build))
            self._check_build(self.build)

    def ended(self) -> ProcessEnd | None:
        """How it ended by itself; None while it runs, or if we did not start it."""
        if self.process is not None and self.crashed is None:
            self.crashed = self.process.poll()
        return self.crashed

    def stop(self, *, patient: bool = False) -> ProcessEnd | None:
        """End it and all that it started; how it ended. None: it is not ours. May be repeated. patient: as for
        `Process.stop`."""
        if self.process is None:
            return None
        crashed = self.ended()
        ending = self.process.stop(patient=patient)
        if crashed is None and ending.remark:
            self.notes.append(f"the target had to be killed: {ending.remark}")
        return ending

    def observed_pid(self) -> tuple[int, bool] | None:
        """A process, and whether it is part of the target or only what descends from it; None for none of ours."""
        if self.process is None:
            return None
        if self.engine is None:
            return self.process.parent, False
        pid = container.pid_of(self.engine, self.container)
        return (pid, True) if pid is not None else None

    def to_dict(self) -> dict[str, Any]:
        """JSON: what is known of it, without passwords."""
        known: dict[str, Any] = {
            "url": self.url,
            "command": redact_options(self.command()),
            "cwd": str(self.cwd),
            "commit": self.source.commit,
            "git": self.variant.target.git,
            "image": self.variant.target.image,
            "image_id": self.image_id,
            "build": self.build,
            "pid": self.process.pid if self.process else None,
            "log": self.process.tail() if self.process else [],
            "notes": self.notes,
        }
        kept: dict[str, Any] = storable_json({name: value for name, value in known.items() if value not in (None, [])})
        return kept

    def _check_build(self, said: str) -> None:
        asked = [self.variant.build, *filter(None, (self.variant.target.git, self.source.commit))]
        commit = self.source.commit or ""
        is_commit = bool(_COMMIT.fullmatch(said)) and commit.startswith(said)
        if said not in asked and not is_commit:
            raise CellError(f"the target says it is {said!r}, and {' or '.join(map(repr, asked))} was asked for")


def prepared(cell: ExperimentCell, spec: Experiment, where: CellFolder) -> CellTarget:
    """What is needed before anything is started: files, image, port. Raises CellError."""
    variant = spec.variant(cell.variant)
    target = variant.target
    made = source.SourceCheckout(spec.folder)
    if target.git is not None:
        made = source.check_out(spec.folder, target.git, where.shared)
    engine = container.find_engine() if target.image is not None else None
    image_id = container.fetch(engine, target.image) if engine and target.image else None
    values = placeholder_values(cell, spec, variant, made, free_port())
    cwd = spec.path(fill(target.cwd, values)) if target.cwd is not None else made.folder
    if not cwd.is_dir():
        raise CellError(f"cwd = {target.cwd!r} leads to {cwd}, which is no folder")
    env = {**os.environ, **{name: fill(value, values) for name, value in target.env.items()}}
    log = where.path / "target.log"
    return CellTarget(variant, made, values, cwd.resolve(), env, log, engine, image_id)


def _number(value: float) -> str:
    """The number as text, never in the form 1e+06."""
    return str(int(value)) if value == int(value) else repr(value)
