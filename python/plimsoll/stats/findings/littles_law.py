"""LITTLE: users, throughput and latency that do, or do not, fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.stats.findings import wording
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.rows import seconds_of, whole
from plimsoll.stats.little import IMPOSSIBLE, MARGIN, MISSING, Little, little, little_open, lognormal_mean
from plimsoll.stats.study import PLIMSOLL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.study import Measured, Study, Trial

RULE = (
    "r = X · (R + Z) / N, with the users that were there on average while they were being started, is within "
    f"1 − R_max/T − 0.02 … 1.02 (0.05 for a mean guessed from p50 and p95): above {IMPOSSIBLE} the numbers are "
    f"impossible, below {MISSING} users, timeouts or failures are unaccounted for"
)


def littles_law(study: Study) -> Iterable[Finding]:
    held: list[tuple[Trial, Measured, Little]] = []
    unknown = 0
    for trial in study.trials:
        row = whole(trial)
        if trial.invalid or row is None:
            continue
        found = judged(trial, row)
        if found is None:
            unknown += 1
            continue
        if found.word == "holds":
            held.append((trial, row, found))
        elif trial.precision.tool != PLIMSOLL.tool:
            # Ours were judged by what was counted in flight (`stats.validity`): users' code takes time of its own.
            yield _broken(study, trial, found)
    if held:
        yield _held(study, held, unknown)


def judged(trial: Trial, row: Measured) -> Little | None:
    """By what is known of the run; None when that is too little, also for users who pause an unknown time."""
    mean, guessed = _mean(row)
    rate = row.requests / trial.duration if row.requests is not None and trial.duration else row.rate
    if not mean or not rate:
        return None
    seconds = seconds_of(trial)[0]
    if trial.model == "open":
        in_flight = trial.generator.in_flight if trial.generator is not None else None
        return little_open(in_flight, rate, mean, duration=seconds, longest=row.max) if in_flight else None
    users = _users(trial)
    if not users:
        return None
    found = little(
        users,
        rate,
        mean,
        think=trial.think or 0.0,
        duration=seconds,
        ramp=trial.ramp,
        longest=row.max,
        guessed=guessed,
    )
    # What is missing may be pauses that nobody told of; what is too much cannot.
    return None if trial.think is None and found.ratio < found.low else found


def _users(trial: Trial) -> float | None:
    if trial.users is not None:
        return trial.users
    return trial.level.users if trial.level is not None else None


def _mean(row: Measured) -> tuple[float | None, bool]:
    """And whether it is guessed."""
    if row.mean is not None:
        return row.mean, False
    p50, p95 = row.quantile(0.5), row.quantile(0.95)
    return (lognormal_mean(p50, p95), True) if p50 and p95 else (None, False)


def _broken(study: Study, trial: Trial, found: Little) -> Finding:
    meanings = {
        "impossible": "the numbers cannot be of one and the same run",
        "missing": "users were missing, or requests were not counted (timeouts, failures)",
        "doubtful": "more than the edges of the run explain",
        "holds": "",
    }
    return Finding(
        "LITTLE",
        "warning" if found.word == "doubtful" else "blocks",
        f"{wording.place(study, trial)}: throughput × latency accounts for {wording.percent(found.ratio)} of "
        f"{wording.number(found.users)} {'users' if trial.model == 'closed' else 'requests in flight'}, outside of "
        f"{wording.percent(found.low)} to {wording.percent(found.high)}: {meanings[found.word]}.",
        Where(trial.variant, trial.level, trial.operation, None, trial.id),
        RULE,
        {"ratio": found.ratio, "accepted": (found.low, found.high), "users": found.users},
        "Check that users, duration, counts and mean latency are of the same run, and that users do not pause.",
    )


def _held(study: Study, held: list[tuple[Trial, Measured, Little]], unknown: int) -> Finding:
    ratios = [found.ratio for _, _, found in held]
    evidence: dict[str, float | str | tuple[float, ...]] = {"ratios": tuple(ratios)}
    deficits = []
    for trial, row, found in held:
        seconds = seconds_of(trial)[0]
        if trial.model == "closed" and row.max is not None and row.mean and seconds and found.ratio < 1:
            # What each user had begun and not finished at the end, in mean latencies of what takes most of the time.
            unfinished = (1 - found.ratio) * seconds * 1000 / _dominant_mean(trial, row.mean)
            deficits.append((1 - found.ratio, row.max / 1000 / seconds, unfinished))
    cut = ""
    if deficits:
        missing, edge, _ = max(deficits)
        evidence |= {
            "deficit": missing,
            "deficit_explained": edge,
            "unfinished_per_user": tuple(each for _, _, each in deficits),
        }
        least, most = min(each for _, _, each in deficits), max(each for _, _, each in deficits)
        per_user = f"{least:.2f} to {most:.2f} mean latencies per user"
        if MARGIN < missing <= edge:
            cut = (
                f"; the at most {wording.percent(missing)} that is missing is less than the {wording.percent(edge)} "
                f"that requests cut off at the end can take ({per_user})"
            )
    never_pause = all(trial.model == "closed" and not trial.think for trial, _, _ in held)
    unchecked = f"; {wording.count(unknown, 'other')} could not be checked" if unknown else ""
    mean = "R" if never_pause else "(R + Z)"
    one = "; users hardly pause, so throughput and mean latency tell one thing, not two" if never_pause else ""
    return Finding(
        "LITTLE",
        "insight",
        f"Little's law holds in {len(held)} of {wording.count(len(study.trials), 'run')} "
        f"(X · {mean} / N {min(ratios):.3f} to {max(ratios):.3f}){cut}{one}{unchecked}.",
        Where(),
        RULE,
        evidence,
    )


def _dominant_mean(trial: Trial, whole_mean: float) -> float:
    """Of the endpoint in which users spend most of their time."""
    parts = [(part.mean * part.requests, part.mean) for part in trial.endpoints if part.mean and part.requests]
    return max(parts)[1] if len(parts) == len(trial.endpoints) > 0 else whole_mean
