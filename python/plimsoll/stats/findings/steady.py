"""COLD and NONSTATIONARY: runs that had not warmed up, or never settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import cells, grouped
from plimsoll.stats.latency.warmup import BATCH, COLD, TREND, WarmUp, mser5
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Study, Trial

MOST = 0.5
"""Share of a cell's runs that show it: of five runs, one may by chance."""
WARMING = (
    f"MSER-5 cuts off the beginning of the measured seconds, and their mean latency is more than {COLD:g} times that "
    "of the rest"
)
SETTLED = (
    f"MSER-5 would cut off more than half of the run's batches of {BATCH} s, and these have a trend (Mann–Kendall, "
    f"p < {TREND:g}): there is no steady state that a number could be of"
)


def steady(study: Study) -> Iterable[Finding]:
    for trials in cells(study):
        for same in grouped(trials, _told_by_second):
            judged = [(trial, row, _judge(trial, row)) for trial, row in same]
            moving = [each for each in judged if not each[2].stationary]
            cold = [each for each in judged if each[2].stationary and each[2].cold]
            if len(moving) > MOST * len(judged):
                yield _moving(study, moving, len(judged))
            elif len(cold) > MOST * len(judged):
                yield _cold(study, cold, len(judged))


def _told_by_second(trial: Trial) -> list[Measured]:
    rows = (*trial.endpoints, *((trial.total,) if trial.total is not None else ()))
    return [row for row in rows if row.course is not None]


def _judge(trial: Trial, row: Measured) -> WarmUp:
    course = row.course
    if course is None:
        return WarmUp(0, True)
    means = course.means[course.measured]
    # The last second of a run is a part of one.
    whole = int(trial.duration) if trial.duration else len(means)
    return mser5(means[:whole])


def _moving(study: Study, found: list[tuple[Trial, Measured, WarmUp]], runs: int) -> Finding:
    trial, row, _ = found[0]
    in_runs = f" in {len(found)} of {runs} runs" if runs > 1 else ""
    return Finding(
        "NONSTATIONARY",
        "blocks",
        f"{_who(study, trial, row)} never settles{in_runs}: its latency drifts from the beginning to the end.",
        Where(trial.variant, trial.level, trial.operation, _key(row)),
        SETTLED,
        {"runs": float(len(found)), "of": float(runs), "run": trial.id, "between_s": _between(trial, row)},
        "Longer runs; data that do not grow; or look for what fills up.",
    )


def _cold(study: Study, found: list[tuple[Trial, Measured, WarmUp]], runs: int) -> Finding:
    trial, row, warmup = found[0]
    longest = max(each.seconds for _, _, each in found)
    excess = max(each.excess for _, _, each in found)
    in_runs = f" in {len(found)} of {runs} runs" if runs > 1 else ""
    return Finding(
        "COLD",
        "warning",
        f"{_who(study, trial, row)}: the first {longest} s were {excess:.2g} times as slow as the rest{in_runs}.",
        Where(trial.variant, trial.level, trial.operation, _key(row)),
        WARMING,
        {
            "seconds": float(longest),
            "excess": excess,
            "run": trial.id,
            "between_s": _between(trial, row, warmup.seconds),
        },
        f"Leave them out: a warm-up of at least {longest} s more.",
    )


def _between(trial: Trial, row: Measured, seconds: int | None = None) -> tuple[float, float]:
    """From second 0 of the run: its first so many measured seconds, or all of them."""
    assert row.course is not None
    first = row.course.measured.start or 0
    last = len(row.course) if trial.duration is None else min(len(row.course), first + int(trial.duration))
    return float(first), float(last if seconds is None else first + seconds)


def _key(row: Measured) -> tuple[str, str]:
    return TOTAL if row.key == ("", "") else row.key


def _who(study: Study, trial: Trial, row: Measured) -> str:
    label = f"{row.method} {row.name}".strip() if _key(row) != TOTAL else "the whole"
    return wording.cell(study, trial, label)
