"""The events of a streamed response, recorded as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import requests
from requests.exceptions import ChunkedEncodingError

from plimsoll.users.recording import request_recorder

if TYPE_CHECKING:
    from collections.abc import Iterator

EventFormat = Literal["sse", "lines"]


class StreamEvent(NamedTuple):
    """An event of a stream."""

    name: str
    """Of a server-sent event; "message" unless the server names another."""
    data: str
    """Its data; of a line, the line."""
    id: str
    """The last event ID of the stream so far; "" without one."""
    retry: int | None
    """The reconnection time in ms, if the server has given one."""


def events_of(response: Any, format: EventFormat) -> Iterator[StreamEvent]:
    """The events of a streamed response; they are counted in the rows `first event` and `each event` of its name.

    An error response has none. Raises the errors of iter_content, and ChunkedEncodingError for an event that is too
    long.
    """
    splitter = response.reply.events(format)
    if response.status_code >= 400:
        return
    recorder = request_recorder(response.session.request_event)
    rows = None if recorder is None else recorder.stream_rows(response.endpoint)
    previous: int | None = None
    for piece, is_end in _pieces(response):
        try:
            found = splitter.end() if is_end else splitter.feed(piece)
        except ValueError as error:
            raise ChunkedEncodingError(str(error), response=response) from error
        arrival = response.arrival
        # All at once: how long the user's code takes for one of them changes nothing.
        for _, data, _, _ in found:
            if recorder is not None and rows is not None:
                recorder.recorder.event(rows, response.reply, arrival, previous, len(data.encode()))
            previous = arrival
        for name, data, id, retry in found:
            yield StreamEvent(name or "message", data, id, retry)


def _pieces(response: Any) -> Iterator[tuple[bytes, bool]]:
    """The decoded body as it arrives, and whether this is its end."""
    for piece in requests.Response.iter_content(response, cast("Any", None)):
        yield piece, False
    yield b"", True
