"""A run that is checked and can begin, as one process hands it to another."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.report.writing import STDOUT
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.run.placers.request import PlacedWorkers


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the results go, besides the store."""

    store: str | None = None
    name: str | None = None
    secret: frozenset[str] = frozenset()
    """Options of the locustfile whose values are kept nowhere."""
    thresholds: tuple[str, ...] = ()
    csv: str | None = None
    csv_full_history: bool = False
    json: bool = False
    """Locust's JSON on stdout."""
    json_file: str | None = None
    summary: str | None = None
    """The file of all that is known of the run, as JSON; "-" is stdout."""
    html: str | None = None
    junit: str | None = None
    hlog: str | None = None
    exchanges: str | None = None
    """The Parquet file of every exchange."""
    only_summary: bool = False
    observe: tuple[str, ...] = ()
    """What is observed of the target, as `observe.kinds` has it."""
    out: tuple[str, ...] = ()
    """Where its figures go while it runs, as `outputs.kinds` has it."""
    labels: dict[str, str] = field(default_factory=dict)
    """What the run is of in an experiment, for `out`: experiment, variant, level, operation, repeat."""

    @property
    def is_stdout_taken(self) -> bool:
        """Something that a program reads goes to stdout; the tables then go to stderr."""
        return self.json or STDOUT in (self.summary, *(text.partition("=")[2].partition(",")[0] for text in self.out))

    @property
    def shows_table(self) -> bool:
        """A table is drawn while the run goes on."""
        return not self.only_summary and sys.stderr.isatty() and sys.stdout.isatty()

    def files(self) -> list[tuple[str, str]]:
        """(format, path) of what is written once the run is over."""
        wanted = {
            "locust.json": self.json_file,
            "run.json": self.summary,
            "html": self.html,
            "run.junit": self.junit,
            "hlog": self.hlog,
        }
        return [(format, path) for format, path in wanted.items() if path]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message."""
        return {
            **asdict(self),
            "secret": sorted(self.secret),
            "thresholds": list(self.thresholds),
            "observe": list(self.observe),
            "out": list(self.out),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outputs:
        """The inverse of `to_dict`."""
        several = {name: tuple(data[name]) for name in ("thresholds", "observe", "out")}
        return cls(**{**data, **several, "secret": frozenset(data["secret"])})


def check_receivers(outputs: Outputs, *, has_page: bool) -> None:
    """What is observed, and where figures go. Raises UsageError for a text that is not known."""
    # Only here: what few runs need takes a while to import.
    if outputs.observe:
        from plimsoll.observe.kinds import touches

        for text in outputs.observe:
            touches(text)
    if outputs.out:
        from plimsoll.outputs.kinds import opened

        for text in outputs.out:
            opened(text, has_page=has_page)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What is to be run, and where its results go."""

    plan: RunPlan
    """Its command is the one that a person can type for the same run."""
    outputs: Outputs
    workers: PlacedWorkers | None = None
    """Workers that a placer starts for it; None: they are of this machine."""

    def write(self, file: Path) -> None:
        """Only this user can read the file: scenarios have credentials."""
        workers = None if self.workers is None else asdict(self.workers)
        text = json.dumps({"plan": self.plan.to_dict(), "outputs": self.outputs.to_dict(), "workers": workers})
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(text)

    @classmethod
    def take(cls, file: Path) -> PlannedRun:
        """What `write` wrote. The file is removed."""
        data = json.loads(file.read_text())
        file.unlink()
        workers = None
        if data["workers"] is not None:
            # Only here: few runs have one.
            from plimsoll.run.placers.request import PlacedWorkers

            workers = PlacedWorkers(**data["workers"])
        return cls(RunPlan.from_dict(data["plan"]), Outputs.from_dict(data["outputs"]), workers)
