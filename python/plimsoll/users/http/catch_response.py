"""`catch_response=True`: user code decides in a with-block whether an exchange counts as a success."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, Self

from greenlet import GreenletExit

from plimsoll._engine import now
from plimsoll.users.exceptions import CatchResponseError, LocustError, ResponseError
from plimsoll.users.recording import milliseconds, report, request_recorder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from plimsoll._engine import Reply
    from plimsoll.users.http.sending import Sender

_WITHOUT_BLOCK = """\
Tried to set status on a request that has not yet been made. Make sure you use a with-block, like this:

with self.client.request(..., catch_response=True) as response:
    response.{}"""


class CatchResponse:
    """The with-block of a response; mixed into the response classes of both sessions.

    Unless user code decides, the status decides. An exception that leaves the block prevents the request's report,
    unless it is a ResponseError, the code has already decided, or a streamed body broke off. If the user is stopped
    in the block, the exchange counts as unanswered.
    """

    reply: Reply | None
    status_code: int
    error: Exception | None
    session: Sender[Any]
    endpoint: tuple[str, str]
    """Method and name of the exchange in reports."""

    meta: dict[str, Any] | None = None
    """`request_meta`, if user code has read it."""
    reported: BaseException | None = None
    """The failure with which the exchange was reported."""
    unrecorded: bool = False
    """Reported to the listeners but not recorded yet: the recorder takes the stamps of this response."""

    broken: str | None = None
    """The outcome of a streamed body that broke off in the block."""

    _catch_response = False
    _context: Mapping[str, Any] | None = None
    _stream = False
    _entered = False
    _manual_result: Literal[True] | Exception | None = None

    def fault(self) -> Exception | None:
        """Why the exchange counts as a failure unless user code decides; None for a success."""
        raise NotImplementedError

    def first_url(self) -> str:
        """The URL that user code requested."""
        raise NotImplementedError

    @property
    def request_meta(self) -> dict[str, Any]:
        """The arguments of the request event. Changes before the block ends are reported."""
        if self.meta is None:
            user = self.session.user
            self.meta = {
                "request_type": self.endpoint[0],
                "response_time": None if self.reply is None else milliseconds(self.reply),
                "name": self.endpoint[1],
                "context": {**(user.context() if user else {}), **(self._context or {})},
                "response": self,
                "exception": self.reported,
                "start_time": time.time() - (0 if self.reply is None else (now() - self.reply.sent) / 1e9),
                "url": self.first_url(),
                "response_length": self._length(),
            }
        return self.meta

    def _length(self) -> int:
        # status_code 0: the exchange ended without a response, even if the last hop had one.
        if self.reply is None or not self.status_code:
            return 0
        return int(self.reply.header("content-length") or 0) if self._stream else self.reply.body_size

    def __enter__(self) -> Self:
        return self._enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        return self._exit(kind, error, traceback)

    def _enter(self) -> Self:
        self._entered = True
        if not self._catch_response:
            raise LocustError("In order to use a with-block for requests, you must also pass catch_response=True")
        return self

    def _exit(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if self._manual_result is not None:
            report(self, None if self._manual_result is True else self._manual_result)
            return error is None
        if error is None:
            fault = self.fault()
            # The exception that user code put into request_meta counts if the response has no failure of its own.
            report(self, self.meta["exception"] if fault is None and self.meta is not None else fault)
        elif isinstance(error, ResponseError):
            report(self, error)
        else:
            if isinstance(error, GreenletExit):
                self._report_unjudged()
            return False
        return True

    def _report_unjudged(self) -> None:
        """The user was stopped in the block, so whether the response is a success is not known."""
        recorder = request_recorder(self.session.request_event)
        if recorder is None:
            return
        number = recorder.endpoints[self.endpoint]
        if self.reply is None:
            recorder.recorder.custom(number, None, 0, "unanswered")
        else:
            recorder.recorder.exchange(number, self.reply, "unanswered")

    def success(self) -> None:
        """Count the exchange as a success, with any status. Only in a with-block; raises LocustError elsewhere."""
        self._require_block("success()")
        self._manual_result = True

    def failure(self, exc: Exception | str) -> None:
        """Count the exchange as a failure for this reason. Only in a with-block; raises LocustError elsewhere."""
        self._require_block("failure(...)")
        self._manual_result = exc if isinstance(exc, Exception) else CatchResponseError(exc)

    def _require_block(self, call: str) -> None:
        if not self._entered:
            raise LocustError(_WITHOUT_BLOCK.format(call))
