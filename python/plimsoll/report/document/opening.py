"""How the report of a run begins: the answer; in a terminal its thresholds, one sentence and its times in bars, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.report.document.blocks import Answer, Paragraph, Preformatted
from plimsoll.report.text import cells
from plimsoll.say.headline.target import target_judgement, times_beside
from plimsoll.say.numbers import amount, count
from plimsoll.say.outcome import ends_with_heads, sentence, with_streams
from plimsoll.stats.headline.target import target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.manifest import Manifest
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.document.blocks import Block
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.table import Row
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.view import RunView

PASSED, BROKEN, NOT_SHOWN = "✓", "✗", "?"
THRESHOLD_MARKS = {"passed": PASSED, "broken": BROKEN, "not shown": NOT_SHOWN}
_BARS = 8
"""Rows up to p99; one more has what is above."""
_FAR_APART = 20
"""Times of which one is more than so many times the other."""
_BAR_CELLS = 32
_EIGHTHS = " ▏▎▍▌▋▊▉"


def answer(view: RunView, manifest: Manifest, assessment: Assessment) -> tuple[Answer, ...]:
    """Nothing for a run without a request."""
    lines = answer_lines(view, manifest, assessment)
    return (Answer(lines),) if lines else ()


def answer_lines(view: RunView, manifest: Manifest, assessment: Assessment) -> tuple[str, ...]:
    """Whether the target is healthy, and when streams began; nothing for a run without a request."""
    if not view.total.requests and not view.total.unanswered:
        return ()
    health = target(view, manifest, assessment.thresholds, None, assessment.validity)
    judged = target_judgement(health)
    first = f"{judged.title}. {with_streams(judged.text, view, manifest)}"
    return (first, *times_beside(health))


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


def threshold_text(result: ThresholdResult) -> str:
    """✓ p99 < 300ms: p99: 108 ms."""
    return f"{THRESHOLD_MARKS[result.outcome]} {one_line(result.text)}: {one_line(result.detail)}"


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
