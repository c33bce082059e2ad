"""ERR: the load at which failures begin, how they change with it, and whether load is the cause at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats import wording
from plimsoll.stats.distributions.binomial import same_share_p
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.ladders import of_endpoints
from plimsoll.stats.findings.rows import cells, grouped, rows_of
from plimsoll.stats.proportions import clopper_pearson, wilson
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.ladders import Ladder, Rung
    from plimsoll.stats.study import Measured, Study

CHANGES = 0.05
"""p of the same share at all levels, below which failures depend on the load."""
FAST = 0.5
"""Failures that take at most this share of the time of other requests were rejected, not served."""
OF_LOAD = frozenset({408, 425, 429})
"""Statuses by which a service refuses load: too slow, too early, too many."""
ONSET = (
    "the first level whose share of failures is certainly (lower 95 % bound, Clopper–Pearson) above what the study "
    "tolerates, and the next level too: overload does not go away with more load"
)
PRECONDITION = (
    "failures with a 4xx status, at the lowest level already, that took at most half as long as other requests: "
    "overload begins at some load, and makes answers slow"
)
APART = "Find out why they fail; look at the latencies of failed and of successful requests apart."
CLAIM = "a share that is claimed has to lie beyond the claim with its whole 95 % interval (Wilson), at every level"


@dataclass(frozen=True, slots=True)
class _Share:
    rung: Rung
    failures: int
    requests: int

    @property
    def value(self) -> float:
        return self.failures / self.requests

    @property
    def bounds(self) -> tuple[float, float]:
        """Wilson's."""
        return wilson(self.failures, self.requests)

    @property
    def text(self) -> str:
        low, high = (f"{bound * 100:.3g}" for bound in self.bounds)
        return f"{self.value * 100:.4g} %" + (f" [{low}, {high}]" if low != high else "")


def errors(study: Study) -> Iterable[Finding]:
    yield from _without_level(study)
    for ladder in of_endpoints(study):
        shares = [
            _Share(rung, rung.failures, rung.requests)
            for rung in ladder.rungs
            if rung.requests and rung.failures is not None
        ]
        first = _onset(shares, study.tolerance)
        if first is None:
            continue
        yield _begins(study, ladder, shares, first)
        if first == 0 and (suspected := _precondition(study, ladder, shares)) is not None:
            yield suspected


def _without_level(study: Study) -> Iterable[Finding]:
    """Runs whose load had several levels, or unknown ones."""
    for trials in cells(study):
        rows = grouped(trials, lambda trial: trial.endpoints or rows_of(trial)) if trials[0].level is None else ()
        for same in rows:
            requests, failures = (sum(getattr(row, name) or 0 for _, row in same) for name in ("requests", "failures"))
            if not requests or clopper_pearson(failures, requests)[0] <= study.tolerance:
                continue
            trial, row = same[0]
            who = wording.subject(study, trial.variant, trial.operation, row.label if row.key != TOTAL else "")
            yield Finding(
                "ERR",
                "warning",
                f"{wording.lead(who)}{_part(failures / requests)} fail{_with([row for _, row in same])}.",
                Where(trial.variant, None, trial.operation, row.key),
                ONSET,
                {"shares": (failures / requests,)},
                APART,
            )


def claims(study: Study) -> Iterable[Finding]:
    """Statements of a report about its own failures."""
    for claim in study.claims:
        if claim.kind != "errors":
            continue
        for ladder in of_endpoints(study):
            is_named = claim.operation in (None, ladder.operation) and claim.endpoint in (None, ladder.key)
            shares = [_Share(rung, rung.failures or 0, rung.requests) for rung in ladder.rungs if rung.requests]
            if not is_named or not any(share.failures for share in shares):
                continue
            is_more = claim.relation == ">"
            wrong = [each for each in shares if not _holds(each, claim.value, is_more)]
            if not wrong:
                continue
            relation = "more" if is_more else "less"
            who = wording.lead(wording.subject(study, ladder.variant, ladder.operation, ladder.label))
            yield Finding(
                "ERR",
                "warning",
                f"{who}that {relation} than {claim.value * 100:g} % of the requests failed is not supported at "
                f"{wording.several([f'{each.rung.level} ({each.text})' for each in wrong])}.",
                Where(ladder.variant, None, ladder.operation, ladder.key),
                CLAIM,
                {"claimed": claim.value, "claim": claim.text, "place": claim.place, **_evidence(shares)},
                "Quote the share with its interval, or count more requests.",
            )


def _holds(share: _Share, value: float, is_more: bool) -> bool:
    low, high = share.bounds
    return low > value if is_more else high < value


def _onset(shares: Sequence[_Share], tolerance: float) -> int | None:
    certain = [clopper_pearson(each.failures, each.requests)[0] > tolerance for each in shares]
    for index, above in enumerate(certain):
        if above and (index + 1 == len(certain) or certain[index + 1]):
            return index
    return None


def _begins(study: Study, ladder: Ladder, shares: Sequence[_Share], first: int) -> Finding:
    evidence = _evidence(shares)
    onset, last = shares[first], shares[-1]
    kinds = _with([row for each in shares for row in each.rung.measured])
    if first:
        text = (
            f"requests begin to fail{kinds} between {shares[first - 1].rung.level} and {onset.rung.level}: "
            f"{wording.percent(onset.value)} at {onset.rung.level}"
        )
        evidence["bracket"] = (shares[first - 1].rung.load, onset.rung.load)
    else:
        is_lowest = len(shares) > 1
        text = f"{_part(onset.value)} fail{kinds} at {onset.rung.level}{', the lowest level' if is_lowest else ''}"
        evidence |= {"bracket": (0.0, onset.rung.load)} if is_lowest else {}
    if onset is not last:
        text += f", {'all' if last.value == 1 else wording.percent(last.value)} at {last.rung.level}"
    p = _differ(shares)
    if p is not None:
        evidence["p_same_share"] = p
        text += " (the share changes with the load)" if p <= CHANGES else ""
    return Finding(
        "ERR",
        "warning",
        f"{wording.lead(wording.subject(study, ladder.variant, ladder.operation, ladder.label))}{text}.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        ONSET,
        evidence,
        APART,
    )


def _part(share: float) -> str:
    return "all requests" if share == 1 else f"{wording.percent(share)} of the requests"


def _precondition(study: Study, ladder: Ladder, shares: Sequence[_Share]) -> Finding | None:
    statuses = {kind.status for each in shares for row in each.rung.measured for kind in row.kinds if kind.count}
    if not statuses or not all(status is not None and 400 <= status < 500 for status in statuses):
        return None
    if statuses & OF_LOAD:
        return None
    compared = [pair for each in shares if (pair := _times(each)) is not None]
    if not compared or any(failed > FAST * other for failed, other in compared):
        return None
    failed = [each for each, _ in compared]
    named = wording.several([f"HTTP {status}" for status in sorted(filter(None, statuses))])
    who = wording.lead(wording.subject(study, ladder.variant, ladder.operation, ladder.label))
    return Finding(
        "ERR",
        "warning",
        f"{who}failures are {named}, at the lowest level already, and are answered in {wording.times(failed)} where "
        f"other requests of the same users take {wording.times(other for _, other in compared)}: hypothesis: a "
        "precondition or the test data is at fault, not overload.",
        Where(ladder.variant, None, ladder.operation, ladder.key if ladder.label else None),
        PRECONDITION,
        {"failed_ms": tuple(failed), "others_ms": tuple(other for _, other in compared)},
        "Look at one such reply's body, and try a run with fresh data for each request.",
    )


def _times(share: _Share) -> tuple[float, float] | None:
    """ms of failures, and of successes of the endpoint; else, if most of the endpoint's requests failed, its mean and
    that of the other endpoints of the same users."""
    rows = share.rung.measured
    failed = [row.mean_failure for row in rows if row.mean_failure is not None]
    succeeded = [row.mean_success for row in rows if row.mean_success is not None]
    if len(failed) == len(succeeded) == len(rows):
        return sum(failed) / len(failed), sum(succeeded) / len(succeeded)
    if share.value <= 0.5 or share.rung.mean is None:
        return None
    others = [
        (part.mean, part.requests)
        for trial, row in zip(share.rung.trials, rows, strict=True)
        for part in trial.endpoints
        if part.key != row.key and part.mean is not None and part.requests
    ]
    requests = sum(count for _, count in others)
    return (share.rung.mean, sum(mean * count for mean, count in others) / requests) if requests else None


def _differ(shares: Sequence[_Share]) -> float | None:
    """p of one share of failures at all rungs: χ² test of the table of counts."""
    failures = [each.failures for each in shares]
    successes = [each.requests - each.failures for each in shares]
    if len(shares) < 2 or not sum(failures) or not sum(successes):
        return None
    return same_share_p(failures, successes)


def _with(rows: Iterable[Measured]) -> str:
    """E.g. " with HTTP 500"; without a status the message of the most frequent failure, if there is only one kind."""
    kinds = [kind for row in rows for kind in row.kinds if kind.count]
    statuses = {kind.status for kind in kinds}
    known = sorted(status for status in statuses if status is not None)
    if known and None not in statuses:
        return f" with {wording.several([f'HTTP {status}' for status in known])}"
    messages = {kind.message.strip(" .") for kind in kinds}
    if len(messages) > 1:
        messages = {kind.group.strip(" .") or kind.message for kind in kinds}
    return f" ({messages.pop()})" if len(messages) == 1 and any(messages) else ""


def _evidence(shares: Sequence[_Share]) -> dict[str, float | str | tuple[float, ...]]:
    evidence: dict[str, float | str | tuple[float, ...]] = {
        "loads": tuple(each.rung.load for each in shares),
        "shares": tuple(each.value for each in shares),
    }
    evidence |= {f"interval at {each.rung.level}": each.bounds for each in shares}
    return evidence
