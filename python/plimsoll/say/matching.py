"""What differs between studies that are compared, by their labels: warnings, without a full stop."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll.say.durations import seconds_text
from plimsoll.say.names import listed, several
from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from plimsoll.stats.study import Level, Trial

    Sides = Mapping[str, Sequence[Trial]]
    """The runs of each study, by its label."""

LONGER = 1.1
"""Durations that differ by more than this factor are named."""
_CLOCKS = {
    "due": "was due", "sent": "was sent", "corrected": "was due, by a correction afterwards", "unknown": "is not known",
}  # fmt: skip
_SCOPES = {"all": "failed requests too", "successes": "successful requests only", "unknown": "unknown which requests"}


def by_label(texts: Mapping[str, str]) -> str:
    """a: 10 users; b: 20 users."""
    return "; ".join(f"{label}: {text}" for label, text in texts.items())


def levels_text(levels: Iterable[Level | None]) -> str:
    known = sorted(level for level in levels if level is not None)
    return several([str(level) for level in known]) if known else "no level"


def endpoints_text(keys: Collection[tuple[str, str]]) -> str:
    ordered = sorted(keys, key=lambda key: (key[1], key[0]))
    return several([f"{method} {name}".strip() for method, name in ordered]) if keys else "none"


def title(labels: Sequence[str], variants: Collection[Sequence[str]]) -> str:
    """new, newer against old; locustfile.py, 2 runs. labels: the baseline's first. variants: the distinct ones of the
    studies. Titles contain no ids of runs."""
    alone = {own[0] for own in variants if len(own) == 1}
    if len(alone) == 1:
        return f"{alone.pop()}, {counted(len(labels), 'run')}"
    baseline, *others = labels
    return f"{', '.join(others)} against {baseline}"


def left_out(label: str, what: str) -> str:
    return f"only {label} has {what}: left out"


def more_endpoints(label: str, endpoints: str) -> str:
    return f"only {label} has {endpoints}; Aggregated is not of the same requests"


def other_names(endpoints: Mapping[str, str]) -> str:
    return f"endpoints have different names ({by_label(endpoints)}); they are taken for the same"


def other_load(levels: Mapping[str, str]) -> str:
    return f"the load differs ({by_label(levels)}): a difference may be that of the load"


def other_environments(names: Iterable[str]) -> str:
    return f"the environments differ: {several(list(names))}"


def not_side_by_side(labels: Sequence[str]) -> str:
    return f"{several(labels)} were not run side by side: what else changed meanwhile is in every difference"


def definitions(sides: Sides) -> Iterator[str]:
    """Where the same term has different meanings."""
    if clocks := _unlike(sides, lambda trial: _CLOCKS[trial.precision.clock]):
        yield f"times do not begin at the same moment: when a request … {clocks}"
    if scopes := _unlike(sides, lambda trial: _SCOPES[trial.precision.times_of]):
        yield f"times are not of the same requests: {scopes}"
    if digits := _unlike(sides, _rounding):
        yield f"times are not rounded alike: {digits}"
    if models := _unlike(sides, lambda trial: f"{trial.model} model"):
        yield (
            f"the load models differ: {models}; users of the closed one ask less of a slow target, arrivals of the "
            "open one do not"
        )


def circumstances(sides: Sides) -> Iterator[str]:
    """How the runs themselves differ."""
    scenarios = [{trial.scenario for trial in trials if trial.scenario} for trials in sides.values()]
    if all(scenarios) and any(own != scenarios[0] for own in scenarios):
        yield "their scenarios are not the same: a difference may be that of the work"
    known = {
        label: [trial.duration for trial in trials if trial.duration is not None] for label, trials in sides.items()
    }
    lengths = {label: length for label, durations in known.items() if durations and (length := fmean(durations))}
    if lengths and max(lengths.values()) > LONGER * min(lengths.values()):
        texts = {label: seconds_text(length) for label, length in lengths.items()}
        yield f"runs are not of the same length: {by_label(texts)}"
    warmups = {label: f"{max(trial.warmup for trial in trials):g} s" for label, trials in sides.items()}
    if len(set(warmups.values())) > 1:
        yield f"warm-ups of different lengths are left out: {by_label(warmups)}"


def _unlike(sides: Sides, of: Callable[[Trial], str]) -> str:
    """A text of each side; "" if all are the same."""
    texts = {label: listed(dict.fromkeys(map(of, trials))) for label, trials in sides.items()}
    return by_label(texts) if len(set(texts.values())) > 1 else ""


def _rounding(trial: Trial) -> str:
    precision = trial.precision
    if precision.digits is None:
        return "all digits"
    least = f", no finer than {precision.floor:g} ms" if precision.floor else ""
    return f"{precision.digits} significant digits{least}"
