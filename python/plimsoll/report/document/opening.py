"""How the tables of a run begin in a terminal: its thresholds, one sentence, and its response times in bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.load.durations import duration_text
from plimsoll.report.document.blocks import Paragraph, Preformatted
from plimsoll.report.numbers import amount, count, percent, with_share
from plimsoll.report.text import cells, one_line
from plimsoll.stats.headline.causes import unreachable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.report.document.blocks import Block
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.summary import EndpointSummary
    from plimsoll.stats.thresholds.watch import ThresholdResult
    from plimsoll.stats.view import RunView

NO_REQUESTS = "No requests were made."
PASSED, BROKEN = "✓", "✗"
_BARS = 8
"""Rows up to p99; one more has what is above."""
_FAR_APART = 20
"""Times of which one is more than so many times the other."""
_BAR_CELLS = 32
_EIGHTHS = " ▏▎▍▌▋▊▉"


def opening(
    view: RunView, manifest: Mapping[str, Any], total: EndpointSummary, thresholds: Sequence[ThresholdResult]
) -> tuple[Block, ...]:
    """manifest: of it, `host` is read. total: the row of all endpoints."""
    blocks: list[Block] = []
    if thresholds:
        blocks.append(Preformatted("\n".join(_threshold_lines(thresholds))))
    blocks.append(Paragraph(sentence(view, manifest, total)))
    if total.response.count:
        blocks.append(Preformatted("\n".join(["Response times", *histogram_lines(total.response)])))
    return tuple(blocks)


def _threshold_lines(thresholds: Sequence[ThresholdResult]) -> list[str]:
    texts = [one_line(each.text) for each in thresholds]
    width = max(map(cells, texts))
    return [
        f"{PASSED if each.passed else BROKEN} {text}{' ' * (width - cells(text))}  {one_line(each.detail)}".rstrip()
        for each, text in zip(thresholds, texts, strict=True)
    ]


def sentence(view: RunView, manifest: Mapping[str, Any], total: EndpointSummary) -> str:
    """What came of the run: how many requests, how many of them failed, and how long responses took."""
    begun = streams_began(view)
    if not total.requests:
        return f"No request has ended, but events of streams arrived.{begun}" if view.endpoints else NO_REQUESTS
    most = max(view.failures, key=lambda each: each.count, default=None)
    why = f", mostly with {one_line(most.text)}" if most and most.text else ""
    if total.failures == total.requests:
        if found := unreachable(view, manifest):
            return f"{one_line(found.title)}."
        return f"All {count(total.requests)} requests failed{why}{'' if why.endswith('?') else '.'}"
    failed = "none failed"
    if total.failures:
        failed = f"{count(total.failures)} failed ({percent(total.failures / total.requests)}{why})"
    rate = f"{amount(total.rps)} per second"
    parts = [f"{count(total.requests)} requests in {duration_text(view.duration)} ({rate}), {failed}."]
    half, most_of_them = (total.response.quantile(q) for q in (0.5, 0.99))
    if half and most_of_them:
        parts.append(f"Half of the responses took at most {with_share(half)}, 99 % at most {with_share(most_of_them)}.")
    return f"{' '.join(parts)}{begun}"


def streams_began(view: RunView) -> str:
    """When streams began, from *due*, after a blank; "" without streams, and with those of several endpoints."""
    for method in ("first token", "first event"):
        rows = [each for each in view.endpoints if each.method == method]
        if len(rows) == 1:
            half, most = (rows[0].response_of(view.timed).quantile(q) for q in (0.5, 0.99))
            if half and most:
                return f" Half had their {method} within {with_share(half)}, 99 % within {with_share(most)}."
    return ""


def histogram_lines(times: Latency) -> list[str]:
    """A bar for each range of times: its upper end, how many there are, and the share up to there."""
    edges = _edges(times)
    above = [*times.counts_above(edges[:-1]), 0]
    counts = [before - after for before, after in zip([times.count, *above], above, strict=False)]
    longest = max(map(cells, (amount(edge) for edge in edges)))
    widest = max(cells(count(each)) for each in counts)
    return [
        f"≤ {amount(edge):>{longest}} ms {_bar(each / max(counts)):{_BAR_CELLS}} {count(each):>{widest}} "
        f"{_share_up_to(times.count - left, times.count):>7}"
        for edge, each, left in zip(edges, counts, above, strict=True)
    ]


def _edges(times: Latency) -> list[float]:
    """Upper ends of ranges, in ms: from p1 to p99 of one width, or growing where those are far apart; then the
    maximum."""
    low, high, longest = (each.value if each else 0.0 for each in map(times.quantile, (0.01, 0.99, 1)))
    if high <= low:
        return [longest]
    if low > 0 and high / low > _FAR_APART:
        edges = [low * (high / low) ** (place / _BARS) for place in range(1, _BARS + 1)]
    else:
        edges = [low + (high - low) * place / _BARS for place in range(1, _BARS + 1)]
    # Two ends that read the same would look like a mistake.
    return [*edges, longest] if amount(longest) != amount(high) else [*edges[:-1], longest]


def _share_up_to(part: int, whole: int) -> str:
    return f"{int(1000 * part / whole) / 10:.1f} %"


def _bar(share: float) -> str:
    """share: of the longest bar; what is not nothing is seen."""
    eighths = round(share * _BAR_CELLS * 8) or (1 if share > 0 else 0)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
