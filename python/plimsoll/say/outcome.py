"""What came of a run, in one sentence: its requests, its failures, its times, and when its streams began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.record import STREAM_ROWS
from plimsoll.say.durations import duration_text
from plimsoll.say.headline.target import unreachable_judgement
from plimsoll.say.numbers import amount, count, counted, short_percent, with_share
from plimsoll.stats.headline.causes import unreachable
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.table import Row
    from plimsoll.stats.view import RunView

NO_REQUESTS = "No requests were made."
NO_ENDS = "No request has ended, but events of streams arrived."
HEADS = "The time of a request with a stream ends with the head of its response."


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
        # Throughput is counted in whole seconds.
        whole = duration_text(view.rate_s)
        when = "that time" if whole == duration_text(view.duration) else f"the first {whole}"
        rate += f" in {when}, {count(late)} answered later"
    thing = "request" if total.requests == 1 else "requests"
    parts = [f"{count(total.requests)} {thing} in {duration_text(view.duration)} ({rate}), {failed}."]
    half, most_of_them = (total.response_ms.quantile(q) for q in (0.5, 0.99))
    if half and most_of_them:
        parts.append(with_streams(_times(half, most_of_them, total.response_ms.waited), view, manifest))
    return " ".join(parts)


def awaited_text(responses: int, authorizing: int) -> str:
    """What the end of a run waits for; "" for nothing. authorizing: users that wait for a token."""
    parts = [counted(responses, "response")] if responses else []
    if authorizing:
        parts.append(f"{counted(authorizing, 'user')} without a token yet")
    return " and ".join(parts)


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
