"""A kept run as a file of another kind. A new format is a function here and a line in `FORMATS`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.errors import PlimsollError
from plimsoll.record import TIMES_OF
from plimsoll.report.assessment import assess
from plimsoll.report.render import hdr, rows
from plimsoll.stats.left_out import first_second
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from plimsoll.record import Interval
    from plimsoll.store import StoredRun


def export(run: StoredRun, format: str, path: str) -> list[str]:
    """Write a run to a file; returns the reasons to doubt the run, which the file tells too.

    Raises PlimsollError when that cannot be done, KeyError for an unknown format.
    """
    write = FORMATS[format]
    doubts = assess(RunView.of(run), run.manifest, run.facts).validity.reasons
    try:
        write(run, Path(path), doubts)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {os.strerror(error.errno) if error.errno else error}") from error
    return doubts


def _measured(run: StoredRun) -> Iterator[Interval]:
    """Without what is left out."""
    first = first_second(run.manifest, run.facts)
    return (interval for interval in run.intervals() if interval.second >= first)


def _hgrm(run: StoredRun, path: Path, invalid: Sequence[str]) -> None:
    total, timed = Histogram(), TIMES_OF[run.manifest.get("times_of") or "all"]
    for interval in _measured(run):
        if interval.outcome in timed and interval.timed:
            total.add(interval.response)
    _write(path, [hdr.percentile_table(total, invalid)])


def _hlog(run: StoredRun, path: Path, invalid: Sequence[str]) -> None:
    _write(path, (f"{line}\n" for line in hdr.log_lines(run, _measured(run), invalid)))


def _csv(run: StoredRun, path: Path, invalid: Sequence[str]) -> None:
    _write(path, rows.as_csv(_measured(run), invalid))


def _json(run: StoredRun, path: Path, invalid: Sequence[str]) -> None:
    _write(path, rows.as_json(run, _measured(run), invalid))


def _parquet(run: StoredRun, path: Path, invalid: Sequence[str]) -> None:
    rows.write_parquet(path, run, _measured(run), invalid)


def _write(path: Path, pieces: Iterable[str]) -> None:
    """Piece by piece: a long run does not fit into memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


FORMATS: dict[str, Callable[[StoredRun, Path, Sequence[str]], None]] = {
    "hgrm": _hgrm,
    "hlog": _hlog,
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}
