"""Comparisons and findings in words: the same in every report.

    p99 GET_thread   200 → 210 ms   ×1.05 [0.98, 1.13]   NOT DISTINGUISHABLE (5 interleaved pairs, p=.13, …)
       resolves ±7.4 % now; ±5 % needs 3 more pairs (≈ 36 min at 2×(300+60) s); 80 % power for 5 %: 8 more pairs
       p99 rests on 8 579 requests/run, deff 2.2; tool step 0.1 %; warm-up 20 s removed; checks 9/9

A difference that is not certain is never called none: only "equivalent" says that two values are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.say.numbers import ABOUT, NONE, amount, count, counted, p_value, short_percent, signed, significant
from plimsoll.say.remarks import reason_text, remark_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.stats.compare.comparison import Comparison, RunsNeeded, VerdictWord
    from plimsoll.stats.findings.finding import FindingWeight, Where
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Study

WORDS: Mapping[VerdictWord, str] = {
    "different": "DIFFERENT",
    "negligible": "DIFFERENT but negligible",
    "equivalent": "EQUIVALENT",
    "not distinguishable": "NOT DISTINGUISHABLE",
    "one run": "ONE RUN EACH",
    "no verdict": "NO VERDICT",
    "invalid": "INVALID",
}
WEIGHTS: Mapping[FindingWeight, str] = {"blocks": "blocks verdicts", "warning": "warning", "insight": "insight"}
_WITHOUT_SUPPORT: tuple[VerdictWord, ...] = ("no verdict", "invalid", "one run")
"""With these nothing rests on several pairs."""
WITHIN_RUN = "within-run only"
"""Of an interval that says nothing about further runs."""
TOTAL = "Aggregated"
"""All endpoints together, as everywhere."""
WIDEST = 1.0
"""A change by this, relative: twice as much."""
MOST_PARTS = 12
"""Numbers of one piece of evidence that are printed; the JSON has all."""

_LOUDEST = 4
"""Most decimals of a ratio."""
_SMALLEST, _LARGEST = 0.01, 1000
"""Ends of an interval are printed within these."""


def verdict(comparison: Comparison) -> str:
    """The word, with what belongs to it: DIFFERENT, at least 5 %; EQUIVALENT within 5 %; INVALID: reason."""
    word, delta = WORDS[comparison.word], short_percent(comparison.metric.delta)
    if comparison.word == "different":
        return f"{word}, at least {delta}" if comparison.at_least else word
    if comparison.word == "equivalent":
        return f"{word} within {delta}"
    reason = reason_text(comparison)
    return f"{word}: {reason}" if reason else word


def short_verdict(comparison: Comparison) -> str:
    """For a chip: "34 % faster", "4.1 times as long", "no clear difference (±20 %)", "3.1 times, unclear (3 pairs)",
    "−46 %, other work"."""
    delta = short_percent(comparison.metric.delta)
    if comparison.word == "different":
        return _certain(comparison)
    if comparison.word in ("negligible", "equivalent"):
        return f"same (±{delta})"
    if comparison.word == "not distinguishable":
        if is_unclear(comparison):
            runs = basis(comparison) if comparison.earlier else counted(comparison.pairs, "pair")
            return f"{sized(comparison)}, unclear ({runs})"
        widest = bound(comparison)
        return "no clear difference" + (f" (±{short_percent(widest)})" if widest is not None else "")
    if comparison.word == "one run":
        return sized(comparison)
    shown = f"{sized(comparison)}, " if comparison.ratio is not None else ""
    return f"{shown}{'other work' if comparison.word == 'invalid' else 'no verdict'}"


def _certain(comparison: Comparison) -> str:
    """34 % faster; 2.8 times as fast; 4.1 times as long; 4.4 times as many requests; faster, machine full."""
    way, ratio = direction(comparison), comparison.ratio
    if not way:
        return change(comparison)
    if comparison.full_machine is not None:
        return f"{way}, machine full"
    is_rate = comparison.metric.kind == "throughput"
    if comparison.difference is None and ratio is not None:
        if ratio >= 1 + WIDEST:
            return f"{significant(ratio, 2)} times as {'many requests' if is_rate else 'long'}"
        if not is_rate and 0 < ratio <= 1 / (1 + WIDEST):
            return f"{significant(1 / ratio, 2)} times as fast"
    return f"{change(comparison).lstrip('+−')} {way}"


def bound(comparison: Comparison) -> float | None:
    """The largest relative change that the interval leaves open, on either side. None without an interval of the
    ratio, and for one that leaves `WIDEST` open: it rules out nothing worth saying."""
    if comparison.low is None or comparison.high is None or comparison.difference is not None:
        return None
    widest = max(comparison.high - 1, 1 - comparison.low)
    return widest if widest < WIDEST else None


def is_unclear(comparison: Comparison) -> bool:
    """Of one that is not distinguishable: whether the change that was seen is large beside what is ruled out, so that
    "no difference" would mislead."""
    if comparison.difference is not None or comparison.ratio is None:
        return False
    if (comparison.low or 0.0) > 1 or (comparison.high is not None and comparison.high < 1):
        return True  # Its own interval rules "no difference" out; only the other comparisons of the study do not.
    widest = bound(comparison)
    return widest is None or abs(comparison.ratio - 1) > max(widest / 2, comparison.metric.delta)


def sized(comparison: Comparison) -> str:
    """The change, in a form that is read at a glance: −46 %; 3.1 times."""
    ratio = comparison.ratio
    return f"{significant(ratio, 2)} times" if ratio is not None and ratio >= 1 + WIDEST else change(comparison)


def in_short(comparison: Comparison) -> str:
    """For a sentence: EQUIVALENT within 5 % (×1.001 [0.997, 1.004])."""
    shown = ratio(comparison)
    return verdict(comparison) + (f" ({shown})" if shown else "")


def headline(comparison: Comparison) -> str:
    """The first line of a verdict: metric, endpoint, values, ratio with its interval, word and what it rests on."""
    parts = [
        " ".join((comparison.metric.text, endpoint(comparison.endpoint))),
        values(comparison),
        ratio(comparison),
        " ".join(filter(None, (verdict(comparison), support(comparison)))),
    ]
    return "   ".join(part for part in parts if part)


def details(comparison: Comparison, pace: RunLength | None = None) -> list[str]:
    """The lines below it: what more runs could show, and what the numbers rest on. May be empty."""
    lines = [_resolution(comparison, pace), _basis(comparison), "; ".join(map(remark_text, comparison.remarks))]
    return [line for line in lines if line]


@dataclass(frozen=True, slots=True)
class RunLength:
    """How long a run of a comparison takes: seconds that are measured, and what start, warm-up and rest take beyond."""

    duration: float
    gap: float

    @classmethod
    def of(cls, study: Study, comparison: Comparison) -> RunLength | None:
        """None when it is not known."""
        variants = comparison.a, comparison.b
        cells = [trial for variant in variants for trial in study.cell(comparison.cell(variant))]
        durations = [trial.duration for trial in cells if trial.duration is not None]
        return cls(max(durations), study.gap) if durations and study.gap is not None else None

    def __str__(self) -> str:
        return f"2×({self.duration:.0f}+{self.gap:.0f}) s"


def direction(comparison: Comparison) -> str:
    """What became of b, when that is certain and matters: slower, faster, …; "" otherwise."""
    if comparison.better is None:
        return ""
    ways = {"throughput": ("more requests", "fewer requests"), "errors": ("fewer failures", "more failures")}
    better, worse = ways.get(comparison.metric.kind, ("faster", "slower"))
    return better if comparison.better else worse


def subject(comparison: Comparison) -> str:
    """What is compared: p99 of GET /todos/ at 50 users, index against baseline."""
    operation = f" ({comparison.operation})" if comparison.operation else ""
    level = f" at {comparison.level}" if comparison.level is not None else ""
    name = endpoint(comparison.endpoint)
    return f"{comparison.metric.text} of {name}{operation}{level}, {comparison.b} against {comparison.a}"


def values(comparison: Comparison) -> str:
    """200 → 210 ms; "" when neither is known."""
    if comparison.a_value is None and comparison.b_value is None:
        return ""
    a, b = (value(comparison.metric, each) for each in (comparison.a_value, comparison.b_value))
    unit = unit_of(comparison.metric)
    return f"{a} → {b}{'' if unit in ('', '/s') else ' '}{unit}"


def value(metric: Metric, number: float | None) -> str:
    """Without its unit; a share as a percentage."""
    if number is None or not math.isfinite(number):
        return NONE
    return significant(100 * number, 3) if metric.kind == "errors" else amount(number)


def unit_of(metric: Metric) -> str:
    """Of what `value` shows."""
    return "%" if metric.kind == "errors" else metric.unit


def ratio(comparison: Comparison) -> str:
    """×1.05 [0.98, 1.13], or of shares +0.52 pp [0.10, 0.94], in percentage points; "" when there is none."""
    if comparison.difference is not None:
        return _points(comparison)
    if comparison.ratio is None or not math.isfinite(comparison.ratio):
        return ""
    shown = interval(comparison)
    return f"×{comparison.ratio:.{_decimals(comparison)}f}" + (f" {shown}" if shown else "")


def change(comparison: Comparison) -> str:
    """The ratio as a difference: +5.0 %, −12 %; of shares in percentage points."""
    if comparison.difference is not None:
        return f"{signed(100 * comparison.difference, 2)} pp"
    if comparison.ratio is None or not math.isfinite(comparison.ratio):
        return NONE
    difference = 100 * (comparison.ratio - 1)
    shown = significant(abs(difference), 2) if abs(difference) >= 0.1 else f"{abs(difference):.2f}"
    sign = "" if not float(shown) else "+" if difference > 0 else "−"
    return f"{sign}{shown} %"


def interval(comparison: Comparison) -> str:
    """[0.98, 1.13], and whom it speaks for if that is one run; "" when there is none."""
    if comparison.low is None or comparison.high is None:
        return ""
    places = _decimals(comparison)
    text = f"[{_end(comparison.low, places)}, {_end(comparison.high, places)}]"
    return f"{text} {WITHIN_RUN}" if comparison.within_run else text


def _points(comparison: Comparison) -> str:
    """What is 0 mostly has no ratio worth telling."""
    assert comparison.difference is not None
    places = max(2, _places_of(100 * comparison.difference))
    text = f"{signed(100 * comparison.difference, places)} pp"
    if comparison.difference_low is None or comparison.difference_high is None:
        return text
    low, high = (signed(100 * end, places) for end in (comparison.difference_low, comparison.difference_high))
    return f"{text} [{low}, {high}]{f' {WITHIN_RUN}' if comparison.within_run else ''}"


def _places_of(number: float) -> int:
    """Decimals that show two digits of it, within reason."""
    return min(_LOUDEST, 1 - math.floor(math.log10(abs(number)))) if number else 0


def endpoint(key: tuple[str, str]) -> str:
    """GET /todos/; Aggregated for all of them together."""
    return " ".join(filter(None, key)) or TOTAL


def place(where: Where) -> str:
    """index, GET /todos/, at 50 users; "" for everywhere."""
    parts = [
        where.operation or "",
        " against ".join(each for each in (where.variant, where.against) if each),
        endpoint(where.endpoint) if where.endpoint is not None else "",
        f"at {where.level}" if where.level is not None else "",
        f"run {where.trial}" if where.trial is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def evidence(of: Mapping[str, float | str | tuple[float, ...]]) -> str:
    """knee_users 282, bracket_users 240…336."""
    return ", ".join(f"{name} {_shown(each)}" for name, each in of.items())


def _shown(each: float | str | tuple[float, ...]) -> str:
    if isinstance(each, str):
        return each
    if isinstance(each, tuple):
        if len(each) == 2:
            return "…".join(_shown(part) for part in each)
        left_out = [f"and {len(each) - MOST_PARTS} more"] if len(each) > MOST_PARTS else []
        return f"({', '.join([*map(_shown, each[:MOST_PARTS]), *left_out])})"
    if not math.isfinite(each):
        return NONE if math.isnan(each) else "∞" if each > 0 else "−∞"
    return f"{each:.4g}" if abs(each) < 10_000 else f"{each:.0f}"


def basis(comparison: Comparison) -> str:
    """5 interleaved pairs; 11 earlier runs; "one run each"."""
    if comparison.earlier:
        return counted(comparison.earlier, "earlier run")
    if comparison.pairs < 2:
        return "one run each"
    return counted(comparison.pairs, "interleaved pair" if comparison.interleaved else "pair")


def support(comparison: Comparison) -> str:
    """What a verdict rests on: (5 interleaved pairs, p=.13, run-to-run s=5.7 %); "" when there is one pair."""
    if (comparison.pairs < 2 and not comparison.earlier) or comparison.word in _WITHOUT_SUPPORT:
        return ""
    parts = [basis(comparison)]
    if comparison.p is not None:
        parts.append(f"p{p_value(comparison.p)}")
    if comparison.q is not None:
        parts.append(f"q{p_value(comparison.q)}")
    if comparison.spread is not None:
        parts.append(f"run-to-run s={significant(100 * comparison.spread, 2)} %")
    return f"({', '.join(parts)})"


def _resolution(comparison: Comparison, pace: RunLength | None) -> str:
    delta = short_percent(comparison.metric.delta)
    parts = []
    if comparison.word == "different" and not comparison.at_least:
        parts.append(f"whether by more than {delta} is open")
    if comparison.resolves is not None:
        parts.append(f"resolves ±{short_percent(comparison.resolves)} now")
    needed = comparison.needed
    if needed is not None and needed.pairs > 0:
        parts.append(f"±{delta} needs {_more(needed.pairs)}{_time(needed, pace)}")
    if needed is not None and needed.powered:
        parts.append(f"80 % power for {delta}: {_more(needed.powered)}")
    if needed is not None and needed.longer:
        parts.append("most of the spread is within runs: longer ones help more than further ones")
    return "; ".join(parts)


def _more(pairs: int) -> str:
    return f"{pairs} more pair{'' if pairs == 1 else 's'}"


def _time(needed: RunsNeeded, pace: RunLength | None) -> str:
    if needed.minutes is None:
        return ""
    minutes = f"≈ {significant(needed.minutes, 2) if needed.minutes < 10 else count(needed.minutes)} min"
    return f" ({minutes} at {pace})" if pace else f" ({minutes})"


def _basis(comparison: Comparison) -> str:
    parts = []
    if comparison.word == "invalid":
        return ""
    if comparison.requests is not None and comparison.word != "no verdict":
        effect = f", deff {significant(comparison.effect, 2)}" if comparison.effect is not None else ""
        rests = "rest" if comparison.metric.kind == "errors" else "rests"
        about = "" if comparison.is_counted else ABOUT
        parts.append(f"{comparison.metric.text} {rests} on {about}{count(comparison.requests)} requests/run{effect}")
    if comparison.step:
        parts.append(f"tool step {short_percent(comparison.step)}")
    if comparison.warmup:
        parts.append(f"warm-up {comparison.warmup:g} s removed")
    if comparison.checks[1]:
        parts.append(f"checks {comparison.checks[0]}/{comparison.checks[1]}")
    return "; ".join(parts)


def _end(ratio: float, places: int) -> str:
    """Of an interval. Beyond a factor of some hundred it only says that nothing is known."""
    if not ratio >= _SMALLEST:
        return f"<{_SMALLEST}"
    return f">{_LARGEST}" if ratio > _LARGEST else f"{ratio:.{places}f}"


def _decimals(comparison: Comparison) -> int:
    """Of the ratio and its interval: enough to see the width of the interval, and on which side of 1 its ends lie."""
    ends = [end for end in (comparison.low, comparison.high) if end is not None and math.isfinite(end)]
    if len(ends) < 2:
        return 2
    width = abs(ends[1] - ends[0])
    places = min(_LOUDEST, max(2, math.ceil(-math.log10(width / 5)))) if width else 3
    while places < _LOUDEST and any(end != 1 and float(f"{end:.{places}f}") == 1 for end in ends):
        places += 1
    return places
