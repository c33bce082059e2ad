"""Findings about requests that fail: ERR, SURVIVORS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import range_of_ms
from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import lead, row, several
from plimsoll.say.numbers import percent
from plimsoll.stats.findings.errors import (
    CHANGES,
    Failing,
    FailureOnset,
    SuspectedPrecondition,
    UnsupportedClaim,
)
from plimsoll.stats.findings.failing import SurvivorsOnly, UnequalFailures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.findings.errors import FailureKinds, LevelFailures
    from plimsoll.stats.findings.finding import Evidence

ONSET = (
    "the first level whose share of failures is certainly (lower 95 % bound, Clopper–Pearson) above what the study "
    "tolerates, and the next level too: overload does not go away with more load"
)
PRECONDITION = (
    "failures with a 4xx status, at the lowest level already, that took at most half as long as other requests: "
    "overload begins at some load, and makes answers slow"
)
CLAIM = "a share that is claimed has to lie beyond the claim with its whole 95 % interval (Wilson), at every level"
UNEQUAL = (
    "the shares of failures differ by certainly more than is tolerated (95 % intervals over pairs of runs, for all "
    "places together, by Bonferroni; with fewer than three pairs, of the counts): a failed request is other work, so "
    "neither latencies nor throughput are comparable"
)
SURVIVORS = (
    "a percentile q of the requests that did not fail says nothing of all requests when more than 1 − q of them "
    "failed: those may have been the slowest"
)
APART = "Find out why they fail; look at the latencies of failed and of successful requests apart."


@said.register
def failing(finding: Failing) -> Said:
    return Said(f"{lead(finding.subject)}{_part(finding.shares[0])} fail{_with(finding.kinds)}.", ONSET, APART)


@said.register
def onset(finding: FailureOnset) -> Said:
    first, last, kinds = finding.onset, finding.levels[-1], _with(finding.kinds)
    if finding.before is not None:
        text = (
            f"requests begin to fail{kinds} between {finding.before.level} and {first.level}: {percent(first.share)} "
            f"at {first.level}"
        )
    else:
        lowest = ", the lowest level" if len(finding.levels) > 1 else ""
        text = f"{_part(first.share)} fail{kinds} at {first.level}{lowest}"
    if first is not last:
        text += f", {'all' if last.share == 1 else percent(last.share)} at {last.level}"
    if finding.p_same_share is not None and finding.p_same_share <= CHANGES:
        text += " (the share changes with the load)"
    return Said(f"{lead(finding.subject)}{text}.", ONSET, APART, _intervals(finding.levels))


@said.register
def precondition(finding: SuspectedPrecondition) -> Said:
    return Said(
        f"{lead(finding.subject)}failures are {_statuses(finding.statuses)}, at the lowest level already, and are "
        f"answered in {range_of_ms(finding.failed_ms)} where other requests of the same users take "
        f"{range_of_ms(finding.others_ms)}: hypothesis: a precondition or the test data is at fault, not overload.",
        PRECONDITION,
        "Look at one such reply's body, and try a run with fresh data for each request.",
    )


@said.register
def claim(finding: UnsupportedClaim) -> Said:
    places = [f"{level.level} ({_share(level)})" for level in finding.wrong]
    return Said(
        f"{lead(finding.subject)}that {'more' if finding.is_more else 'less'} than {finding.claimed * 100:g} % of the "
        f"requests failed is not supported at {several(places)}.",
        CLAIM,
        "Quote the share with its interval, or count more requests.",
        _intervals(finding.levels),
    )


@said.register
def unequal(finding: UnequalFailures) -> Said:
    before, after = finding.shares
    return Said(
        f"{row(finding.subject)}: {percent(after)} of the requests to {finding.where.variant} failed, "
        f"{percent(before)} of those to {finding.where.against}.",
        UNEQUAL,
        "Find out why they fail before comparing latencies or throughput: these are not of the same requests.",
    )


@said.register
def survivors(finding: SurvivorsOnly) -> Said:
    percentiles = several([f"p{q * 100:.10g}" for q in finding.percentiles])
    leave = "leaves" if len(finding.percentiles) == 1 else "leave"
    leaves, doubt = (leave, "") if finding.is_certain else ("may leave", " (the table does not tell)")
    return Said(
        f"{lead(finding.subject)}{percentiles} {leaves} out the {percent(finding.failed)} of requests that failed"
        f"{doubt}: these may have been the slowest.",
        SURVIVORS,
        "Count a failed request as one that took its time limit.",
    )


def _part(share: float) -> str:
    return "all requests" if share == 1 else f"{percent(share)} of the requests"


def _share(level: LevelFailures) -> str:
    """4.2 % [3.9, 4.6]."""
    low, high = (f"{bound * 100:.3g}" for bound in level.bounds)
    return f"{level.share * 100:.4g} %" + (f" [{low}, {high}]" if low != high else "")


def _with(kinds: FailureKinds) -> str:
    """ " with HTTP 500"; " (connection refused)"; "" for failures of several kinds."""
    if kinds.statuses:
        return f" with {_statuses(kinds.statuses)}"
    return f" ({kinds.message})" if kinds.message else ""


def _statuses(statuses: Iterable[int]) -> str:
    return several([f"HTTP {status}" for status in statuses])


def _intervals(levels: Iterable[LevelFailures]) -> dict[str, Evidence]:
    return {f"interval at {level.level}": level.bounds for level in levels}
