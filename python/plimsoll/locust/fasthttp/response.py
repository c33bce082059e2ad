"""The responses of FastHttpSession, which deviate from those of requests like Locust's."""

from __future__ import annotations

import json as json_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, cast

import requests

from plimsoll.users.exceptions import LocustError
from plimsoll.users.http.response import Response
from plimsoll.users.http.stream import Streamed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from plimsoll.locust.fasthttp.session import FastHttpSession
    from plimsoll.users.http.stream import Incoming
    from plimsoll.users.http.url import Route

_WITHOUT_CATCH = "To change the state of the request, you must pass catch_response=True."


class FastResponse(Response):
    """The response of FastHttpSession; with `catch_response=True` it is a with-block that decides about success."""

    session: FastHttpSession
    _route: Route

    def fault(self) -> Exception | None:
        return self.error

    def first_url(self) -> str:
        return (self.history[0] if self.history else self).url

    # From here on, Locust deviates from the interface of requests.
    @property
    def url(self) -> str:  # type: ignore[override]
        """The URL of the request; set even without a response."""
        return self._route.url

    @property
    def ok(self) -> bool:
        """Whether the status is below 400; also true for 0, the status without a response."""
        return self.status_code < 400

    def __len__(self) -> int:
        """Declared length of the body in bytes, without reading it."""
        if self.reply is None:
            return 0
        return int(self.reply.header("content-length") or self.reply.body_size)

    def __bool__(self) -> bool:
        """Whether there is a body, with any status."""
        return len(self) > 0

    @property
    def text(self) -> str | None:  # type: ignore[override]
        """The body as text; None without a response."""
        return None if self.content is None else super().text

    def _json(self, **kwargs: Any) -> Any:
        """The body as JSON, where the engine does not read it. Raises json.JSONDecodeError, or TypeError without a
        response."""
        return json_module.loads(cast("str", self.text), **kwargs)

    def raise_for_status(self) -> None:
        """Raise the failure of the exchange; a decision of user code takes precedence."""
        if self._manual_result is None:
            if self.error is not None:
                raise self.error
        elif self._manual_result is not True:
            raise self._manual_result

    @property
    def stream(self) -> Any:
        """The body as received, as a file."""
        return BytesIO(b"" if self.reply is None else self.reply.body)

    def iter_content(  # type: ignore[override]
        self, chunk_size: int = 1024, decode_content: bool = True
    ) -> Iterator[str | bytes]:
        """The body in pieces of chunk_size bytes; with decode_content, pieces that are valid UTF-8 are text."""
        for piece in requests.Response.iter_content(self, chunk_size):
            try:
                yield piece.decode() if decode_content else piece
            except UnicodeDecodeError:
                yield piece

    def _enter(self) -> Self:
        # In Locust a response works in a with-block even without catch_response, without effect.
        return super()._enter() if self._catch_response else self

    def _exit(self, *raised: Any) -> bool:
        return super()._exit(*raised) if self._catch_response else False

    def _require_block(self, call: str) -> None:
        if not self._catch_response:
            raise LocustError(_WITHOUT_CATCH)
        super()._require_block(call)


class StreamedFastResponse(Streamed, FastResponse):  # type: ignore[misc] # what is lazy there is read here
    """The response with `stream=True`."""

    @property
    def stream(self) -> BufferedReader[Incoming]:
        """The body without its transfer coding, as a file, as it arrives."""
        return self._incoming


class ErrorResponse(FastResponse):
    """Represents a missing response."""

    headers = None  # type: ignore[assignment] # as in Locust

    def __len__(self) -> int:
        # As in Locust, where `if response` then ends the task.
        raise AttributeError("there was no response that could have a length")
