"""Parts of sentences: names, lists, changes with their ranges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll.say import comparisons
from plimsoll.say.names import code
from plimsoll.say.numbers import short_percent
from plimsoll.say.remarks import remark_text
from plimsoll.stats.metric import Metric

if TYPE_CHECKING:
    from plimsoll.stats.compare.comparison import Comparison

TIMES_FROM = 2.0
"""A ratio from here on, or below its inverse, is said as "4.4 times"; one between them as a percentage."""
_FRACTIONS = {"half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a fifth": 1 / 5, "a tenth": 1 / 10}
_NEAR = 0.06
"""How far a share may be from a fraction that stands for it, relative."""
_THROUGHPUT = Metric("throughput")


def change(comparison: Comparison) -> str:
    """How b differs from a, to be followed by "than a": "34 % faster", "12 % more requests"; on a full machine
    "faster". The ratio is known."""
    metric, ratio = comparison.metric, comparison.ratio
    if metric.kind == "errors":
        points = 100 * (comparison.difference or 0.0)
        return f"{abs(points):.2g} percentage points {'more' if points > 0 else 'fewer'} failures"
    assert ratio is not None
    return _way(metric, ratio) if comparison.full_machine is not None else _sized(metric, ratio)


def sentence(comparison: Comparison, where: str = "") -> str:
    """b beside a, with the metric and the range: "`b` is 34 % faster than `a` (p50, 31–38 %, 5 interleaved pairs)"; no
    full stop. where: " at 48 users", before the brackets."""
    b, a = code(comparison.b), code(comparison.a)
    text = change(comparison)
    metric = comparison.metric.text if is_typical(comparison.metric) else ""
    if comparison.full_machine is not None:
        verb = "is" if metric else "has a" if _is_noun(comparison.metric) else "answers"
        basis = ", ".join(filter(None, (metric, remark_text(comparison.full_machine))))
        return f"{b} {verb} {text} than {a}{where} ({basis})"
    basis = ", ".join(filter(None, (metric, span(comparison), comparisons.basis(comparison))))
    if comparison.metric.kind == "errors":
        return f"{b} has {text} than {a}{where} ({basis})"
    assert comparison.ratio is not None
    relative = is_relative(comparison.ratio)
    if _is_noun(comparison.metric):
        verb = "has a" if relative else "has"
    elif is_typical(comparison.metric):
        verb = "is" if comparison.ratio < TIMES_FROM else "takes"
    else:
        verb = "answers"
    return f"{b} {verb} {text} {'than' if relative else 'as'} {a}{where} ({basis})"


def beside(comparison: Comparison, rate: float | None) -> str:
    """b beside a without an interval: `b` answers 4.4 times as many requests as `a`; by the comparison's own metric
    when the ratio of their rates is not known. No full stop."""
    b, a = code(comparison.b), code(comparison.a)
    if rate is None:
        return f"{b} against {a}: {from_to(comparison)}"
    text = _sized(_THROUGHPUT, rate)
    return f"{b} answers {text} {'than' if is_relative(rate) else 'as'} {a}"


def span(comparison: Comparison) -> str:
    """The interval: 31–38 %, 3.9–5.0 times, −2.0 to 5.0 %; "" for one that says nothing about other runs."""
    low, high, ratio = comparison.low, comparison.high, comparison.ratio
    if comparison.within_run:
        return ""
    if comparison.difference_low is not None and comparison.difference_high is not None:
        return _between(100 * comparison.difference_low, 100 * comparison.difference_high, "")
    if ratio is None or low is None or high is None or not (low > 0 and math.isfinite(high)):
        return ""
    if is_typical(comparison.metric) and ratio <= 1 / TIMES_FROM:
        low, high = 1 / high, 1 / low
    if not is_relative(ratio):
        return f"{_short(low)}–{_short(high)} times"
    return _between(100 * (low - 1), 100 * (high - 1), " %")


def from_to(comparison: Comparison) -> str:
    """p50 4.00 → 3.98 ms; 62.7 → 279 requests/s."""
    name = "" if comparison.metric.kind == "throughput" else f"{_name(comparison.metric)} "
    return f"{name}{values(comparison)}"


def values(comparison: Comparison) -> str:
    """4.00 → 3.98 ms; 62.7 → 279 requests/s."""
    return comparisons.values(comparison).replace("/s", " requests/s")


def is_relative(ratio: float) -> bool:
    """Whether it is said as a percentage."""
    return 1 / TIMES_FROM < ratio < TIMES_FROM


def times(ratio: float) -> str:
    """4.4 times; a quarter for 0.25."""
    return f"{_short(ratio)} times" if ratio >= 0.95 else fraction(ratio)


def fraction(share: float) -> str:
    """a quarter; 18 %."""
    near = (name for name, value in _FRACTIONS.items() if abs(share / value - 1) <= _NEAR)
    return next(near, short_percent(share))


def is_typical(metric: Metric) -> bool:
    """Whether "faster" and "slower" mean this metric: the median or the mean."""
    return metric.kind == "mean" or metric.quantile == 0.5


def _sized(metric: Metric, ratio: float) -> str:
    """12 % more requests; 4.4 times as many requests."""
    if is_relative(ratio):
        return f"{short_percent(abs(ratio - 1))} {_way(metric, ratio)}"
    if is_typical(metric) and ratio < 1:
        return f"{_short(1 / ratio)} times as fast"
    return f"{times(ratio)} {_whole(metric)}"


def _is_noun(metric: Metric) -> bool:
    return metric.kind == "max" or (metric.quantile is not None and not is_typical(metric))


def _way(metric: Metric, ratio: float) -> str:
    if metric.kind == "throughput":
        return "more requests" if ratio > 1 else "fewer requests"
    if is_typical(metric):
        return "slower" if ratio > 1 else "faster"
    return f"{'higher' if ratio > 1 else 'lower'} {_name(metric)}"


def _whole(metric: Metric) -> str:
    """What follows "4.4 times"."""
    if metric.kind == "throughput":
        return "as many requests"
    return "as long" if is_typical(metric) else f"as high a {_name(metric)}"


def _name(metric: Metric) -> str:
    return {"max": "maximum", "errors": "failed", "mean": "mean"}.get(metric.kind, metric.text)


def _between(low: float, high: float, unit: str) -> str:
    """31–38 %; across 0 with signs."""
    if low < 0 < high:
        return f"−{_short(-low)} to +{_short(high)}{unit}"
    ends = sorted((abs(low), abs(high)))
    return f"{_short(ends[0])}–{_short(ends[1])}{unit}"


def _short(number: float) -> str:
    """Two digits or the whole part: 0.42, 4.4, 31, 442."""
    return f"{number:.0f}" if number >= 9.95 else f"{number:.1f}" if number >= 0.95 else f"{number:.2g}"
