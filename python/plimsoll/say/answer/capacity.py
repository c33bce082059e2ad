"""The answer of a search for capacity in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import duration_text
from plimsoll.say.names import listed
from plimsoll.say.numbers import counted, significant
from plimsoll.stats.capacity.estimate import capacity
from plimsoll.stats.cells import requests_per_arrival

if TYPE_CHECKING:
    from plimsoll.stats.capacity.estimate import Capacity
    from plimsoll.stats.capacity.probe import CapacitySearch
    from plimsoll.stats.study import LoadUnit, Study
    from plimsoll.stats.thresholds.grammar import Threshold

PER_ARRIVAL = 0.25
"""As many requests as arrivals, within this share: then a rate is said in requests. A flow has two or more each."""


def sentences(study: Study, search: CapacitySearch) -> tuple[str, ...]:
    """One to three. search: that of the study."""
    found = capacity(search.probes)
    objective = ", ".join(criterion.text for criterion in search.slo)
    runs = f"with {objective}, in runs of {duration_text(search.seconds)}"
    what = "users" if search.unit == "users" else f"{_rate_of(study)}/s"
    if found.ending == "unmet":
        least = f"{exact_load(found.high or 0.0, search.unit)}, the lowest load that was tried"
        return (f"This service does not meet {objective} even at {least}.",)
    said = [f"{_carries(found, what, runs)}."]
    if found.ending == "bracket" and found.high is None:
        said.append(_disagreement(search, found))
    if found.generator is not None:
        said.append(
            f"Above that the load generator was the limit, not the service ({generator_limit(found.generator)})."
        )
    elif found.ending == "unbroken":
        said.append("Nothing that was tried broke the objective.")
    elif found.broken and not (found.ending == "bracket" and found.high is None):
        said.append(f"Above that {listed([subject(criterion) for criterion in found.broken])} broke the objective.")
    if found.grows is not None:
        load, growth = found.grows
        at = exact_load(load, search.unit)
        said.append(
            f"A longer run may carry less: the backlog was still growing at {at}, "
            f"by {growth:.2g} {_rate_of(study)} per second."
            if growth
            else f"The backlog did not grow in runs up to {at}; longer runs (--time) show whether that lasts."
        )
    return tuple(said)


def generator_limit(limit: tuple[float, str]) -> str:
    load, why = limit
    return f"at {load:.12g}: {why}"


def _disagreement(search: CapacitySearch, found: Capacity) -> str:
    """Of the runs above `low`, some of which met the objective."""
    above = [probe for probe in search.probes if not probe.invalid and probe.load > (found.low or 0.0)]
    loads = [probe.load for probe in above if not probe.passed]
    first, last = (exact_load(load, search.unit) for load in (min(loads), max(loads)))
    where = first if first == last else f"{first} to {last}"
    broken = listed([subject(criterion) for criterion in found.broken])
    higher = "Of the runs above that" if found.low else "Of the runs"
    return f"{higher}, {len(loads)} of {len(above)} broke the objective by {broken}, at {where}; the others met it."


def _carries(found: Capacity, what: str, runs: str) -> str:
    low, high = (f"{load:.12g}" if load is not None else "" for load in (found.low, found.high))
    match found.ending:
        case "found":
            interval = f"{rough_load(found.low)}–{rough_load(found.high)}"
            return f"This service carries {rough_load(found.load)} {what} ({interval}) {runs}"
        case "bracket" if low and high:
            return f"This service carries between {low} and {high} {what} {runs}; the runs between disagree"
        case "bracket" if low or high:
            return f"This service carries {f'at least {low}' if low else f'less than {high}'} {what} {runs}"
        case "bracket":
            return (
                f"No load can be named that this service carries {runs}: at all loads some runs met it, others did not"
            )
        case "unbroken":
            return f"This service carries at least {low} {what} {runs}"
        case _:
            return f"No answer {runs}: no run counts"


def _rate_of(study: Study) -> str:
    """requests, where each arrival is one; else arrivals."""
    ratio = requests_per_arrival(study)
    return "requests" if ratio is not None and abs(ratio - 1) <= PER_ARRIVAL else "arrivals"


def subject(threshold: Threshold) -> str:
    return f"{threshold.subject} of {threshold.endpoint}" if threshold.endpoint else str(threshold.subject)


def exact_load(load: float, unit: LoadUnit) -> str:
    return counted(round(load), "user") if unit == "users" else f"{load:.12g}/s"


def rough_load(load: float | None) -> str:
    return "" if load is None else significant(load, 3)
