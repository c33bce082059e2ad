"""ERR between variants, and SURVIVORS: latencies that are only of those requests that did not fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import rows_of
from plimsoll.stats.proportions import clopper_pearson
from plimsoll.stats.questions import pairs_of_variants

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Level, Study

CHANCE = 0.05
"""p of one share of failures in both."""
UNEQUAL = (
    "one of the two certainly fails more requests than is tolerated (lower 95 % bound, Clopper–Pearson), and more than "
    "the other by that much: a failed request is other work, so neither latencies nor throughput are comparable"
)
SURVIVORS = (
    "a percentile q of the requests that did not fail says nothing of all requests when more than 1 − q of them "
    "failed: those may have been the slowest"
)


def unequal(study: Study) -> Iterable[Finding]:
    for operation in study.operations:
        for level in study.levels:
            for a, b, _ in pairs_of_variants(study):
                before, after = _counts(study, a, level, operation), _counts(study, b, level, operation)
                for key in before:
                    if key in after and _differ(before[key], after[key], study.tolerance):
                        yield _unequal(study, (a, b), level, operation, key, (before[key], after[key]))


def survivors(study: Study) -> Iterable[Finding]:
    for trial in study.trials:
        if trial.invalid or trial.precision.times_of == "all":
            continue
        for row in rows_of(trial):
            if not row.requests or not row.failures:
                continue
            share = row.failures / row.requests
            hidden = [q for q in sorted(row.quantiles) if q < 1 and 1 - q < share]
            if not hidden:
                continue
            named = wording.several([f"p{q * 100:.10g}" for q in hidden])
            certain = trial.precision.times_of == "successes"
            leaves = "leaves" if certain else "may leave"
            yield Finding(
                "SURVIVORS",
                "warning",
                f"{wording.place(study, trial, row.label)}: {named} {leaves} out the {wording.percent(share)} of "
                f"requests that failed ({'times are of successes only' if certain else 'the table does not tell'}); "
                "with these as the slowest it is not known.",
                Where(
                    trial.variant, trial.level, trial.operation, row.key, trial.id, kinds=("quantile", "mean", "max")
                ),
                SURVIVORS,
                {"failed": share, "percentiles": tuple(hidden)},
                "Count a failed request as one that took its time limit.",
            )


def _counts(study: Study, variant: str, level: Level | None, operation: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Failures and requests per row, over the runs of the cell."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for trial in study.cell(variant, level, operation):
        for row in () if trial.invalid else rows_of(trial):
            if row.requests and row.failures is not None:
                failures, requests = found.get(row.key, (0, 0))
                found[row.key] = failures + row.failures, requests + row.requests
    return found


def _differ(before: tuple[int, int], after: tuple[int, int], tolerance: float) -> bool:
    worse, better = sorted((before, after), key=lambda each: each[0] / each[1], reverse=True)
    if clopper_pearson(*worse)[0] <= tolerance or worse[0] / worse[1] - better[0] / better[1] <= tolerance:
        return False
    from scipy.stats import fisher_exact

    table = np.array([[failures, requests - failures] for failures, requests in (worse, better)])
    return float(fisher_exact(table)[1]) < CHANCE


def _unequal(
    study: Study,
    pair: tuple[str, str],
    level: Level | None,
    operation: str,
    key: tuple[str, str],
    counts: tuple[tuple[int, int], tuple[int, int]],
) -> Finding:
    (a, b), shares = pair, [failures / requests for failures, requests in counts]
    label = f"{key[0]} {key[1]}".strip()
    at = f" at {level}" if level is not None and len(study.levels) > 1 else ""
    of = f"{operation}: " if operation and len(study.operations) > 1 and operation != label else ""
    return Finding(
        "ERR",
        "blocks",
        f"{of}{label}{at}: {wording.percent(shares[1])} of the requests to {b} failed, {wording.percent(shares[0])} of "
        f"those to {a}: latencies and throughput are not of the same requests.",
        Where(b, level, operation, key, against=a, kinds=("quantile", "mean", "max", "throughput")),
        UNEQUAL,
        {"shares": tuple(shares)},
        "Find out why they fail first; the comparison of the shares of failures stands.",
    )
