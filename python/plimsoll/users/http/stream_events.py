"""The events of a streamed response, recorded as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import requests
from requests.exceptions import ChunkedEncodingError

from plimsoll._engine import EventReader
from plimsoll.users.exceptions import ResponseError
from plimsoll.users.recording import request_recorder

if TYPE_CHECKING:
    from collections.abc import Iterator

EventFormat = Literal["sse", "lines", "llm"]


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
    """The events of a streamed response; they are counted in rows beside that of its request.

    An error response has none. Raises the errors of iter_content, ChunkedEncodingError for an event that is too long,
    and, after the last event, ResponseError for a stream that is no chat completion although format is "llm".
    """
    recorder = request_recorder(response.session.request_event)
    place = () if recorder is None else recorder.place(response.endpoint)
    reader = EventReader(response.reply, format, *place)
    if not 0 < response.status_code < 400:
        return
    # All events of a piece are recorded at once: how long the user's code takes for one of them changes nothing.
    for piece in requests.Response.iter_content(response, cast("Any", None)):
        try:
            found = reader.feed(piece, response.arrival)
        except ValueError as error:
            raise ChunkedEncodingError(str(error), response=response) from error
        yield from map(_event, found)
    found, wrong = reader.end(response.arrival)
    yield from map(_event, found)
    if wrong is not None:
        raise ResponseError(wrong)


def _event(found: tuple[str, str, str, int | None]) -> StreamEvent:
    name, data, id, retry = found
    return StreamEvent(name or "message", data, id, retry)
