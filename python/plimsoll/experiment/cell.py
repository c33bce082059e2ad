"""One cell of an experiment, from its preparation to the end of its target."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.measure import MeasuredRun, Measurement
from plimsoll.experiment.placeholders import fill
from plimsoll.experiment.target import CellTarget, prepared
from plimsoll.redact import redact, storable_json
from plimsoll.store.cells import CellOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.experiment.cell_values import CellFolder, ExperimentCell
    from plimsoll.experiment.hooks import Commands
    from plimsoll.experiment.spec import Experiment
    from plimsoll.run.supervised.process import ProcessEnd


def run_cell(
    cell: ExperimentCell, spec: Experiment, where: CellFolder, report: Callable[[str], None], /
) -> CellOutcome:
    """What became of it, whatever happens to the target or to a command. The target and all processes that were started
    have ended when this returns. A KeyboardInterrupt goes on when they have."""
    return _CellRun(cell, spec, where, report).run()


class _CellRun:
    """The phases of a cell, and what is known so far."""

    def __init__(
        self, cell: ExperimentCell, spec: Experiment, where: CellFolder, report: Callable[[str], None]
    ) -> None:
        self._cell = cell
        self._spec = spec
        self._where = where
        self._report = report
        self._variant = spec.variant(cell.variant)
        self._phase = ""
        self._phases: dict[str, float] = {}
        self._target: CellTarget | None = None
        self._kept: MeasuredRun | None = None
        self._facts: dict[str, list[Any]] = {}
        self._collected: dict[str, str] = {}
        self._notes: list[str] = []

    def run(self) -> CellOutcome:
        failure: CellError | None = None
        failed_in = ""
        interrupted = True
        try:
            self._run_phases()
        except CellError as error:
            failure, failed_in, interrupted = error, self._phase, False
        else:
            interrupted = False
        finally:
            # The first Ctrl-C asks for good order, the second one for haste.
            ending = self._stop(patient=not interrupted)
        known: dict[str, Any] = self._target.to_dict() if self._target else {"url": redact(self._variant.target.url)}
        crash = self._crash()
        known |= {"ended": str(ending)} if ending else {}
        known |= {"crashed": crash} if crash else {}
        known |= {"notes": storable_json([*known.get("notes", ()), *self._notes])} if self._notes else {}
        known |= {"failure": {"phase": failed_in, **failure.to_dict()}} if failure else {}
        reasons = [f"the target ended by itself: {crash}"] if crash else []
        reasons += self._kept.reasons if self._kept else ()
        if failure:
            reasons = [f"{failed_in}: {failure.one_line}", *self._ended_before(failed_in)]
        return CellOutcome(
            state="failed" if failure else "invalid" if reasons else "valid",
            reason="; ".join(reasons),
            run=self._kept.run_id if self._kept else None,
            phases=self._phases,
            target=known,
            data=self._facts,
            collected=self._collected,
        )

    def _run_phases(self) -> None:
        """Run all phases of the cell in order. Raises CellError."""
        with self._timed("prepare"):
            self._target = target = prepared(self._cell, self._spec, self._where)
            commands = target.commands(self._cell, self._where.path)
            self._run_hooks(commands, "prepare")
        if self._variant.target.is_started:
            with self._timed("start"):
                self._report("starting the target")
                target.start()
        with self._timed("healthy"):
            self._report("waiting until the target is healthy")
            target.wait_until_healthy(commands)
        with self._timed("seed"):
            has_run_already = not self._variant.target.is_started
            self._run_hooks(commands, "reset" if has_run_already and self._variant.hooks.reset else "seed")
            self._ask(commands)
        with self._timed("measure"):
            self._report("measuring")
            self._measure(target)
        with self._timed("collect"):
            self._ask(commands)
            self._collect(commands)
        if target.ended() is None:
            with self._timed("cool_down"):
                time.sleep(self._spec.cool_down)

    def _run_hooks(self, commands: Commands, kind: str) -> None:
        for hook in getattr(self._variant.hooks, kind):
            self._report(f"{kind}: {hook.name}" if hook.name != kind else kind)
            commands.hook(hook, kind)

    def _ask(self, commands: Commands) -> None:
        """What cannot be asked is no reason to throw a run away."""
        for fact in self._variant.target.data:
            value: Any = None
            try:
                value = commands.fact(fact)
            except CellError as error:
                self._notes.append(error.one_line)
            self._facts.setdefault(fact.name, []).append(value)

    def _measure(self, target: CellTarget) -> None:
        if (ending := target.ended()) is not None:
            log = target.process.tail() if target.process else ()
            raise CellError(f"the target ended before the run: {ending}", ending=str(ending), log=log)
        self._kept = Measurement(self._cell, self._spec, self._where, target, self._observed(target)).run()

    def _observed(self, target: CellTarget) -> tuple[str, ...]:
        """As `observe.kinds` has it."""
        wanted = self._variant.target.observe
        texts = [fill(each, target.values) for each in wanted] if isinstance(wanted, tuple) else []
        if self._variant.target.postgres is not None:
            texts.append(fill(self._variant.target.postgres, target.values))
        if wanted and (own := target.observed_pid()) is not None:
            pid, itself = own
            texts.insert(0, f"target=pid:{pid}{'' if itself else '/children'}")
        return tuple(texts)

    def _collect(self, commands: Commands) -> None:
        """A target that is gone cannot be asked, and that is known already."""
        for hook in self._variant.hooks.collect:
            self._report(f"collect: {hook.name}")
            try:
                self._collected[hook.name] = commands.hook(hook, "collect")
            except CellError as error:
                if self._target is None or self._target.ended() is None:
                    raise
                self._notes.append(f"collect: {error.one_line}")

    def _ended_before(self, phase: str) -> list[str]:
        """Why a command may have failed that asks the target; the start of the target reports it itself."""
        ending = self._target.crashed if self._target and phase not in ("start", "healthy") else None
        return [f"the target had ended by itself: {ending}"] if ending else []

    def _crash(self) -> str | None:
        """How and when the target ended, if it did during the run."""
        ending = self._target.crashed if self._target else None
        if ending is None or self._kept is None or self._kept.seconds_until_crash is None:
            return None
        return f"{ending}, {self._kept.seconds_until_crash:.0f} s after the run began"

    def _stop(self, *, patient: bool) -> ProcessEnd | None:
        if self._target is None:
            return None
        with self._timed("stop"):
            return self._target.stop(patient=patient)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        self._phase = phase
        began = time.monotonic()
        try:
            yield
        finally:
            self._phases[phase] = time.monotonic() - began
