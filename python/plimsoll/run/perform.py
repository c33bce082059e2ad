"""A run from beginning to end: watched, kept, reported, and turned into an exit code."""

from __future__ import annotations

import logging
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, StoreError, UsageError
from plimsoll.report import json
from plimsoll.report.console import heading, tables
from plimsoll.report.locust_csv import CsvFiles
from plimsoll.run.keeper import Keeper
from plimsoll.run.limits import ensure_open_files
from plimsoll.run.live import Lines, Quiet, Terminal
from plimsoll.run.local import LocalRunner
from plimsoll.run.manifest import manifest
from plimsoll.run.verdict import exit_code
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.live import Display
    from plimsoll.run.local import Result
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.progress import Observer, Progress
    from plimsoll.store import StoredRun

logger = logging.getLogger("plimsoll.run")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the results go, besides the store."""

    store: str | None = None
    name: str | None = None
    csv: str | None = None
    csv_full_history: bool = False
    json: bool = False
    """JSON on stdout; the tables then go to stderr."""
    json_file: str | None = None
    only_summary: bool = False


def perform(plan: RunPlan, outputs: Outputs, command: Sequence[str]) -> int:
    """The exit code. command: as it was typed. Raises PlimsollError when the run cannot begin, or has failed."""
    ensure_open_files(plan.users, plan.processes)
    csv = CsvObserver(outputs.csv, outputs.csv_full_history) if outputs.csv is not None else None
    for path in (outputs.json_file, plan.logfile):
        _check_writable(path)
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(outputs.store))
        display = stack.enter_context(_display(outputs))
        _log_to(display, plan, stack)
        keeper = Keeper(store.start_run, manifest(plan, command, outputs.name))
        observers: list[Observer] = [display, *([csv] if csv else []), keeper]
        output = display.output if isinstance(display, Terminal) else None
        result = LocalRunner(plan, observers, output).run()
        lost = keeper.finish(result.status, result.ended, result.notes)
        stored = None if lost else _read_back(store, keeper.run)
        view = RunView.of(stored) if stored else result.view
        code = result.error.exit_code if result.error else _exit_code(plan, result, view)
        logger.info("Shutting down (exit code %d)", code)
    if csv:
        csv.finish(view)
    _report(outputs, view, stored, [*result.notes, *lost])
    if result.error:
        raise result.error
    return code


class CsvObserver:
    """Writes Locust's CSV files as the run goes on."""

    def __init__(self, prefix: str, full_history: bool) -> None:
        """Raises UsageError when they cannot be written."""
        self._files = CsvFiles(prefix, full_history)
        self._files.check()
        self._failed = False

    def start(self, started: float, stamp: str) -> None:
        pass

    def second(self, progress: Progress) -> None:
        try:
            self._files.second(progress.view, progress.started + progress.elapsed, progress.users)
        except OSError as error:
            self._say(error)

    def finish(self, view: RunView) -> None:
        try:
            self._files.finish(view)
        except OSError as error:
            self._failed = False
            self._say(error)

    def _say(self, error: OSError) -> None:
        if not self._failed:
            logger.error("the CSV files are not complete: %s", error)
        self._failed = True


def _display(outputs: Outputs) -> Display:
    if outputs.only_summary:
        return Quiet()
    return Terminal() if sys.stderr.isatty() and sys.stdout.isatty() else Lines()


def _log_to(display: Display, plan: RunPlan, stack: ExitStack) -> None:
    """Log in Locust's format, where its users look for it."""
    handler = logging.FileHandler(plan.logfile) if plan.logfile is not None else _DisplayHandler(display)
    host = socket.gethostname().partition(".")[0]
    handler.setFormatter(logging.Formatter(f"[%(asctime)s] {host}/%(levelname)s/%(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(plan.loglevel)
    stack.callback(handler.close)
    stack.callback(logger.removeHandler, handler)


class _DisplayHandler(logging.Handler):
    def __init__(self, display: Display) -> None:
        super().__init__()
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        self._display.write(self.format(record))


def _check_writable(path: str | None) -> None:
    """Raises UsageError when the file cannot be written; its folder is made."""
    if path is None:
        return
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _read_back(store: Store, run: str | None) -> StoredRun | None:
    """What is reported is what is kept; from memory only if the store cannot be read."""
    try:
        return store.run(run or "")
    except StoreError as error:
        logger.error("the numbers below come from memory: %s", error)
        return None


def _report(outputs: Outputs, view: RunView, stored: StoredRun | None, notes: Sequence[str]) -> None:
    lines = ["from memory, as the store does not have all of this run", *(f"note: {note}" for note in notes)]
    above = heading(stored, view) if stored else "\n".join(lines)
    print(f"{above}\n\n{tables(view)}", file=sys.stderr if outputs.json else sys.stdout, flush=True)
    document = json.dumps(json.document(view, stored)) if outputs.json or outputs.json_file else ""
    if outputs.json:
        print(document, flush=True)
    if outputs.json_file:
        try:
            Path(outputs.json_file).write_text(document + "\n")
        except OSError as error:
            raise PlimsollError(f"cannot write {outputs.json_file}: {error.strerror}") from error


def _exit_code(plan: RunPlan, result: Result, view: RunView) -> int:
    return exit_code(
        lost_workers=result.lost_workers > 0,
        chosen=result.exit_code,
        failures=view.total.failures > 0 or bool(view.exceptions),
        on_error=plan.exit_code_on_error,
        listener_failed=result.listener_failed,
    )
