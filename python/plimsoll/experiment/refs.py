"""What names of a command stand for: one run by itself, without all that experiments need; "main@{last}", the last good
run of a branch or of a tag, with which a new one is compared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.report.sources import RunSource, StudySource
from plimsoll.stats.run_summary import RunSummary, rules
from plimsoll.stats.thresholds.watch import ThresholdResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.store import Store, StoredRun

_LAST = re.compile(r"(.+)@\{last\}")


def baseline_of(store: Store, ref: str, run: StoredRun) -> str:
    """What the ref means for this run: "NAME@{last}" the id of the last good run before it, anything else itself.

    NAME is the branch that was checked out, or a tag of the run. Good is a run of the same scenario that finished, is
    valid, and broke no threshold. Raises UsageError when there is none; StoreError.
    """
    found = _LAST.fullmatch(ref)
    if found is None:
        return ref
    name, scenario = found[1], _scenario(run.manifest)
    reasons: list[str] = []
    for each in store.runs():
        if each.started >= run.started or name not in (each.manifest.get("branch"), *each.tags):
            continue
        reason = next(_doubts(store, each, scenario), "")
        if not reason:
            return each.id
        reasons.append(f"{each.id} {reason}")
    if reasons:
        few = "; ".join(reasons[:3]) + ("; …" if len(reasons) > 3 else "")
        raise UsageError(f"{ref}: no run of {name} before {run.id} is good: {few}")
    raise UsageError(
        f"{ref}: store {store.name} has no run of branch or tag {name!r} before {run.id}; `plimsoll runs` lists them"
    )


def _doubts(store: Store, run: StoredRun, scenario: str) -> Iterator[str]:
    """Why it is no baseline; nothing for a good one."""
    if run.status != "finished":
        yield f"is {run.status}"
    if _scenario(run.manifest) != scenario:
        yield f"ran {_scenario(run.manifest) or 'something else'}, not {scenario}"
    if any(not ThresholdResult.from_dict(each).passed for each in run.facts.get("thresholds") or ()):
        yield "broke a threshold"
    kept = store.summaries.of([run], lambda each: RunSummary.of(each).to_json(), rules()).get(run.id)
    if kept is None:
        yield "cannot be read"
    elif not kept["requests"]:
        yield "made no request"
    elif kept["reasons"]:
        yield "is invalid"


def _scenario(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("scenario") or {}).get("name") or "")


def only_run(store: Store, refs: Sequence[str]) -> StoredRun | None:
    """The run that the only ref names; None when there are several, or when it names something else."""
    if len(refs) != 1 or Path(refs[0]).is_file() or store.experiments.find(refs[0]) is not None:
        return None
    return None if store.imports.find(refs[0]) is not None else store.run(refs[0])


def source_of_run(run: StoredRun, store: Store) -> StudySource:
    """One run by itself, read once."""
    source = RunSource.of(run)

    def analysed() -> Analysis:
        from plimsoll.experiment.study import study_of_run
        from plimsoll.stats.analysis import analyse

        return analyse(study_of_run(run, store, source.reading))

    return StudySource(analysed, source)
