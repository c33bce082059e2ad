"""Messages as JSON, JSON as messages, and every error as a `Problem`."""

from __future__ import annotations

import logging
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from plimsoll.errors import (
    FieldError,
    NotNowError,
    PlimsollError,
    ReadOnlyError,
    RefError,
    SeveralFieldsError,
    UsageError,
)
from plimsoll.redact import redact, storable_json
from plimsoll.report.text import plain_json
from plimsoll.server.messages import Problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

MessageT = TypeVar("MessageT")

logger = logging.getLogger("plimsoll.server")

FAILED = "something went wrong here that should not; the log of the process says what"


_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The adapter of a message class or any other type, cached."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def to_json(message: Any) -> bytes:
    """A message, or plain values, as JSON; NaN and infinity become null."""
    kind = adapter(type(message) if hasattr(message, "__dataclass_fields__") else Any)
    try:
        return _plain(kind.dump_json(message))
    except PydanticSerializationError:
        # Output and exceptions of user code may contain code points that cannot be encoded.
        return _plain(adapter(Any).dump_json(storable_json(kind.dump_python(message))))


def _plain(data: bytes) -> bytes:
    """The page shows texts as they are, but people look at answers in a terminal, too."""
    return data if data.isascii() else plain_json(data.decode()).encode()


def answer(message: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Not cached by browsers: the content may change within a second."""
    kept = {"Cache-Control": "no-store", **(headers or {})}
    return Response(to_json(message), status, kept, media_type="application/json")


def problem(status: int, error: str, field: str = "", headers: Mapping[str, str] | None = None) -> Response:
    return answer(Problem(error, field), status, headers)


async def read(request: Request, kind: type[MessageT]) -> MessageT:
    """The body as a message of this class. Raises FieldError, UsageError."""
    body = await request.body()
    try:
        message: MessageT = adapter(kind).validate_json(body or b"{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(each) for each in first["loc"])
        text = f"{field}: {first['msg']}" if field else f"the body of the request: {first['msg']}"
        raise FieldError(text, field) from error
    return message


def acting(act: Callable[[MessageT], object], kind: type[MessageT]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that reads a message and runs `act` in a thread, because it may block. It answers with the
    message that `act` returns, or with status 202 and nothing."""

    async def endpoint(request: Request) -> Response:
        message = await read(request, kind)
        result = await run_in_threadpool(act, message)
        return answer({}, 202) if result is None else answer(result)

    return endpoint


def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = error.detail
    if text == HTTPStatus(error.status_code).phrase:
        text = _WORDS.get(error.status_code, text.lower())
    return problem(error.status_code, redact(text), headers=error.headers)


def _of_ours(_: Request, error: Exception) -> Response:
    """Each kind of error has its own status."""
    match error:
        case NotNowError():
            return problem(409, redact(str(error)))
        case SeveralFieldsError():
            first, *others = (Problem(redact(str(each)), each.field) for each in error.errors)
            return answer(replace(first, others=tuple(others)), 400)
        case FieldError():
            return problem(400, redact(str(error)), error.field)
        case UsageError():
            return problem(400, redact(str(error)))
        case RefError():
            return problem(404, redact(str(error)))
        case ReadOnlyError():
            return problem(403, redact(str(error)))
    logger.error("%s", error)
    return problem(500, redact(str(error)))


def _of_clients(_: Request, __: Exception) -> Response:
    """Nobody reads it: the client left before its request was complete."""
    return Response(status_code=400)


def _of_others(_: Request, __: Exception) -> Response:
    """The traceback goes to the log, not to the client."""
    return problem(500, FAILED)


_WORDS = {
    404: "there is nothing of that name here",
    405: "that cannot be done with this address",
    413: "that is more than may be sent here",
}
ON_ERROR: dict[Any, Callable[[Request, Exception], Response]] = {
    HTTPException: _of_http,
    PlimsollError: _of_ours,
    ClientDisconnect: _of_clients,
    Exception: _of_others,
}
"""Exception handlers for Starlette."""
