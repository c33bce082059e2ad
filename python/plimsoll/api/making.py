"""`plimsoll.run(…)`: the command `plimsoll run` as a process of its own, which ends when this one does."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.api.reading import Run, location_of, open
from plimsoll.errors import RunError, UsageError
from plimsoll.load.durations import parse_duration
from plimsoll.load.mistakes import BadValueError
from plimsoll.run.options.command import run_words
from plimsoll.run.options.option import Kind, Use
from plimsoll.run.options.rows import PAGE
from plimsoll.run.options.table import run_options
from plimsoll.run.supervised.generator import summary_of
from plimsoll.run.supervised.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.run.options.option import Option

GRACE_S = 60.0
"""For a run that is interrupted to end its users and to store what it measured."""
_POLL_S = 3600.0
_OTHERS = frozenset(
    ("attach", "dry_run", "headless", "list", "show_task_ratio", "show_task_ratio_json", "store", "worker")
)
"""Options with which the command makes no run of its own, or that have a place of their own here."""
_MESSAGE = re.compile(r"^(?:plimsoll|Error): ", re.MULTILINE)


def run(
    source: str | os.PathLike[str],
    *words: str,
    store: str | os.PathLike[str] | None = None,
    users: int | None = None,
    rate: str | None = None,
    run_time: str | float | None = None,
    host: str | None = None,
    threshold: str | Iterable[str] = (),
    **options: Any,
) -> Run:
    """Make a run as `plimsoll run` does, wait for its end, and return it from the store.

    source: a URL, a plan, a file of targets or a locustfile. words: classes of a locustfile, and its own options as on
    a command line. store: as for `open`; the file is made if there is none. users, rate, run_time (seconds, or "30s"),
    host, threshold and options: those of `plimsoll run`, by their long name with underscores; a list where an option
    may be repeated, True for a flag. Variables and configuration files count as for the command.

    A broken threshold or an invalid run is no error: `Run.thresholds` and `Run.is_valid` tell. Raises UsageError for
    an unknown option, and RunError with the command's own message when there is no run. A KeyboardInterrupt ends the
    run as Ctrl-C ends the command: what it measured is in the store.
    """
    typed = {"users": users, "rate": rate, "run_time": run_time, "host": host, "threshold": threshold, **options}
    given = _values({name: value for name, value in typed.items() if value is not None})
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        summary = Path(given.pop("summary", Path(folder, "summary.json")))
        command = [sys.executable, "-m", "plimsoll", "run", os.fspath(source)]
        # As variables: a URL may have a password, which everybody could read among the arguments.
        environment = {**os.environ, "PLIMSOLL_SUMMARY": str(summary)}
        if (location := location_of(store)) is not None:
            environment["PLIMSOLL_STORE"] = location
        made = _run_id([*command, *run_words(words, given)], environment, summary, Path(folder))
    return open(store).run(made)


def _run_id(command: list[str], environment: Mapping[str, str], summary: Path, folder: Path) -> str:
    """Of the run that the command made. Raises RunError when it made none."""
    printed, errors = folder / "out", folder / "err"
    before = summary.stat().st_mtime_ns if summary.exists() else None
    with Process(command, output=printed, errors=errors, env=environment, ask=signal.SIGINT, grace=GRACE_S) as process:
        while (end := process.wait(_POLL_S)) is None:
            pass
    written = summary.stat().st_mtime_ns if summary.exists() else None
    described = summary_of(summary).get("run") if written != before else None
    if not described:
        text = _MESSAGE.split(errors.read_text(errors="replace").strip())[-1]
        raise RunError(text or f"`plimsoll run` made no run: {end}")
    return str(described["id"])


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """What `run_words` takes. given: by the long names of options. Raises UsageError."""
    known = {row.key.replace("-", "_"): row for row in run_options() if row.use is Use.WORKS and row.group != PAGE}
    known = {name: row for name, row in known.items() if name not in _OTHERS}
    if own := [name for name in given if name in _OTHERS]:
        raise UsageError(f"run() has no option {own[0]!r}: it makes one run, without a page, and waits for its end")
    if unknown := [name for name in given if name not in known]:
        alike = get_close_matches(unknown[0], known, n=1)
        hint = f"; did you mean {alike[0]}?" if alike else "; docs/reference/options.md has all"
        raise UsageError(f"run() has no option {unknown[0]!r}{hint}")
    values = {known[name].value_name: _value(known[name], value) for name, value in given.items()}
    return {"only_summary": True, **values}


def _value(row: Option, value: Any) -> Any:
    if row.multiple:
        return (value,) if isinstance(value, str) else tuple(value)
    if row.kind is not Kind.DURATION:
        return os.fspath(value) if isinstance(value, os.PathLike) else value
    try:
        return parse_duration(str(value))
    except BadValueError as error:
        raise UsageError(f"{row.key.replace('-', '_')}: {error}") from error
