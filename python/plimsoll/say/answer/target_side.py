"""What the target spends its requests and its time on, in sentences, from the traces of its own services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.names import code
from plimsoll.say.numbers import short_percent
from plimsoll.stats.target_side import work_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.study import Study, TargetWork


def sentences(study: Study) -> Iterator[str]:
    """One for each variant, when all runs have traces: such runs were made to look into the target. Nothing
    otherwise."""
    if not all(any(each.kind == "transaction" for each in trial.work) for trial in study.trials):
        return
    for variant in study.variants:
        works = work_of([trial for trial in study.trials if trial.variant == variant], "transaction")
        if works:
            whose = f" of {code(variant)}" if len(study.variants) > 1 else ""
            yield _shares(works, whose)


def _shares(works: list[TargetWork], whose: str) -> str:
    calls, ms = sum(each.calls for each in works), sum(each.ms for each in works)
    most, slowest = max(works, key=lambda each: each.calls), works[0]
    share = short_percent(most.calls / calls)
    text = f"By the traces{whose}, {share} of all requests that its services answer are {_name(most)}"
    if not ms:
        return f"{text}."
    if slowest is most:
        return f"{text}; they also take most time ({short_percent(most.ms / ms)})."
    return f"{text}; most time goes to {_name(slowest)} ({short_percent(slowest.ms / ms)})."


def _name(work: TargetWork) -> str:
    return code(f"{work.source} {work.view or work.name}".strip())
