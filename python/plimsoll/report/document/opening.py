"""How the report of a run begins: the answer; in a terminal its thresholds, one sentence and its times in bars, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.record import STREAM_ROWS
from plimsoll.report.document.blocks import Answer, Paragraph, Preformatted
from plimsoll.report.text import cells
from plimsoll.say.durations import duration_text
from plimsoll.say.headline.target import target_judgement, times_beside, unreachable_judgement
from plimsoll.say.numbers import amount, count, short_percent, with_share
from plimsoll.stats.headline.causes import unreachable
from plimsoll.stats.headline.target import target
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import Block
    from plimsoll.stats.latency.milliseconds import Latency, Milliseconds
    from plimsoll.stats.table import Row
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.view import RunView

NO_REQUESTS = "No requests were made."
NO_ENDS = "No request has ended, but events of streams arrived."
HEADS = "The time of a request with a stream ends with the head of its response."
PASSED, BROKEN, NOT_SHOWN = "✓", "✗", "?"
THRESHOLD_MARKS = {"passed": PASSED, "broken": BROKEN, "not shown": NOT_SHOWN}
_BARS = 8
"""Rows up to p99; one more has what is above."""
_FAR_APART = 20
"""Times of which one is more than so many times the other."""
_BAR_CELLS = 32
_EIGHTHS = " ▏▎▍▌▋▊▉"


def answer(view: RunView, manifest: Manifest, assessment: Assessment) -> tuple[Answer, ...]:
    """Whether the target is healthy, and when streams began; nothing for a run without a request."""
    if not view.total.requests and not view.total.unanswered:
        return ()
    health = target(view, manifest, assessment.thresholds, None, assessment.validity)
    judged = target_judgement(health)
    first = f"{judged.title}. {with_streams(judged.text, view, manifest)}"
    return (Answer((first, *times_beside(health))),)


def opening(view: RunView, manifest: Manifest, total: Row, thresholds: Sequence[ThresholdResult]) -> tuple[Block, ...]:
    """total: the row of all endpoints."""
    blocks: list[Block] = []
    if thresholds:
        blocks.append(Preformatted("\n".join(_threshold_lines(thresholds))))
    blocks.append(Paragraph(sentence(view, manifest, total)))
    if total.response_ms.count:
        title = "Response times" + "; those of streams end with the head" * ends_with_heads(view, manifest)
        blocks.append(Preformatted("\n".join([title, *histogram_lines(total.response_ms)])))
    return tuple(blocks)


def _threshold_lines(thresholds: Sequence[ThresholdResult]) -> list[str]:
    texts = [one_line(result.text) for result in thresholds]
    width = max(map(cells, texts))
    return [
        f"{THRESHOLD_MARKS[result.outcome]} {text}{' ' * (width - cells(text))}  {one_line(result.detail)}".rstrip()
        for result, text in zip(thresholds, texts, strict=True)
    ]


def sentence(view: RunView, manifest: Manifest, total: Row) -> str:
    """What came of the run: how many requests, how many of them failed, and how long responses took."""
    if not total.requests and view.total.unanswered:
        return f"No response came: {count(view.total.unanswered)} requests were still out when the run ended."
    if not total.requests:
        return f"{NO_ENDS} {streams_began(view)}".rstrip() if view.endpoints else NO_REQUESTS
    most = max(view.failures, key=lambda failure: failure.count, default=None)
    several = "mostly " if len(view.failures) > 1 else ""
    why = f", {several}with {one_line(most.text)}" if most and most.text else ""
    if total.failures == total.requests:
        if found := unreachable(view, manifest):
            return f"{one_line(unreachable_judgement(found).title)}."
        return f"All {count(total.requests)} requests failed{why}{'' if why.endswith('?') else '.'}"
    failed = "none failed"
    if total.failures:
        failed = f"{count(total.failures)} failed ({short_percent(total.failures / total.requests)}{why})"
    rate = f"{amount(total.rps)} per second"
    if late := view.late:
        rate += f" in that time, {count(late)} answered later"
    parts = [f"{count(total.requests)} requests in {duration_text(view.duration)} ({rate}), {failed}."]
    half, most_of_them = (total.response_ms.quantile(q) for q in (0.5, 0.99))
    if half and most_of_them:
        parts.append(with_streams(_times(half, most_of_them, total.response_ms.waited), view, manifest))
    return " ".join(parts)


def _times(half: Milliseconds, most: Milliseconds, waited: int) -> str:
    """half, most: p50 and p99. waited: requests without a response."""
    if not most.at_least:
        return f"Half of the responses took at most {with_share(half)}, 99 % at most {with_share(most)}."
    still = f"{count(waited)} had no response when the run ended" if waited else "those reached their time limit"
    if half.at_least:
        return f"Half of the requests took longer than {amount(half.value)} ms: {still}."
    more = f"one in a hundred more than {amount(most.value)} ms"
    return f"Half of the requests took at most {with_share(half)}, {more}: {still}."


def with_streams(text: str, view: RunView, manifest: Manifest) -> str:
    """A text about the times of requests, with when streams began."""
    begun, heads = streams_began(view), HEADS if ends_with_heads(view, manifest) else ""
    # The times of heads are small, and nobody asks for them: what streams took comes first.
    parts = [begun, heads, text] if begun and heads else [text, begun, heads]
    return " ".join(filter(None, parts))


def streams_began(view: RunView) -> str:
    """When streams began, from *due*; "" without streams. Those of several endpoints are one sum."""
    for method in ("first token", "first event"):
        rows = [row for row in view.endpoints if row.method == method]
        total = Totals.of(method, "", (interval for row in rows for interval in row.outcomes.values()))
        half, most = (total.response_of(view.timed).quantile(q) for q in (0.5, 0.99))
        if half and most:
            who = "Half" if len(rows) == 1 else "Half of the streams"
            return f"{who} had their {method} within {with_share(half)}, 99 % within {with_share(most)}."
    return ""


def ends_with_heads(view: RunView, manifest: Manifest) -> bool:
    """Whether the times of requests with streams end with the head: those of Python users, but for calls of gRPC."""
    if manifest.users_kind != "python":
        return False
    streams = {endpoint.name for endpoint in view.endpoints if endpoint.method in ("first token", "first event")}
    others = (*STREAM_ROWS, "gRPC")
    return any(endpoint.name in streams and endpoint.method not in others for endpoint in view.endpoints)


def histogram_lines(times: Latency) -> list[str]:
    """A bar for each range of times: its upper end, how many there are, and the share up to there; and one for requests
    without a response."""
    edges = _edges(times)
    above = [*times.counts_above(edges[:-1]), 0]
    counts = [before - after for before, after in zip([times.count, *above], above, strict=False)]
    digits = max(map(cells, map(amount, edges)))
    heads = [f"≤ {amount(edge):>{digits}} ms" for edge in edges]
    if times.waited:
        heads, counts, above = (
            [*heads, "no response"],
            [*counts, times.waited],
            [*(left + times.waited for left in above), 0],
        )
    longest, widest = max(map(cells, heads)), max(cells(count(number)) for number in counts)
    whole = times.count + times.waited
    return [
        f"{head:>{longest}} {_bar(number / max(counts)):{_BAR_CELLS}} {count(number):>{widest}} "
        f"{_share_up_to(whole - left, whole):>7}"
        for head, number, left in zip(heads, counts, above, strict=True)
    ]


def _edges(times: Latency) -> list[float]:
    """Upper ends of ranges, in ms: from p1 to p99 of one width, or growing where those are far apart; then the
    maximum."""
    low, high, longest = (time or 0.0 for time in times.values((0.01, 0.99, 1)))
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
