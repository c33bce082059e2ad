"""What is said before an experiment begins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.experiment.budget import doubts, repeats_that_fit
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.plan import cells_in_words
from plimsoll.say.durations import rough_duration
from plimsoll.say.names import listed
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from plimsoll.experiment.budget import CellDurations, Spread
    from plimsoll.experiment.plan import Plan
    from plimsoll.experiment.spec import Experiment


def announcement(plan: Plan, pace: CellDurations, spread: Spread, needed: int | None) -> tuple[list[str], list[str]]:
    """Lines for people: what is to be run and how long it takes; and doubts, why it may not suffice.

    needed: pairs that distinguish the smallest difference from none at this spread. Raises UsageError when it takes
    longer than the budget.
    """
    spec = plan.spec
    seconds = pace.of_all(plan.cells)
    parts = [
        counted(len(spec.variants), "variant"),
        *([counted(len(spec.levels), "level")] if spec.levels != (None,) else []),
        *([counted(len(spec.scenarios), "operation")] if len(spec.scenarios) > 1 else []),
        counted(spec.repeats, "repeat"),
    ]
    each = f" of ≈ {rough_duration(seconds / len(plan.cells))}" if plan.cells else ""
    budget = f" (budget {rough_duration(spec.budget)})" if spec.budget else ""
    lines = [
        f"experiment {spec.name}{': ' if spec.question else ''}{spec.question}",
        f"{' × '.join(parts)}; to run now: {cells_in_words(len(plan.cells))}{each}, "
        f"≈ {rough_duration(seconds)}{budget}",
        *([f"{plan.there} of {cells_in_words(plan.total)} are there already"] if plan.there else []),
        *([f"{cells_in_words(plan.later)} left for later"] if plan.later else []),
        f"variants: {', '.join(each.name for each in spec.variants)}",
        *([f"levels: {', '.join(map(str, spec.levels))}"] if spec.levels != (None,) else []),
        *([f"operations: {', '.join(each.name for each in spec.scenarios)}"] if len(spec.scenarios) > 1 else []),
        f"asked: {_asked(spec)}",
        f"order: levels at random, variants next to one another and every other time reversed; seed {spec.seed}",
    ]
    if spec.budget is not None and seconds > spec.budget:
        raise UsageError("\n  ".join([_over_budget(plan, seconds), *lines[1:2]]))
    found: list[str] = []
    if plan.added and not plan.is_new and spec.compare.looks == 1:
        found.append(
            "repeats added after a look at the result find differences where there are none more often than "
            "once in 20; declare looks = 2 in [compare] before the first of them"
        )
    per_repeat = _per_repeat(spec, pace)
    for doubt in doubts(spec, spread, needed or 0):
        more = rough_duration(per_repeat * (doubt.repeats - spec.repeats))
        found.append(f"{doubt.text}; --repeats {doubt.repeats} takes ≈ {more} more")
    return lines, found


def _per_repeat(spec: Experiment, pace: CellDurations) -> float:
    return pace.of_all(cells_in_order(replace(spec, repeats=1)))


def _over_budget(plan: Plan, seconds: float) -> str:
    spec = plan.spec
    assert spec.budget is not None
    text = f"experiment {spec.name} would take ≈ {rough_duration(seconds)}, its budget is {rough_duration(spec.budget)}"
    fit = repeats_that_fit(spec, seconds, spec.budget)
    if not plan.is_new:
        return f"{text}; --only runs a part of it now, or raise the budget"
    if fit:
        return f"{text}; --repeats {fit} would fit, or raise the budget, or shorten run_time"
    return f"{text}; not even one repeat fits: shorten run_time, leave out levels or variants, or raise the budget"


def _asked(spec: Experiment) -> str:
    metrics = spec.compare.primary or spec.compare.metrics
    named = ", ".join(each.text + (f" of {each.endpoint}" if each.endpoint else "") for each in metrics)
    kind = "primary " if spec.compare.primary else ""
    against = "" if len(spec.variants) < 2 else f", against {listed(spec.compare.against)}"
    return f"{kind}{named}{against}; the smallest difference that matters is {spec.compare.smallest * 100:g} %"
