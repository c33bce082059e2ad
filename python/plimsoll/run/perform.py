"""A run from beginning to end: watched, kept, reported, and turned into an exit code."""

from __future__ import annotations

import errno
import logging
import os
import shlex
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from plimsoll.errors import PlimsollError, StoreError, UsageError
from plimsoll.redact import redact
from plimsoll.report.render.terminal import shows_ansi
from plimsoll.report.text import room
from plimsoll.report.writing import STDOUT, check_writable
from plimsoll.run import interrupts
from plimsoll.run.allocation import return_large_buffers
from plimsoll.run.coordinator.background_stream import BackgroundStream
from plimsoll.run.coordinator.coordinator import Coordinator
from plimsoll.run.coordinator.display import Display, LineDisplay
from plimsoll.run.coordinator.gate import ThresholdMonitor
from plimsoll.run.coordinator.progress import Observer
from plimsoll.run.coordinator.server_timing import ServerTimings
from plimsoll.run.coordinator.slow_requests import SlowRequests
from plimsoll.run.coordinator.store_writer import StoreWriter
from plimsoll.run.discovery import with_token_urls
from plimsoll.run.guard import guarded
from plimsoll.run.limits import ensure_open_files
from plimsoll.run.machine import ROOT, PeriodsSince
from plimsoll.run.main_log import CallingHandler, log_handler, log_start, log_to, main_log, passed_on
from plimsoll.run.planned import check_receivers
from plimsoll.run.reflection import with_schema
from plimsoll.run.result import exit_code
from plimsoll.run.sizing import CapacityWarning
from plimsoll.run.transport.lost_master import forget
from plimsoll.say.causes import throttling_notes
from plimsoll.stats.thresholds.grammar import parse_threshold
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record.facts import CpuPeriods, RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import RunSource
    from plimsoll.run.coordinator.output_feed import OutputFeed
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.coordinator.recovery.resumption import Resumption
    from plimsoll.run.coordinator.target_watch import TargetWatch
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import Outputs
    from plimsoll.run.result import Result
    from plimsoll.run.transport.master import JoinedMachine, Master

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
    if outputs.csv is not None:
        # Here and below: what few runs need takes a while to import.
        from plimsoll.report.render.locust_csv import CsvFiles

        # It makes its folder, in which existing scripts have other files too.
        CsvFiles(outputs.csv).check()
    for path in (*(path for _, path in outputs.files()), plan.logfile, outputs.exchanges):
        check_writable(path)
    if outputs.exchanges:
        from plimsoll.report.render.interval_rows import import_parquet

        import_parquet()
    check_receivers(outputs, has_page=plan.has_page)


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
    plan = with_token_urls(with_schema(guarded(plan, time.time())))
    if plan.joined and joined is None:
        if master is None:
            raise UsageError(
                "the workers of this run joined by themselves: `plimsoll run --master` has them join again"
            )
        joined = master.choose()
        plan = replace(plan, processes=len(joined))
    if not plan.joined:
        ensure_open_files(plan.most_users, plan.processes)
    return RunSession(plan, outputs, listener, master, resumption, joined).run()


class RunSession:
    """One run: its processes are started, its store is opened, it runs, is stored, and is reported."""

    def __init__(
        self,
        plan: RunPlan,
        outputs: Outputs,
        listener: RunListener | None,
        master: Master | None,
        resumption: Resumption | None,
        joined: list[JoinedMachine] | None,
    ) -> None:
        """The arguments are those of `perform`. plan: it may begin."""
        self._plan = plan
        self._outputs = outputs
        self._listener = listener
        self._master = master
        self._resumption = resumption
        self._joined = joined
        self._kept = ExitStack()
        """Closes what the report needs."""
        self._stack = ExitStack()
        """Closes what the run needs."""
        self._lost: list[str] = []
        """Why the run is not completely stored."""

    def run(self) -> int:
        """The exit code. Once. Raises PlimsollError as `perform`."""
        with self._kept, self._stack:
            self._start_processes()
            return_large_buffers()
            self._open_store()
            # Before the run: its loop takes signals itself, and leaves them to this as soon as it ends.
            self._kept.enter_context(interrupts.finishing())
            result = self._runner.run()
            notes, source = self._keep(result)
            errors: list[PlimsollError] = [error for error in (result.error, _not_stored(self._lost)) if error]
            code = errors[0].exit_code if errors else self._exit_code(result, source)
            self._finish(result, source, code, notes, errors)
            # Not before the display has left the terminal.
            self._stack.close()
            # Of a run that was refused before its first request there is nothing to report but why.
            if result.error is None or source.view.total.requests:
                errors += report_run(self._outputs, source, (*notes, *self._lost))
        if errors:
            errors[0].args = ("; ".join(map(str, errors)),)
            raise errors[0]
        return code

    def _start_processes(self) -> None:
        """They import what they need while this process does the same."""
        plan, outputs, master = self._plan, self._outputs, self._master
        self._csv = None
        if outputs.csv is not None:
            self._csv = CsvObserver(outputs.csv, outputs.csv_full_history, bool(plan.locustfiles))
        self._exchanges = None
        self._watch = _watch(outputs.observe, self._stack)
        if outputs.exchanges:
            # Only here: numpy takes a while to import.
            from plimsoll.run.exchange_log import ExchangeFile

            self._exchanges = self._stack.enter_context(ExchangeFile(outputs.exchanges))
        self._runner = runner = Coordinator(
            plan,
            output=self._print if outputs.shows_table else None,
            exchanges=self._exchanges.add if self._exchanges else None,
            log=passed_on(self._listener.log, plan.processes) if self._listener else None,
            joined=self._joined,
            ready=(lambda: master.ready) if master is not None else list,
            resumption=self._resumption,
        )
        self._gate = ThresholdMonitor(
            lambda: (*outputs.thresholds, *runner.launch.thresholds), plan.warmup, runner.end, plan.times_of
        )
        # It may refuse to begin; nothing is kept then.
        runner.observe(self._gate)
        if self._listener:
            self._listener.begins(runner, self._gate)
        self._stack.callback(runner.close)
        runner.start_processes()

    def _print(self, data: bytes) -> None:
        """What workers print while the run goes on."""
        self._display.output(data)

    def _open_store(self) -> None:
        """And the display, and all observers."""
        # Only now, while the processes import what they need: the store and the display are slow to import.
        from plimsoll.store import Store

        plan, outputs, resumption, runner = self._plan, self._outputs, self._resumption, self._runner
        self._store = self._kept.enter_context(Store.open(outputs.store))
        stream = self._stack.enter_context(BackgroundStream(sys.stderr))
        self._display = self._stack.enter_context(_display(outputs, stream))
        log_to(log_handler(plan, self._display.write), plan, self._stack)
        if self._listener:
            log_to(CallingHandler(self._listener.log, "%(name)s: %(message)s"), plan, self._stack)
        log_start(plan)
        runner.launch.log_files()
        if resumption is not None:
            opener, recorded = resumption.opener(self._store), resumption.recorded
        else:
            opener, recorded = partial(self._store.start_run, run=plan.run_id), None
        self._store_writer = StoreWriter(
            opener, lambda: self._manifest, self._stored_as, recorded, happened=runner.happened
        )
        self._timings = ServerTimings()
        self._slow = SlowRequests(self._watch.server_ms if self._watch else lambda _: None)
        self._throttling = ThrottlingObserver()
        sized = CapacityWarning(lambda: runner.launch)
        self._feed = self._output_feed()
        runner.observe(self._display, self._listener, self._store_writer, self._feed, sized, self._timings, self._slow)
        # Files of an earlier run are the last to be touched: until then the run can be refused.
        runner.observe(self._watch, self._csv, self._exchanges, self._throttling)

    def _output_feed(self) -> OutputFeed | None:
        """None for a run without outputs. Raises UsageError."""
        if not self._outputs.out:
            return None
        # Only here, as few runs have one.
        from plimsoll.run.coordinator.output_feed import OutputFeed

        return OutputFeed(
            self._outputs.out, lambda: self._manifest, lambda: self._store_writer.run, self._gate.so_far,
            has_page=self._plan.has_page, is_strict=self._plan.strict, labels=self._outputs.labels,
            trace_share=self._plan.trace_share,
        )  # fmt: skip

    @cached_property
    def _manifest(self) -> Manifest:
        """Not before the run begins: the locustfile may have a say in how many users there are, and how long."""
        if self._resumption is not None:
            return self._resumption.manifest
        from plimsoll.run.manifest import manifest

        outputs, launch = self._outputs, self._runner.launch
        return manifest(
            self._runner.plan, outputs.name, outputs.secret, shaped=launch.shaped, thresholds=outputs.thresholds
        )

    def _stored_as(self, run: str) -> None:
        if self._master is not None:
            # Somebody may continue the run if this process is lost.
            self._master.key.keep(run)
            self._stack.callback(forget, run)
        if self._listener:
            self._listener.stored_as(run)

    def _keep(self, result: Result) -> tuple[list[str], RunSource]:
        """Store how the run ended. Returns its notes, and what is reported of it."""
        notes, facts = [*result.notes, *_differences(self._joined or ())], _facts(result, self._gate)
        if not self._plan.joined and (periods := self._throttling.passed) is not None:
            facts = replace(facts, cpu_periods=periods)
            notes += throttling_notes(periods)
        observed = [*([self._watch.finish(result.ended)] if self._watch else [])]
        observed += [self._timings.finish(), self._slow.finish()]
        notes += [note for observation in observed for note in observation.notes]
        if known := {source: said for observation in observed for source, said in observation.facts.items()}:
            facts = replace(facts, observed=known)
        series = [line for observation in observed for line in observation.series]
        notes += self._feed.finish() if self._feed else []
        self._lost += self._store_writer.finish(result.status, result.ended, notes, facts, series)
        # What others will find in the store, not what this process has of it in its caches.
        self._store.close()
        source = None
        if not self._lost:
            source = _read_back(self._outputs.store, self._store_writer.run, self._lost, self._kept)
        if source is None:
            from plimsoll.report.assessment import assess
            from plimsoll.report.sources import RunSource

            facts = replace(facts, not_stored="; ".join(self._lost))
            assessment = assess(result.view, self._manifest, facts, result.status)
            source = RunSource.of_view(result.view, assessment, result.started or 0.0)
        return notes, source

    def _finish(
        self, result: Result, source: RunSource, code: int, notes: list[str], errors: list[PlimsollError]
    ) -> None:
        """Tell those who watch that the run is over."""
        main_log(self._plan).info("Shutting down (exit code %d)", code)
        if self._csv:
            self._csv.finish(source.view, source.assessment)
        if self._listener:
            message = "; ".join(map(str, errors))
            self._listener.over(result.status, source.view, source.assessment, code, message)
        if self._feed:
            self._feed.end(result, source, code, notes)
            for missing in self._feed.close():
                if missing not in notes:
                    logger.warning(missing)

    def _exit_code(self, result: Result, source: RunSource) -> int:
        plan, thresholds = self._runner.plan, source.assessment.thresholds
        # Who limits failures has said how many there may be.
        failed = source.view.total.failures > 0 and not self._gate.limits_failures
        return exit_code(
            invalid=not source.assessment.validity.valid,
            on_invalid=plan.exit_code_on_invalid,
            unclean=plan.strict and bool(source.assessment.unclean),
            chosen=result.exit_code,
            threshold_failed=not all(threshold.passed or threshold.within_share for threshold in thresholds),
            threshold_within_share=any(threshold.within_share for threshold in thresholds),
            failures=failed or bool(source.view.exceptions),
            on_error=plan.exit_code_on_error if result.on_error is None else result.on_error,
            listener_failed=result.listener_failed,
        )


def _watch(texts: tuple[str, ...], stack: ExitStack) -> TargetWatch | None:
    """stack: closes it. Raises UsageError."""
    if not texts:
        return None
    # Only here: numpy takes a while to import.
    from plimsoll.run.coordinator.target_watch import TargetWatch

    watch = TargetWatch(texts)
    stack.callback(watch.close)
    return watch


def _differences(machines: Iterable[JoinedMachine]) -> list[str]:
    """Of workers that joined with another Python than this one."""
    return list(dict.fromkeys(f"the worker on {each.host} {each.difference}" for each in machines if each.difference))


def _facts(result: Result, gate: ThresholdMonitor) -> RunFacts:
    """What is known of a run besides what it measured."""
    return replace(
        result.facts,
        lost_workers=result.lost_workers,
        clock_step_ms=result.facts.clock_step_ms or 0.0,
        coordinator_silence_s=result.silence,
        thresholds=tuple(threshold.to_dict() for threshold in gate.results(result.view.rate_s)),
    )


class ThrottlingObserver(Observer):
    """Compares how often the control group of this machine's workers ran out of CPU time, before the run and after."""

    def __init__(self, root: Path = ROOT) -> None:
        """root: where sys and proc are."""
        self._since = PeriodsSince(root)

    def start(self, started: float, stamp: str) -> None:
        # The workers' start is no part of the run.
        self._since.restart()

    @property
    def passed(self) -> CpuPeriods | None:
        """At the end of the run; None where there is no limit."""
        passed = self._since.passed()
        return passed if passed.periods else None


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


def _display(outputs: Outputs, stream: TextIO) -> Display:
    if not outputs.shows_table:
        return Display(stream) if outputs.only_summary else LineDisplay(stream)
    from rich.console import Console

    from plimsoll.run.coordinator.terminal_display import TerminalDisplay

    return TerminalDisplay(Console(file=stream, highlight=False))


def _read_back(place: str | None, run: str | None, lost: list[str], kept: ExitStack) -> RunSource | None:
    """What is reported is what is stored; None if that cannot be read or is not all of the run. lost: gets why. kept:
    closes the store."""
    from plimsoll.report.sources import RunSource
    from plimsoll.say.validity import check_text
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
    lost.append(check_text(check))
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
    from plimsoll.report.sources import OutputRequest

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
    if source.run is not None and sys.stderr.isatty():
        store = f" --store {shlex.quote(redact(outputs.store))}" if outputs.store else ""
        line = f"kept as {source.run.id} · plimsoll report last{store} -o report.html · plimsoll serve{store}"
        print(f"\n{line}", file=sys.stderr)
    return failed
