"""What names of a command stand for: runs, experiments, files and kept imports; "main@{last}", the good runs of a
branch or of a tag before a new one, with which it is compared. What experiments need is imported only for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import NoBaselineError, UsageError
from plimsoll.experiment.matching.renames import renamed
from plimsoll.report.run_summary import RunSummary, rules
from plimsoll.report.sources import RunSource, StudySource
from plimsoll.stats.kinds import level_of_run
from plimsoll.stats.thresholds.verdict import ThresholdResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.experiment.matching.renames import Rename
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.study import Study
    from plimsoll.store import Store, StoredRun

_LAST = re.compile(r"(.+)@\{last\}")
MOST_EARLIER = 20
"""Good runs from which the next one is predicted: older ones are of other versions and another machine."""


def named_last(ref: str) -> str | None:
    """NAME of a "NAME@{last}"; None for any other ref."""
    found = _LAST.fullmatch(ref)
    return None if found is None else found[1]


def good_before(store: Store, name: str, run: StoredRun) -> list[StoredRun]:
    """What "NAME@{last}" means for this run: the last good run before it, and before that one the good runs at the same
    level, at most `MOST_EARLIER` in all, the last one first.

    name: of the branch that was checked out, or a tag of the run. Good is a run of the same scenario that finished, is
    valid, and broke no threshold. Raises NoBaselineError when there is none; StoreError.
    """
    scenario = run.manifest.name
    reasons: list[str] = []
    good: list[StoredRun] = []
    for earlier in store.runs():
        if earlier.started >= run.started or name not in (earlier.manifest.branch, *earlier.tags):
            continue
        if good and level_of_run(earlier.manifest) != level_of_run(good[0].manifest):
            continue
        reason = next(_doubts(store, earlier, scenario), "")
        if reason:
            reasons.append(f"{earlier.id} {reason}")
            continue
        good.append(earlier)
        if len(good) == MOST_EARLIER:
            break
    if good:
        return good
    if reasons:
        few = "; ".join(reasons[:3]) + ("; …" if len(reasons) > 3 else "")
        raise NoBaselineError(f"no good earlier run of {name}: nothing to compare ({few})")
    raise NoBaselineError(f"no earlier run of {name} in {store.name}: nothing to compare")


def _doubts(store: Store, run: StoredRun, scenario: str) -> Iterator[str]:
    """Why it is no baseline; nothing for a good one."""
    if run.status != "finished":
        yield f"is {run.status}"
    if run.manifest.name != scenario:
        yield f"ran {run.manifest.name or 'something else'}, not {scenario}"
    outcomes = {ThresholdResult.from_dict(threshold).outcome for threshold in run.facts.thresholds or ()}
    if "broken" in outcomes:
        yield "broke a threshold"
    elif "not shown" in outcomes:
        yield "is not shown to keep a threshold"
    kept = store.summaries.of([run], lambda kept_run: RunSummary.of(kept_run).to_json(), rules()).get(run.id)
    if kept is None:
        yield "cannot be read"
    elif not kept["requests"]:
        yield "made no request"
    elif kept["reasons"]:
        yield "is invalid"


def study_of_refs(store: Store | None, refs: Sequence[str], renames: Sequence[Rename] = ()) -> Study:
    """What is to be reported or compared. Each of refs is a file that can be imported, an experiment's name, a run's
    id, the beginning of one, "last", or what a kept import is called. Several become one study, whose variants are
    compared. "NAME@{last}" before one of these is the last good run of a branch or tag before that run, with those
    before it.

    store: None when there is none, and only files can be meant. renames: of endpoints, before they are matched.
    Raises UsageError for what is nowhere, or when nothing of several can be compared, NoBaselineError when there is no
    such run; StoreError.
    """
    if len(refs) == 2 and (name := named_last(refs[0])) is not None:
        if store is None:
            raise UsageError(f"{refs[0]}: there is no store, so no run of it is known")
        return _after_earlier(store, name, store.run(refs[1]), renames)
    return _one((_study_of_ref(store, ref) for ref in refs), renames)


def _after_earlier(store: Store, name: str, run: StoredRun, renames: Sequence[Rename]) -> Study:
    """A run against the good runs of a branch or tag before it. With enough of them, what they scatter tells what the
    next one could show; with fewer, it is compared with the last one."""
    from plimsoll.experiment.matching.studies import after_earlier
    from plimsoll.experiment.study import study_of_run
    from plimsoll.stats.compare.prediction import LEAST_EARLIER, NewestRun

    good = good_before(store, name, run)
    studies = [study_of_run(source, store) for source in [run, *(good if len(good) >= LEAST_EARLIER else good[:1])]]
    study, *earlier = renamed(studies, renames)
    newest = NewestRun(
        baseline=name,
        earlier=len(good),
        last=good[0].id,
        last_commit=good[0].manifest.commit,
        run=run.id,
        branch=run.manifest.branch or "",
        commit=run.manifest.commit,
        thresholds=tuple(map(ThresholdResult.from_dict, run.facts.thresholds or ())),
    )
    return after_earlier(newest, earlier[::-1], study)


def study_in_store(store: Store, refs: Sequence[str]) -> Study:
    """The same, but a ref never names a file: the caller may not be allowed to read files."""
    return _one(_study_in_store(store, ref) for ref in refs)


def _one(several: Iterable[Study], renames: Sequence[Rename] = ()) -> Study:
    studies = renamed(list(several), renames)
    if len(studies) == 1:
        return studies[0]
    from plimsoll.experiment.matching.studies import matched

    return matched(studies)


def _study_of_ref(store: Store | None, ref: str) -> Study:
    if Path(ref).is_file():
        from plimsoll.importers import read

        return read(ref)
    if store is None:
        raise UsageError(f"{ref} is no file, and there is no store in which it could be a run or an experiment")
    return _study_in_store(store, ref)


def _study_in_store(store: Store, ref: str) -> Study:
    from plimsoll.experiment.study import study_of, study_of_run

    if store.experiments.find(ref) is not None:
        return study_of(store, ref)
    from plimsoll.importers.studies import find

    return find(store, ref) or study_of_run(store.run(ref), store)


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
