"""Client certificates of users: the files that the rows of a feeder name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.load.file_access import checked
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.protocols.tls import check_own
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.load.feeders import FeederTable

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def has_variable(text: str) -> bool:
    """Whether a text has values of a row."""
    return "${" in text


@dataclass(frozen=True, slots=True)
class RowFiles:
    """The files of certificates by the rows of a feeder, as a scenario has them."""

    feeder: str
    rows: list[list[str]]
    """Certificate and key of each row; they may be the same PEM file."""


@dataclass(frozen=True, slots=True)
class RowCertificate:
    """The client's own certificate, and its key, as texts with columns of a feeder."""

    texts: tuple[str, ...]
    """One PEM file with both, or certificate and key."""
    folder: Path
    """That of the plan, in which relative paths begin."""

    def definition(self, feeders: Mapping[str, FeederTable]) -> RowFiles:
        """In the format for native users. Raises BadValueError for a file that cannot be used, with its row."""
        name = self._feeder(feeders)
        table = feeders[name]
        files: list[list[str]] = []
        known: dict[tuple[str, ...], list[str]] = {}
        for number, row in enumerate(table.read.rows):
            values = dict(zip(table.read.columns, row, strict=True))
            try:
                paths = tuple(self._path(text, values) for text in self.texts)
                if paths not in known:
                    check_own(*paths)
                    known[paths] = [paths[0], paths[-1]]
            except BadValueError as error:
                raise BadValueError(f"{table.place(number)} of feeder {name}: {error}") from error
            files.append(known[paths])
        return RowFiles(name, files)

    def _feeder(self, feeders: Mapping[str, FeederTable]) -> str:
        """The name of the feeder. Raises BadValueError if there is none, or several, or without these columns."""
        variables = [variable for text in self.texts for variable in _VARIABLE.findall(text)]
        names: list[str] = sorted({variable.partition(".")[0] for variable in variables})
        for variable in variables:
            name, _, column = variable.partition(".")
            if name not in feeders:
                there = f"there are {listed(list(feeders))}" if feeders else "the plan has none"
                raise BadValueError(f"{shown(f'${{{variable}}}')} is no column of a feeder; {there}")
            if column not in feeders[name].read.columns:
                there = listed(feeders[name].read.columns)
                raise BadValueError(
                    f"names column {shown(column)}, which feeder {shown(name)} does not have; it has {there}"
                )
        if len(names) != 1:
            raise BadValueError("takes the columns of one feeder: ${people.cert}")
        return names[0]

    def _path(self, text: str, values: Mapping[str, str]) -> str:
        path: str = _VARIABLE.sub(lambda found: values[found[1].partition(".")[2]], text)
        if not path:
            raise BadValueError(f"{shown(text)} is empty; the path of a PEM file is expected")
        return str(checked(self.folder / Path(path).expanduser()))


def contradictions(name: str, table: FeederTable, choice: str) -> list[tuple[str, str]]:
    """Fields of a plan that contradict users who keep their rows of this feeder, and why. choice: of flows."""
    why = "contradicts cert: users keep their rows of this feeder"
    found = []
    if table.order != "sequential":
        found.append((f"feeder.{name}.order", f"{why}; leave it out"))
    if table.at_end != "recycle":
        found.append((f"feeder.{name}.at_end", f"{why}; leave it out"))
    if choice.partition(".")[0] == name and "." in choice:
        found.append(("choice", f"{why}; take another one"))
    return found
