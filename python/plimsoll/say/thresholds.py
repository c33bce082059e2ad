"""What became of a threshold, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.numbers import quantity

if TYPE_CHECKING:
    from plimsoll.stats.thresholds.verdict import ThresholdResult, ThresholdVerdict


def threshold_result(verdict: ThresholdVerdict) -> ThresholdResult:
    """The verdict as it is recorded, with its line for people."""
    return verdict.with_detail(_without_reading(verdict) or _read(verdict))


def _without_reading(verdict: ThresholdVerdict) -> str:
    """Why nothing was read; "" if something was."""
    threshold = verdict.threshold
    match verdict.basis, verdict.values:
        case "no requests", _:
            return "no requests were measured"
        case "only in the warm-up", _:
            return f"{threshold.endpoint} did not occur after the warm-up"
        case "never occurred", _:
            nearest = f"; the nearest that did is {verdict.nearest}" if verdict.nearest else ""
            return f"{threshold.endpoint} never occurred{nearest}"
        case "too short", (duration,):
            return f"{duration:.3g} s were measured, too few for a window of {threshold.seconds} s"
    return ""


def _read(verdict: ThresholdVerdict) -> str:
    threshold, reading, where = verdict.threshold, verdict.reading, _where(verdict)
    limit = f"{threshold.op} {quantity(threshold.limit, threshold.unit)}".replace("==", "=")
    subject = f"{threshold.subject} of {threshold.endpoint}" if threshold.endpoint else str(threshold.subject)
    if reading.value is None:
        return f"{subject}: {'no answers' if threshold.subject.is_time else 'no requests'}{where}"
    text = f"{subject}: {quantity(reading.value, threshold.unit, at_least=reading.at_least)}{where}"
    if verdict.may_hold:
        return f"{text}: not shown to be {limit}, because requests were given up on, and it may be more"
    if not reading.held:
        return f"{text}, not {limit}"
    if verdict.is_within_share:
        share = quantity(reading.share, threshold.unit)
        return f"{text}, up to {share} of it the generator's: not shown to be {limit}, nor to break it"
    return text


def _where(verdict: ThresholdVerdict) -> str:
    seconds = verdict.threshold.seconds
    match verdict.basis, verdict.values:
        case "run so far", (measured,):
            return f" after {measured:.0f} s, which ended the run"
        case "window", (end,):
            return f" from {end + 1 - seconds:.0f} s to {end + 1:.0f} s"
        case "worst window", (end,):
            return f" at worst, from {end + 1 - seconds:.0f} s to {end + 1:.0f} s"
        case "seconds in a row", (end,):
            return f" in second {end:.0f}, the last of {seconds} in a row"
        case "worst second", (end, longest):
            return f" at worst, in second {end:.0f}; at most {longest:.0f} violated in a row"
    return ""
