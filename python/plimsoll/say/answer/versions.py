"""What came of the versions that a study compares, in sentences."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.say import comparisons, phrases
from plimsoll.say.answer import outcomes
from plimsoll.say.names import at_levels, code
from plimsoll.say.numbers import short_percent, signed_share
from plimsoll.say.remarks import reason_text
from plimsoll.stats.cell import median_ratio
from plimsoll.stats.cells import cell_of, rate_ratio
from plimsoll.stats.compare.pairs import over_levels
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.metric import Metric
    from plimsoll.stats.study import Study

MOST_OTHER = 2
"""Pairs that did other work, and have a sentence."""
MOST_FAILED = 0.05
"""Of the requests of a side: with more, errors explain why its replies are smaller."""
MOST_LEVELS = 4
"""Levels whose values are said one by one."""
MOST_ELSEWHERE = 2
"""Differences by other metrics than the leading one."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What the answer is about: one metric of one endpoint."""

    metric: Metric
    endpoint: tuple[str, str]
    operation: str

    def is_like(self, comparison: Comparison) -> bool:
        """The same metric and endpoint; of any operation, where each has endpoints of its own."""
        return self.metric.is_same(comparison.metric) and self.endpoint == comparison.endpoint

    def covers(self, comparison: Comparison) -> bool:
        return self.is_like(comparison) and self.operation == comparison.operation


def sentences(analysis: Analysis) -> list[str]:
    """Certain differences first, the largest one leading; then other work, what is open, and what made no difference.
    Further sentences about a variant stand beside the others about it."""
    topics = topics_of(analysis)
    if not topics:
        return []
    study = analysis.study
    leading = _once_each([each for each in analysis.comparisons if topics[0].covers(each)])
    found = [
        *outcomes.differences(study, leading),
        *_other_work(analysis, [each for each in leading if each.word == "invalid"]),
        *outcomes.uncertain(study, leading),
        *_single_runs(analysis, [each for each in leading if each.word == "one run"]),
    ]
    has_levels = len(study.levels) > 1
    for pair in _pairs_elsewhere(analysis, topics, leading):
        text = f"{outcomes.difference(pair, has_levels=has_levels)}."
        found.insert(_place_of(code(pair[0].b), found), text)
    return found or list(_silent(analysis, [each for each in leading if each.word == "no verdict"]))


def others(analysis: Analysis) -> Iterator[str]:
    """One sentence about all certain differences that the other sentences do not have."""
    topics = topics_of(analysis)
    if not topics:
        return
    leading = [each for each in analysis.comparisons if topics[0].covers(each)]
    said = [*leading, *(each for pair in _pairs_elsewhere(analysis, topics, _once_each(leading)) for each in pair)]
    known = set(map(id, said))
    twins = twins_of(analysis)
    unsaid = (each for each in analysis.comparisons if id(each) not in known)
    rest = [each for each in unsaid if (each.operation, each.endpoint) not in twins]

    texts: list[str] = []
    for is_better in (False, True):
        found = [each for each in rest if each.better is is_better]
        if not found:
            continue
        largest = outcomes.in_short(max(found, key=outcomes.size), has_levels=len(analysis.study.levels) > 1)
        who = str(len(found)) if texts else f"{len(found)} of {len(rest)} other comparisons"
        if len(rest) == 1:
            who = "The other comparison"
        are, most = ("is", ":") if len(found) == 1 else ("are", ", most of all")
        texts.append(f"{who} {are} certainly {'better' if is_better else 'worse'}{most} {largest}")
    if texts:
        yield f"{'; '.join(texts)}."


def twins_of(analysis: Analysis) -> set[tuple[str, tuple[str, str]]]:
    """The only endpoint of each operation that has one: its requests are those of all endpoints together."""
    endpoints: dict[str, set[tuple[str, str]]] = {}
    for each in analysis.comparisons:
        endpoints.setdefault(each.operation, set()).add(each.endpoint)
    return {
        (operation, endpoint)
        for operation, own in endpoints.items()
        for endpoint in own - {TOTAL}
        if TOTAL in own and len(own) == 2
    }


def has_result(analysis: Analysis) -> bool:
    """Whether the data say of any two versions which is better, by a metric that the answer is about, or describe one
    run of each."""
    topics = topics_of(analysis)
    found = (each for each in analysis.comparisons if outcomes.is_certain(each) or each.word == "one run")
    return any(topic.covers(each) for each in found for topic in topics)


def _silent(analysis: Analysis, rows: Sequence[Comparison]) -> Iterator[str]:
    """Where nothing has a verdict: the numbers of two that stand alone, and the most frequent reason."""
    reasons = list(map(reason_text, rows))
    if not reasons:
        return
    reason = max(dict.fromkeys(reasons), key=reasons.count)
    if len(rows) == 1 and (values := _described(analysis, rows)):
        yield f"{values}; which is faster cannot be said: {reason}."
        return
    group = [row for row, own in zip(rows, reasons, strict=True) if own == reason]
    yield f"The data decide nothing for {outcomes.who(analysis.study, group)}: {reason}."


def _place_of(name: str, found: Sequence[str]) -> int:
    """Where a further sentence about a variant belongs: behind the last one that names it."""
    places = [place for place, text in enumerate(found, 1) if name in text]
    return max(places, default=len(found))


def topics_of(analysis: Analysis) -> list[Topic]:
    """In the order of the declared primary metrics; otherwise those with the most numbers first, all endpoints together
    before single ones, and the median before others."""
    known = Counter[Topic]()
    for row in analysis.judged:
        has_value = row.ratio is not None or row.difference is not None
        known[Topic(row.metric, row.endpoint, row.operation)] += has_value
    if analysis.study.primary:
        return sorted(known, key=lambda topic: _rank(analysis.study, topic))
    return sorted(
        known, key=lambda topic: (-known[topic], topic.endpoint != TOTAL, not phrases.is_typical(topic.metric))
    )


def _typical(analysis: Analysis, topics: Sequence[Topic]) -> Iterator[Topic]:
    """The median of the leading endpoint, where nothing was declared about it: it differs before a tail does."""
    first = topics[0]
    for each in analysis.comparisons:
        same_place = (each.endpoint, each.operation) == (first.endpoint, first.operation)
        if same_place and each.metric.quantile == 0.5 and not any(topic.covers(each) for topic in topics):
            yield Topic(each.metric, each.endpoint, each.operation)
            return


def _rank(study: Study, topic: Topic) -> int:
    """The place of the metric that declares it; those of one endpoint before those of all."""
    fitting = [each for each in study.primary if each.is_same(topic.metric) and each.is_about(topic.endpoint)]
    return min(map(study.primary.index, fitting), default=len(study.primary))


def _once_each(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Each variant against the one before it where it was compared with that, else against the baseline."""
    previous = {(each.b, each.level) for each in comparisons if each.against == "previous"}
    return [each for each in comparisons if each.against == "previous" or (each.b, each.level) not in previous]


def _other_work(analysis: Analysis, refused: Sequence[Comparison]) -> Iterator[str]:
    """Those that did not do the same: their numbers, and in what the work differs."""
    found = [
        (each, sizes)
        for each in refused
        if each.ratio and not _fails(analysis, each) and (sizes := _sizes(analysis, each)) is not None
    ]
    for each, (before, after) in sorted(found, key=lambda pair: -outcomes.size(pair[0]))[:MOST_OTHER]:
        share = after / before
        rate = rate_ratio(*_cells(analysis, each))
        if share < 1 / phrases.TIMES_FROM:
            caveat = f"but it returns {phrases.fraction(share)} of the data: it is another request"
        else:
            caveat = f"but its replies are {short_percent(abs(share - 1))} {'larger' if share > 1 else 'smaller'}"
            if rate is not None:
                caveat += f" ({phrases.times(rate * share)} the data per second)"
        yield f"{phrases.beside(each, rate)} ({comparisons.basis(each)}), {caveat}."


def _fails(analysis: Analysis, comparison: Comparison) -> bool:
    """Whether so many requests of one side fail that its replies are smaller for this reason."""
    totals = [cell.total for cell in _cells(analysis, comparison)]
    return any(each is not None and (each.failures or 0) > MOST_FAILED * (each.requests or 0) for each in totals)


def _sizes(analysis: Analysis, comparison: Comparison) -> tuple[float, float] | None:
    """Mean bytes of a reply of a and of b, where a finding says that they differ: of the endpoint with the largest
    difference."""
    about = {frozenset((each.where.variant, each.where.against)) for each in analysis.findings if each.id == "PAYLOAD"}
    if frozenset((comparison.a, comparison.b)) not in about:
        return None
    a, b = _cells(analysis, comparison)
    keys = list(a.by_key) if comparison.endpoint == TOTAL else [comparison.endpoint]
    both = [(a.endpoint(key), b.endpoint(key)) for key in keys]
    sizes = [(x.size, y.size) for x, y in both if x is not None and y is not None and x.size and y.size]
    return max(sizes, key=lambda pair: abs(math.log(pair[1] / pair[0])), default=None)


def _cells(analysis: Analysis, comparison: Comparison) -> tuple[CellSummary, CellSummary]:
    study = analysis.study
    return cell_of(study, comparison.cell(comparison.a)), cell_of(study, comparison.cell(comparison.b))


def _single_runs(analysis: Analysis, rows: Sequence[Comparison]) -> Iterator[str]:
    """One run each is a description, not a verdict."""
    by_pair: dict[tuple[str, str], list[Comparison]] = {}
    for each in rows:
        by_pair.setdefault((each.a, each.b), []).append(each)
    texts = [text for pair in by_pair.values() if (text := _described(analysis, pair))]
    if texts:
        noise = f"one run each, so how much of that is noise is unknown{_repeat_advice(analysis.study)}"
        yield f"{'; '.join(texts[: outcomes.MOST_ALONE])}; {noise}."


def _described(analysis: Analysis, rows: Sequence[Comparison]) -> str:
    """Of one level its values; of a few the values of the metric at each; of more levels of what the study is about the
    mean change; of all endpoints at how many pairs of endpoint and level b is better, and by how much."""
    first = rows[0]
    if len(rows) == 1:
        values = [phrases.from_to(row) for row in analysis.comparisons if _is_beside(row, first)]
        at = f" {at_levels([first.level])}" if len(analysis.study.levels) > 1 else ""
        return f"{code(first.a)} → {code(first.b)}{at}: {', '.join(values)}" if values else ""
    if len(rows) <= MOST_LEVELS and first.endpoint == TOTAL:
        values = [f"{phrases.values(row)} {at_levels([row.level])}" for row in rows]
        return f"{first.metric.text} of {code(first.a)} → {code(first.b)}: {', '.join(values)}"
    if analysis.study.primary or first.endpoint == TOTAL:
        return _over_levels(rows)
    alike = [row for row in analysis.comparisons if (row.a, row.b, row.metric) == (first.a, first.b, first.metric)]
    ratios = [row.ratio for row in alike if row.ratio]
    lower, higher = sum(ratio < 1 for ratio in ratios), sum(ratio > 1 for ratio in ratios)
    way = "lower" if lower >= higher else "higher"
    typical = median_ratio(ratios)
    if typical is None:
        return ""
    return (
        f"{first.metric.text} is {way} in {code(first.b)} than in {code(first.a)} at {max(lower, higher)} of "
        f"{len(ratios)} pairs of endpoint and level (typically by {short_percent(abs(typical - 1))})"
    )


def _over_levels(rows: Sequence[Comparison]) -> str:
    """Of many levels, as pairs; "" if too few of them have values."""
    found, first = over_levels([row.ratio for row in rows if row.ratio]), rows[0]
    if found is None:
        return ""
    low, high = found.interval
    sure = "no difference is certain" if low <= 0 <= high else f"certainly {'higher' if low > 0 else 'lower'}"
    changes = [signed_share(math.expm1(value)) for value in (found.centre, low, high)]
    return (
        f"{first.metric.text} of {code(first.a)} → {code(first.b)}{outcomes.endpoint_of(first)}, with its "
        f"{found.pairs} levels as pairs: {changes[0]} ({changes[1]} to {changes[2]}), {sure}"
    )


def _is_beside(each: Comparison, other: Comparison) -> bool:
    """Whether it compares the same two at the same place, by whatever metric; with values of both."""
    place = (each.a, each.b, each.level, each.endpoint, each.operation)
    same = place == (other.a, other.b, other.level, other.endpoint, other.operation)
    return same and each.metric.kind != "errors" and None not in (each.a_value, each.b_value)


def _repeat_advice(study: Study) -> str:
    """What to add, and how long that takes, for an experiment of our own."""
    if not study.command.startswith("plimsoll experiment"):
        return ""
    runs = [each.duration + (study.gap or 0.0) for each in study.trials if each.duration is not None]
    minutes = f" ({math.ceil(4 * sum(runs) / 60)} min)" if runs else ""
    return f": add `--repeats 5`{minutes}"


def _pairs_elsewhere(
    analysis: Analysis, topics: Sequence[Topic], leading: Sequence[Comparison]
) -> list[list[Comparison]]:
    """Differences by other metrics, of pairs that do not differ by the leading one: of each metric the rows of the pair
    with the largest one."""
    known = {(each.a, each.b, each.level) for each in leading if each.word in ("different", "invalid")}
    found = []
    for topic in (*topics[1:], *_typical(analysis, topics)):
        rows = [each for each in analysis.comparisons if topic.covers(each) and outcomes.is_certain(each)]
        if rows := [each for each in rows if (each.a, each.b, each.level) not in known]:
            known |= {(each.a, each.b, each.level) for each in rows}
            found.append(max(outcomes.by_pair(rows), key=lambda pair: max(map(outcomes.size, pair))))
    return found[:MOST_ELSEWHERE]
