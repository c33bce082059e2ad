"""A run from beginning to end: watched, kept, reported, and turned into an exit code."""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from plimsoll.errors import PlimsollError, StoreError, UsageError
from plimsoll.plain_text import LogFormatter, plain_lines, printable
from plimsoll.report.render.terminal import shows_ansi
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.report.text import room
from plimsoll.report.writing import STDOUT, check_writable
from plimsoll.run import interrupts
from plimsoll.run.control_group import ROOT, PeriodsSince
from plimsoll.run.coordinator.background_stream import BackgroundStream
from plimsoll.run.coordinator.coordinator import Coordinator
from plimsoll.run.coordinator.display import Display, LineDisplay
from plimsoll.run.coordinator.gate import ThresholdMonitor
from plimsoll.run.coordinator.progress import Observer
from plimsoll.run.coordinator.server_timing import ServerTimings
from plimsoll.run.coordinator.slow_requests import SlowRequests
from plimsoll.run.coordinator.store_writer import StoreWriter
from plimsoll.run.exit_code import exit_code
from plimsoll.run.guard import guarded
from plimsoll.run.limits import ensure_open_files
from plimsoll.run.main_log import RUN_LOGGERS, log_start, main_log
from plimsoll.run.reflection import with_schema
from plimsoll.run.sizing import CapacityWarning
from plimsoll.stats.thresholds.watch import parse_threshold
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plimsoll.report.assessment import Assessment
    from plimsoll.run.coordinator.output_feed import OutputFeed
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.coordinator.recovery.resumption import Resumption
    from plimsoll.run.coordinator.target_watch import TargetWatch
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import Outputs
    from plimsoll.run.result import Result
    from plimsoll.run.transport.master import JoinedMachine, Master
    from plimsoll.run.transport.messages import Logged

logger = logging.getLogger("plimsoll.run")


class RunListener(Observer):
    """An observer that also sees what comes before and after the run."""

    def begins(self, runner: Coordinator, gate: ThresholdMonitor) -> None:
        """It is about to start its processes. gate: knows how its thresholds stand."""

    def stored_as(self, run: str) -> None:
        """Its id in the store."""

    def log(self, level: str, text: str) -> None:
        """What this process or a worker logs. From any thread."""

    def over(self, status: str, view: RunView, assessment: Assessment, exit_code: int, message: str) -> None:
        """message: why it has failed."""


def check_run(plan: RunPlan, outputs: Outputs) -> None:
    """Raises UsageError for what is wrong with the options of a run. Starts and opens nothing, and leaves files as they
    are."""
    guarded(plan, time.time())
    for text in outputs.thresholds:
        parse_threshold(text)
    for path in (*(path for _, path in outputs.files()), plan.logfile, outputs.exchanges):
        check_writable(path)
    if outputs.csv is not None:
        # Here and below: what few runs need takes a while to import.
        from plimsoll.report.render.locust_csv import CsvFiles

        CsvFiles(outputs.csv).check()
    if outputs.exchanges:
        from plimsoll.report.render.interval_rows import import_parquet

        import_parquet()
    if outputs.observe:
        from plimsoll.observe.kinds import touches

        for text in outputs.observe:
            touches(text)
    if outputs.out:
        from plimsoll.outputs.kinds import opened

        for text in outputs.out:
            opened(text, has_page=plan.has_page)


def perform(
    plan: RunPlan,
    outputs: Outputs,
    listener: RunListener | None = None,
    master: Master | None = None,
    resumption: Resumption | None = None,
    joined: list[JoinedMachine] | None = None,
) -> int:
    """The exit code. master: of the workers that have joined. resumption: the run is not a new one. joined: machines
    for its workers, chosen before. Raises PlimsollError when the run cannot begin, or has failed."""
    check_run(plan, outputs)
    plan = with_schema(guarded(plan, time.time()))
    if plan.joined and joined is None:
        if master is None:
            raise UsageError(
                "the workers of this run joined by themselves: `plimsoll run --master` has them join again"
            )
        joined = master.choose()
        plan = replace(plan, processes=len(joined))
    if not plan.is_remote:
        ensure_open_files(plan.most_users, plan.processes)
    csv = None
    if outputs.csv is not None:
        csv = CsvObserver(outputs.csv, outputs.csv_full_history, bool(plan.locustfiles))
    if outputs.exchanges:
        # Only here: numpy takes a while to import.
        from plimsoll.run.exchange_log import ExchangeFile
    runner: Coordinator
    display: Display
    with ExitStack() as kept, ExitStack() as stack:
        watch = _watch(outputs.observe, stack)
        exchanges = stack.enter_context(ExchangeFile(outputs.exchanges)) if outputs.exchanges else None
        gate = ThresholdMonitor(
            lambda: (*outputs.thresholds, *runner.launch.thresholds),
            plan.warmup,
            lambda status: runner.end(status),
            plan.times_of,
        )
        observers: list[Observer] = [gate]
        output = (lambda data: display.output(data)) if _shows_table(outputs) else None
        log = _passed_on(listener, plan.processes) if listener else None
        ready = (lambda: master.ready) if master is not None else list
        add = exchanges.add if exchanges else None
        runner = Coordinator(plan, observers, output, add, log, joined, ready, resumption)
        if listener:
            listener.begins(runner, gate)
        stack.callback(runner.close)
        runner.start_processes()
        # Only now, while those processes import what they need: the store and the display are slow to import.
        from plimsoll.report.assessment import assess
        from plimsoll.run.manifest import manifest
        from plimsoll.store import Store

        @cache
        def about() -> dict[str, Any]:
            # Not before the run begins: the locustfile may have a say in how many users there are, and how long.
            if resumption is not None:
                return resumption.manifest
            return manifest(
                runner.plan, outputs.name, outputs.secret, shaped=runner.launch.shaped, thresholds=outputs.thresholds
            )

        store = kept.enter_context(Store.open(outputs.store))
        display = stack.enter_context(_display(outputs, stack.enter_context(BackgroundStream(sys.stderr))))
        _log_to(_log_handler(plan, display), plan, stack)
        if listener:
            _log_to(_CallingHandler(listener.log, "%(name)s: %(message)s"), plan, stack)
        log_start(plan)
        runner.launch.log_files()
        opener = resumption.opener(store) if resumption is not None else partial(store.start_run, run=plan.run_id)
        recorded = resumption.recorded if resumption is not None else None
        store_writer = StoreWriter(opener, about, partial(_stored_as, runner, listener), recorded)
        # The gate may refuse to begin; nothing is kept then.
        timings = ServerTimings()
        slow = SlowRequests(watch.server_ms if watch else lambda _: None)
        sized = CapacityWarning(lambda: runner.launch)
        # Files of an earlier run are the last to be touched: until then the run can be refused.
        throttling = ThrottlingObserver()
        feed = _feed(outputs, plan, about, store_writer, gate)
        seeing = (display, listener, store_writer, feed, sized, timings, slow, watch, csv, exchanges, throttling)
        observers += [each for each in seeing if each]
        # Before the run: its loop takes signals itself, and leaves them to this as soon as it ends.
        kept.enter_context(interrupts.finishing())
        result = runner.run()
        notes, facts = [*result.notes, *_differences(joined or ())], _facts(result, gate)
        if not plan.is_remote:
            throttling.add_to(notes, facts)
        seen = [*([watch.finish(result.ended)] if watch else []), timings.finish(), slow.finish()]
        notes += [note for each in seen for note in each.notes]
        if observed := {source: said for each in seen for source, said in each.facts.items()}:
            facts["observed"] = observed
        series = [found for each in seen for found in each.series]
        notes += feed.finish() if feed else []
        lost = store_writer.finish(result.status, result.ended, notes, facts, series)
        # What others will find in the store, not what this process has of it in its caches.
        store.close()
        source = None if lost else _read_back(outputs.store, store_writer.run, lost, kept)
        if source is None:
            known = {**facts, "not_stored": "; ".join(lost)}
            assessment = assess(result.view, about(), known, result.status)
            source = RunSource.of_view(result.view, assessment, result.started or 0.0)
        view = source.view
        errors = [each for each in (result.error, _not_stored(lost)) if each]
        code = errors[0].exit_code if errors else _exit_code(runner.plan, result, source, gate.limits_failures)
        main_log(plan).info("Shutting down (exit code %d)", code)
        if csv:
            csv.finish(view, source.assessment)
        if listener:
            listener.over(result.status, view, source.assessment, code, "; ".join(map(str, errors)))
        if feed:
            feed.end(result, view, source.assessment, code, notes)
            for missing in feed.close():
                if missing not in notes:
                    logger.warning(missing)
        # Not before the display has left the terminal.
        stack.close()
        # Of a run that was refused before its first request there is nothing to report but why.
        if result.error is None or source.view.total.requests:
            errors += report_run(outputs, source, (*notes, *lost))
    if errors:
        errors[0].args = ("; ".join(map(str, errors)),)
        raise errors[0]
    return code


def _stored_as(runner: Coordinator, listener: RunListener | None, run: str) -> None:
    runner.launch.keep()
    if listener:
        listener.stored_as(run)


def _watch(texts: tuple[str, ...], stack: ExitStack) -> TargetWatch | None:
    """stack: closes it. Raises UsageError."""
    if not texts:
        return None
    # Only here: numpy takes a while to import.
    from plimsoll.run.coordinator.target_watch import TargetWatch

    watch = TargetWatch(texts)
    stack.callback(watch.close)
    return watch


def _feed(
    outputs: Outputs,
    plan: RunPlan,
    about: Callable[[], dict[str, Any]],
    store_writer: StoreWriter,
    gate: ThresholdMonitor,
) -> OutputFeed | None:
    """None for a run without outputs. Raises UsageError."""
    if not outputs.out:
        return None
    # Only here, as few runs have one.
    from plimsoll.run.coordinator.output_feed import OutputFeed

    return OutputFeed(
        outputs.out, about, lambda: store_writer.run, gate.so_far, has_page=plan.has_page, is_strict=plan.strict
    )


def _differences(machines: Iterable[JoinedMachine]) -> list[str]:
    """Of workers that joined with another Python than this one."""
    return list(dict.fromkeys(f"the worker on {each.host} {each.difference}" for each in machines if each.difference))


def _facts(result: Result, gate: ThresholdMonitor) -> dict[str, Any]:
    """What is known of a run besides what it measured."""
    return {
        "lost_workers": result.lost_workers,
        "clock_step_ms": result.clock_step * 1e3,
        "coordinator_silence_s": result.silence,
        "thresholds": [each.to_dict() for each in gate.results(result.view.rate_s)],
        **result.facts,
    }


class ThrottlingObserver(Observer):
    """Compares how often the control group of this machine's workers ran out of CPU time, before the run and after."""

    def __init__(self, root: Path = ROOT) -> None:
        """root: where sys and proc are."""
        self._since = PeriodsSince(root)

    def start(self, started: float, stamp: str) -> None:
        # The workers' start is no part of the run.
        self._since.restart()

    def add_to(self, notes: list[str], facts: dict[str, Any]) -> None:
        """At the end of the run: a fact where there is a limit, and a note where it mattered."""
        passed = self._since.passed()
        if not passed.periods:
            return
        facts.update(passed.to_facts())
        if passed.is_material:
            notes.append(
                f"the generator was throttled in {passed}: its control group (container) had used up its CPU time, "
                "which makes requests late; raise its CPU limit"
            )


class CsvObserver(Observer):
    """Writes Locust's CSV files as the run goes on."""

    def __init__(self, prefix: str, full_history: bool, of_locustfile: bool) -> None:
        from plimsoll.report.render.locust_csv import CsvFiles

        self._files = CsvFiles(prefix, full_history, of_locustfile)
        self._failed = False

    def start(self, started: float, stamp: str) -> None:
        """Raises UsageError when they cannot be written."""
        self._files.begin()

    def second(self, progress: Progress) -> None:
        try:
            unix_time = progress.started + progress.elapsed
            self._files.second(progress.view, unix_time, progress.users, progress.reporting)
        except OSError as error:
            self._say(error)

    def finish(self, view: RunView, assessment: Assessment) -> None:
        try:
            self._files.finish(view, assessment)
        except OSError as error:
            self._failed = False
            self._say(error)

    def _say(self, error: OSError) -> None:
        if not self._failed:
            logger.error("the CSV files are not complete: %s", error)
        self._failed = True


def _shows_table(outputs: Outputs) -> bool:
    return not outputs.only_summary and sys.stderr.isatty() and sys.stdout.isatty()


def _display(outputs: Outputs, stream: TextIO) -> Display:
    if not _shows_table(outputs):
        return Display(stream) if outputs.only_summary else LineDisplay(stream)
    from rich.console import Console

    from plimsoll.run.coordinator.terminal_display import TerminalDisplay

    return TerminalDisplay(Console(file=stream, highlight=False))


def _log_handler(plan: RunPlan, display: Display) -> logging.Handler:
    if plan.skip_log_setup:
        # As Python logs by itself: warnings and worse, as they are.
        handler = _CallingHandler(lambda _, text: display.write(text), "%(message)s")
        handler.setLevel(logging.WARNING)
        return handler
    if plan.logfile is not None:
        return logging.FileHandler(plan.logfile)
    return _CallingHandler(lambda _, text: display.write(text))


def _log_to(handler: logging.Handler, plan: RunPlan, stack: ExitStack) -> None:
    """Log in Locust's format, where its users look for it."""
    if handler.formatter is None:
        host = socket.gethostname().partition(".")[0]
        handler.setFormatter(LogFormatter(f"[%(asctime)s] {host}/%(levelname)s/%(name)s: %(message)s"))
    stack.callback(handler.close)
    for each in map(logging.getLogger, RUN_LOGGERS):
        each.addHandler(handler)
        each.setLevel(plan.loglevel)
        stack.callback(each.removeHandler, handler)


class _CallingHandler(logging.Handler):
    """call: gets the level and the text of each line."""

    def __init__(self, call: Callable[[str, str], None], format: str | None = None) -> None:
        super().__init__()
        self._call = call
        if format is not None:
            self.setFormatter(LogFormatter(format))

    def emit(self, record: logging.LogRecord) -> None:
        self._call(record.levelname, self.format(record))


def _passed_on(listener: RunListener, workers: int) -> Callable[[int, Logged], None]:
    """What the processes of a run log; of several, with who it was. The main node's index is their number."""

    def log(index: int, logged: Logged) -> None:
        who = "" if workers == 1 else "main node: " if index == workers else f"worker {index}: "
        # Also from other machines.
        listener.log(printable(logged.level), who + plain_lines(logged.text))

    return log


def _read_back(place: str | None, run: str | None, lost: list[str], kept: ExitStack) -> RunSource | None:
    """What is reported is what is stored; None if that cannot be read or is not all of the run. lost: gets why. kept:
    closes the store."""
    from plimsoll.store import Store

    try:
        store = kept.enter_context(Store.open(place, create=False))
        source = RunSource.of(store.run(run or ""))
        check = source.assessment.validity.named("stored")
    except StoreError as error:
        lost.append(f"the run cannot be read: {error}")
        return None
    if check is None or check.state != "failed":
        return source
    lost.append(check.text)
    return None


def _print(text: str, stream: TextIO, failed: list[PlimsollError]) -> None:
    """failed: gets why it could not be printed. A reader that has gone away, such as `head`, has what it wanted."""
    try:
        print(text, end="", file=stream, flush=True)
    except OSError as error:
        # What is left in the stream's buffer would fail once more when Python ends.
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), stream.fileno())
        if error.errno != errno.EPIPE:
            failed.append(PlimsollError(f"cannot write the report to {stream.name}: {error.strerror}"))


def _not_stored(lost: list[str]) -> StoreError | None:
    """What a run whose record is not complete ends with."""
    if not lost:
        return None
    return StoreError(f"the run is not completely stored; its report comes from memory. {'; '.join(lost)}")


def report_run(outputs: Outputs, source: RunSource, notes: tuple[str, ...] = ()) -> list[PlimsollError]:
    """Everything that was asked for; returns what went wrong, as one file must not cost the others.

    notes: of a run that could not be read back from its store.
    """
    # What makes reports takes a while to import; a run must not wait for it.
    from plimsoll.report.outputs import text, write

    stream = sys.stderr if outputs.is_stdout_taken else sys.stdout
    tables = text(source, "tables", OutputRequest(width=room(stream), colour=shows_ansi(stream)))
    known = "" if source.run is not None else "".join(f"note: {note}\n" for note in notes)
    failed: list[PlimsollError] = []
    _print(f"{tables}{known}", stream, failed)
    if outputs.json:
        _print(text(source, "locust.json", OutputRequest()), sys.stdout, failed)
    for format, path in outputs.files():
        try:
            if path == STDOUT:
                _print(text(source, format, OutputRequest()), sys.stdout, failed)
            else:
                write(source, format, path, OutputRequest())
        except PlimsollError as error:
            failed.append(error)
    return failed


def _exit_code(plan: RunPlan, result: Result, source: RunSource, failures_limited: bool) -> int:
    thresholds = source.assessment.thresholds
    # Who limits failures has said how many there may be.
    failed = source.view.total.failures > 0 and not failures_limited
    return exit_code(
        invalid=not source.assessment.validity.valid,
        on_invalid=plan.exit_code_on_invalid,
        unclean=plan.strict and bool(source.assessment.unclean),
        chosen=result.exit_code,
        threshold_failed=not all(each.passed or each.within_share for each in thresholds),
        threshold_within_share=any(each.within_share for each in thresholds),
        failures=failed or bool(source.view.exceptions),
        on_error=plan.exit_code_on_error if result.on_error is None else result.on_error,
        listener_failed=result.listener_failed,
    )
