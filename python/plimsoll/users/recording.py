"""Passes request events to the Recorder: our own exchanges with their stamps, all others as reported."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.users.failure import exchange_outcome, message_of, outcome_of

if TYPE_CHECKING:
    from plimsoll._engine import Recorder, Reply
    from plimsoll.users.events import EventHook
    from plimsoll.users.http.catch_response import CatchResponse


LONGEST_KEY = 2000
"""Characters. The recorder keeps about as much of a name, so that many long ones may be one endpoint."""

LONGEST_MS = 86_400_000
"""Milliseconds of the longest response time: a day."""
MOST_BYTES = 1 << 40
"""Bytes of the longest response: 1 TiB. Sums of these numbers fit the columns of a store."""


class Endpoints(dict[tuple[str, str], int]):
    """{(method, name): the recorder's id}. Names above the recorder's limit are not kept here either."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __missing__(self, endpoint: tuple[str, str]) -> int:
        method, name = map(_encodable, endpoint)
        number = self._recorder.endpoint(method, name)
        if number != self._recorder.others and len(name) <= LONGEST_KEY:
            self[endpoint] = number
        return number


def _encodable(text: object) -> str:
    """What an exchange is counted under: names may have lone surrogates."""
    return str(text).encode(errors="replace").decode()


class RequestRecorder:
    """The listener of `events.request` that records. Add it after listeners that may suppress a request."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.endpoints = Endpoints(recorder)

    def __call__(
        self,
        request_type: str,
        name: str,
        response_time: float | None,
        response_length: int | None,
        response: Any = None,
        exception: BaseException | str | None = None,
        **_: Any,
    ) -> None:
        """response_time in ms, None = counted but not timed; response_length in bytes."""
        endpoint = request_type, name
        if getattr(response, "unrecorded", False):
            response.unrecorded = False
            # Code that changes the time in request_meta replaces our measurement by its own.
            if response.reply is not None and response_time == milliseconds(response.reply):
                self.exchange(endpoint, response.reply, exception, response.broken)
                return
        self.custom(endpoint, response_time, response_length or 0, exception or None)

    def exchange(
        self, endpoint: tuple[str, str], reply: Reply, error: BaseException | str | None, broken: str | None = None
    ) -> None:
        """Record one of our exchanges. Without an error it is a success, even if the reply has an error status. broken:
        the outcome of a body that broke off."""
        if error is None:
            self.recorder.exchange(self.endpoints[endpoint], reply, "success")
        else:
            outcome, message = broken or exchange_outcome(reply, error), message_of(error)
            self.recorder.exchange(self.endpoints[endpoint], reply, outcome, message)

    def custom(
        self, endpoint: tuple[str, str], response_ms: float | None, size: float, error: BaseException | str | None
    ) -> None:
        """Record a time measured by other code. An invalid duration is not recorded as a time. Numbers out of range
        make the request a failure."""
        try:
            response_ms, size = _duration(response_ms), _length(size)
        except ValueError as wrong:
            response_ms, size, error = None, 0, error or str(wrong)
        outcome, message = ("success", None) if error is None else (outcome_of(error), message_of(error))
        self.recorder.custom(self.endpoints[endpoint], response_ms, size, outcome, message)

    def place(self, endpoint: tuple[str, str]) -> tuple[Recorder, int]:
        """Where the events of the streams of an endpoint are recorded."""
        return self.recorder, self.endpoints[endpoint]

    def unanswered(self, endpoint: tuple[str, str], due: int, sent: int) -> None:
        """Record an exchange that is given up now, without a response; due, sent: stamps of the request, ns."""
        self.recorder.unanswered(self.endpoints[endpoint], due, sent)


def _duration(response_ms: float | None) -> float | None:
    """Raises ValueError for what is no duration at all, or longer than any."""
    try:
        if response_ms is None or not 0 <= response_ms < math.inf:
            return None
        if response_ms > LONGEST_MS:
            raise ValueError(f"response_time is over {LONGEST_MS} ms")
        return float(response_ms)
    except TypeError:
        raise ValueError("response_time is not a number of milliseconds") from None


def _length(size: float) -> int:
    """Raises ValueError for what is no number of bytes, or longer than any response."""
    try:
        length = int(size)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("response_length is not a number of bytes") from None
    if length > MOST_BYTES:
        raise ValueError(f"response_length is over {MOST_BYTES} bytes")
    return max(0, length)


def milliseconds(reply: Reply) -> float:
    """The response time as listeners see it."""
    return reply.response / 1e6


def sole_recorder(event: EventHook) -> RequestRecorder | None:
    """The recorder, if it is the only listener: then the arguments of the event are not needed."""
    listeners = event._handlers
    if len(listeners) == 1 and type(listeners[0]) is RequestRecorder:
        return listeners[0]
    return None


def request_recorder(event: EventHook) -> RequestRecorder | None:
    """The recorder among the listeners."""
    return next((each for each in event._handlers if isinstance(each, RequestRecorder)), None)


def report(response: CatchResponse, error: BaseException | None) -> None:
    """Report one of our requests to the listeners. error: None for a success."""
    event = response.session.request_event
    recorder = sole_recorder(event)
    if recorder is not None and response.meta is None and response.reply is not None:
        if error is None:
            recorder.recorder.exchange(recorder.endpoints[response.endpoint], response.reply, "success")
        else:
            recorder.exchange(response.endpoint, response.reply, error, response.broken)
        return
    response.reported = error
    meta = response.request_meta
    meta["exception"] = error
    # Dict and response refer to each other; without this, only the garbage collector could free them.
    response.meta = None
    response.unrecorded = True
    event.fire(**meta)


def report_unanswered(event: EventHook, endpoint: tuple[str, str], due: int, sent: int) -> None:
    """Record an exchange that is given up now, without a response, because its user was stopped, or ran into a timeout
    of its own code. due, sent: stamps of the request, ns."""
    recorder = request_recorder(event)
    if recorder is not None:
        recorder.unanswered(endpoint, due, sent)
