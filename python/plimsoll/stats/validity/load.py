"""Was the load the requested load?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.stats.validity.check import ACHIEVED, ENDED, ValidityCheck, count, ms, percent

if TYPE_CHECKING:
    from plimsoll.record.events import WorkerLost
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.validity.check import CheckState
    from plimsoll.stats.view import RunView

COORDINATOR_S = 1.0
"""Seconds that the coordinating process may pause without a remark."""
STEP_MS = 1.0
"""Tolerated change of the system's clock, in ms."""

_ENDINGS: dict[str, tuple[CheckState, str]] = {
    "finished": ("ok", "the run went on to its end"),
    "stopped": ("remark", "The run was stopped before its end."),
    "running": ("unknown", "the run has not ended"),
    "interrupted": ("failed", "the run was cut off before its end: seconds may be missing"),
    "failed": ("failed", "the run failed before its end"),
}
"""By the status of a run."""


def ended(status: str) -> ValidityCheck:
    """Whether the load went on as long as it should. A run that somebody stopped had its load until then."""
    state, text = _ENDINGS.get(status, ("failed", f"it is not known how the run ended: its status is {status!r}"))
    return ValidityCheck(ENDED, state, None, None, text)


def offered(view: RunView, manifest: Manifest) -> ValidityCheck:
    if not manifest.is_open:
        return ValidityCheck("offered", "n/a", None, ACHIEVED, "the closed model offers no rate that could be missed")
    generator = view.generator
    if not generator.offered:
        return ValidityCheck("offered", "unknown", None, ACHIEVED, "no arrival was due after the warm-up")
    left = max(generator.dropped, _waiting_at_the_end(view))
    begun = max(0, generator.offered - left)
    achieved = begun / generator.offered
    seconds = sum(1 for count in generator.offered_by_second().values() if count)
    rates = f"{begun / seconds:.4g}/s of {generator.offered / seconds:.4g}/s offered were begun in time"
    if achieved >= ACHIEVED:
        return ValidityCheck("offered", "ok", achieved, ACHIEVED, f"{rates} ({percent(achieved)})")
    text = (
        f"only {rates} ({percent(achieved)}, less than {percent(ACHIEVED)}): the others waited for a user or were "
        "dropped; more users (--max-users), or a rate that the target can keep up with"
    )
    return ValidityCheck("offered", "failed", achieved, ACHIEVED, text)


def _waiting_at_the_end(view: RunView) -> int:
    """Arrivals still waiting when the last one was offered; after that the queue only drains."""
    last = max((second for second, count in view.generator.offered_by_second().items() if count), default=-1)
    return view.generator.waiting_by_second().get(last, 0)


def dropped(view: RunView, manifest: Manifest) -> ValidityCheck:
    dropped = max(view.generator.dropped, view.total.dropped)
    if dropped:
        text = f"{count(dropped, 'arrival')} dropped: due, but never sent; more users (--max-users), or a lower rate"
        return ValidityCheck("dropped", "failed", dropped, 0, text)
    if not manifest.is_open:
        return ValidityCheck("dropped", "n/a", None, 0, "in the closed model nothing is due that could be dropped")
    return ValidityCheck("dropped", "ok", 0, 0, "no arrival was dropped")


_LOADS = {"taken over": "; the others take its load over", "unsent": "; nobody sends its arrivals", "missing": ""}
"""By what becomes of the load of a lost worker."""


def lost_worker(event: WorkerLost) -> str:
    """A worker's end: the one sentence of it, in a log and in a report."""
    users = {0: "", 1: "its user is lost, "}.get(event.users, f"its {event.users} users are lost, ")
    kept = "all that it measured"
    if event.kept_to is not None:
        kept = f"what it measured up to second {event.kept_to}" if event.kept_to >= 0 else "nothing of it"
    text = f"worker {event.worker} ({event.place}) {event.how}: {users}kept is {kept}"
    text += "".join(f"; nobody uses {part}" for part in event.unused)
    return text + _LOADS[event.load]


def workers(facts: RunFacts) -> ValidityCheck:
    lost = facts.lost_workers
    if lost is None:
        return ValidityCheck("workers", "unknown", None, 0, "it is not known whether a worker was lost")
    if not lost:
        return ValidityCheck("workers", "ok", 0, 0, "no worker was lost")
    replaced = facts.replaced or ()
    text = f"{count(lost, 'worker')} lost: a part of the load was missing "
    if facts.lost:
        text = "; ".join(map(lost_worker, facts.lost))
        text += "; another one took its place" if replaced else ""
    elif replaced and len(replaced) >= lost and not facts.load_taken_over:
        text += "until another one took its place"
    else:
        text += "until the others took it over" if facts.load_taken_over else "from then on"
        text += "; another one took its place" if replaced else ""
    if replaced:
        text += f" with second {', '.join(str(replacement.to_second) for replacement in replaced)}"
    if incomplete := facts.incomplete:
        first = min(gap.from_second for gap in incomplete)
        end = max(math.inf if gap.to_second is None else gap.to_second for gap in incomplete)
        text += f"; what was measured is incomplete from second {first} " + (
            "on" if math.isinf(end) else f"to {end - 1}"
        )
    return ValidityCheck("workers", "failed", lost, 0, text)


def coordinator(facts: RunFacts) -> ValidityCheck:
    """Whether the coordinating process ran all the time; the load continues without it for a while."""
    silence, cut = facts.coordinator_silence_s, facts.load_cut_s
    if resumed := facts.resumed:
        text = "the process that coordinates the run was lost, and another one continued it: "
        text += ", ".join(f"no full load from second {event.from_second} to {event.to_second}" for event in resumed)
        if missing := [worker for event in resumed for worker in event.incomplete]:
            first = min(worker.from_second for worker in missing)
            text += f"; what {count(len(missing), 'worker')} measured from second {first} until then is incomplete"
        return ValidityCheck("coordinator", "failed", silence, COORDINATOR_S, text)
    if cut is not None:
        text = f"the load ended early, after {cut:.1f} s: the process that coordinates the run stood still"
        return ValidityCheck("coordinator", "failed", silence, COORDINATOR_S, text)
    if silence is None:
        text = "it is not known whether the process that coordinates the run stood still"
        return ValidityCheck("coordinator", "unknown", None, COORDINATOR_S, text)
    if silence <= COORDINATOR_S:
        text = "the process that coordinates the run was always there"
        return ValidityCheck("coordinator", "ok", silence, COORDINATOR_S, text)
    text = f"the process that coordinates the run stood still for {silence:.1f} s; the workers went on with their load"
    return ValidityCheck("coordinator", "remark", silence, COORDINATOR_S, text)


def clock(facts: RunFacts) -> ValidityCheck:
    step = facts.clock_step_ms
    if step is None:
        return ValidityCheck("clock", "unknown", None, STEP_MS, "it is not known whether the clock was set")
    if abs(step) <= STEP_MS:
        return ValidityCheck("clock", "ok", abs(step), STEP_MS, "the clock was not set")
    seconds = ", ".join(str(event.second) for event in facts.clock_steps or ())
    at = f" (second {seconds})" if seconds else ""
    text = (
        f"the clock was set by {ms(abs(step))}{at}: receive stamps around that moment are wrong by as much; "
        "no time synchronisation that steps while a run goes on"
    )
    return ValidityCheck("clock", "failed", abs(step), STEP_MS, text)


def exhausted(view: RunView) -> ValidityCheck:
    failed = view.generator.exhausted
    if not view.generator.workers:
        text = "no worker reported whether files, ports and memory sufficed"
        return ValidityCheck("exhausted", "unknown", None, 0, text)
    if not failed:
        return ValidityCheck("exhausted", "ok", 0, 0, "files, ports and memory sufficed")
    text = (
        f"{count(failed, 'exchange')} failed because files, ports or memory of the generator ran out; "
        "`plimsoll doctor` says which"
    )
    return ValidityCheck("exhausted", "failed", failed, 0, text)
