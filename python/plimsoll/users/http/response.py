"""The response for user code: a requests.Response whose parts are made from the engine's Reply on first access."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from http.client import HTTPMessage
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

import requests
from requests import PreparedRequest
from requests.cookies import RequestsCookieJar
from requests.exceptions import ContentDecodingError, HTTPError
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers
from urllib3 import HTTPHeaderDict, HTTPResponse

from plimsoll._engine import Answer
from plimsoll.users.exceptions import LocustError
from plimsoll.users.failure import root_of
from plimsoll.users.http.catch_response import CatchResponse
from plimsoll.users.http.cookies import store_cookies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll._engine import Reply
    from plimsoll.users.http.prepared import Chain
    from plimsoll.users.http.session import HttpSession
    from plimsoll.users.http.stream_events import EventFormat, StreamEvent
    from plimsoll.users.http.url import Route

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - used like property
    """An assignable attribute computed on first access: functools.cached_property without its lock."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        value = self._make(instance)
        # Not through __dict__: access would create the dict, which instances otherwise do not have.
        setattr(instance, self._name, value)
        return value


@dataclass(frozen=True, slots=True)
class Timings:
    """The parts of the time of an exchange, in ms. With redirects, the sum of all hops."""

    dns: float
    """Name resolution; 0 on a kept connection, as are the next two."""
    connect: float
    """Connecting, including to a proxy."""
    tls: float
    """TLS handshakes."""
    first_byte: float
    """From sending to the arrival of the head, including the three above; 0 without a head."""
    total: float
    """From sending to the arrival of the last byte, or to the failure. Streamed: the same as first_byte."""

    @classmethod
    def of(cls, reply: Reply) -> Timings:
        """The times from the engine's stamps."""
        head = reply.first_byte - reply.sent if reply.first_byte else 0
        return cls(*(nanos / 1e6 for nanos in (reply.dns, reply.connect, reply.tls, head, reply.service)))


class Response(Answer, CatchResponse, requests.Response):  # type: ignore[misc] # its __exit__ decides about exceptions
    """A response, or the lack of one: then status_code is 0, content None and `error` has the reason.

    The whole body is in memory, except for a `stream.StreamedResponse`. Its content coding is decoded on first access.
    """

    # requests' own state of reading the body; here the body is always read.
    _content_consumed = True

    @lazy
    def headers(self) -> CaseInsensitiveDict[str]:
        """Lines with the same name are joined by a comma, as in requests."""
        headers: CaseInsensitiveDict[str] = CaseInsensitiveDict()
        if self.reply is not None and self.status_code:
            for name, value in self.reply.headers:
                known = headers.get(name)
                headers[name] = value if known is None else f"{known}, {value}"
        return headers

    @lazy
    def content(self) -> bytes | None:  # type: ignore[override] # None without a response, as in Locust
        """The decoded body. Raises ContentDecodingError if it is damaged."""
        if self.reply is None or not self.status_code:
            return None
        try:
            return self.reply.decoded()
        except ValueError as error:
            raise ContentDecodingError(str(error), response=self) from error

    @property
    def _content(self) -> bytes:  # type: ignore[override] # written by requests.Response alone
        return self.content or b""

    @property
    def encoding(self) -> str | None:
        """From the Content-Type; to correct it, assign another before reading `text`."""
        if self.own_encoding is not ...:
            return cast("str | None", self.own_encoding)
        return None if self.reply is None else encoding_of(self.reply.header("content-type"))

    @encoding.setter
    def encoding(self, encoding: str | None) -> None:
        self.own_encoding = encoding

    @property
    def apparent_encoding(self) -> str | None:
        """Detected from the bytes."""
        # The same result as the detection, without its milliseconds.
        return "ascii" if self.content and self.content.isascii() else super().apparent_encoding

    def _json(self, **kwargs: Any) -> Any:
        """The body as JSON, where the engine does not read it. Raises requests.exceptions.JSONDecodeError."""
        if not kwargs and self.encoding in ("utf-8", "UTF-8") and self.content:
            try:
                return json.loads(self.content.decode())
            except ValueError:
                pass  # raised again below, as requests' own error
        return requests.Response.json(self, **kwargs)

    # The types of requests do not allow for a missing response.
    @lazy
    def url(self) -> str | None:  # type: ignore[override]
        """The last URL, after redirects."""
        return None if self._route is None or not self.status_code else self._route.url

    @lazy
    def reason(self) -> str | None:  # type: ignore[override]
        return self.reply.reason if self.reply is not None and self.status_code else None

    @lazy
    def elapsed(self) -> timedelta:
        """From sending the request to the arrival of the head; of the last hop after redirects."""
        return timedelta(0) if self.reply is None else elapsed(self.reply)

    @lazy
    def timings(self) -> Timings | None:
        """The parts of the time; None if nothing was sent."""
        return None if self.reply is None else Timings.of(self.reply)

    @lazy
    def history(self) -> list[requests.Response]:
        """The redirects before this response, oldest first."""
        return []

    @property
    def set_cookies(self) -> list[str]:
        """The values of the Set-Cookie lines."""
        if self.reply is None or self.reply.header("set-cookie") is None:
            return []
        return [value for name, value in self.reply.headers if name.lower() == "set-cookie"]

    @lazy
    def cookies(self) -> RequestsCookieJar:
        """The cookies that this response sets."""
        jar = RequestsCookieJar()
        if values := self.set_cookies:
            store_cookies(jar, self.request, values)
        return jar

    @lazy
    def request(self) -> PreparedRequest:
        """The sent request; None if nothing was sent."""
        if self.reply is None or self._route is None:
            return cast("PreparedRequest", None)
        return _request_sent(self.reply.request_head, self._route, self._body)

    def events(self, format: EventFormat = "sse") -> Iterator[StreamEvent]:
        """None: there is no response. Raises LocustError without stream=True; with it, see `Streamed.events`."""
        if self.status_code:
            raise LocustError("events() reads a response while it arrives: send the request with stream=True")
        return iter(())

    @lazy
    def raw(self) -> HTTPResponse | None:
        """The body as received, as a file."""
        reply = self.reply
        if reply is None or not self.status_code:
            return None
        return RawResponse(reply, BytesIO(reply.body))

    @property
    def _is_error(self) -> bool:
        return 400 <= self.status_code < 600

    def close(self) -> None:
        """Nothing to release: the engine has read the whole response."""


def elapsed(reply: Reply) -> timedelta:
    """From sending to the arrival of the head; 0 without a head."""
    return timedelta(microseconds=max(0, reply.first_byte - reply.sent) / 1000)


@lru_cache(maxsize=256)
def encoding_of(content_type: str | None) -> str | None:
    """The encoding that a Content-Type says, as requests reads it."""
    return get_encoding_from_headers(CaseInsensitiveDict({"content-type": content_type} if content_type else {}))


def _request_sent(head: bytes, route: Route, body: Any) -> PreparedRequest:
    request_line, *lines = head.decode("latin-1").split("\r\n")
    request = PreparedRequest()
    request.method = request_line.partition(" ")[0]
    request.url = route.url
    request.headers = CaseInsensitiveDict()
    for line in lines:
        name, separator, value = line.partition(": ")
        # In requests lower layers add the Host line, unless user code sets it.
        if separator and not (name == "Host" and not request.headers):
            request.headers[name] = value
    request.body = body
    request._cookies = RequestsCookieJar()
    return request


class Original:
    """A substitute for urllib3's http.client.HTTPResponse: requests reads cookies from it."""

    def __init__(self, headers: list[tuple[str, str]]) -> None:
        self.msg = HTTPMessage()
        for name, value in headers:
            self.msg[name] = value

    def isclosed(self) -> bool:
        return True

    def close(self) -> None:
        """Does nothing: the body has been read, and nothing is open."""


class RawResponse(HTTPResponse):
    """`response.raw`: a body without its transfer coding, with its content coding."""

    def __init__(self, reply: Reply, file: Any) -> None:
        super().__init__(
            file,
            headers=HTTPHeaderDict(reply.headers),
            status=reply.status,
            version=reply.version,
            reason=reply.reason,
            preload_content=False,
            decode_content=False,
            original_response=cast("Any", Original(reply.headers)),
        )


class ResponseContextManager(Response):
    """The response of HttpSession. With `catch_response=True` it is a with-block that decides about success."""

    session: HttpSession

    chain: Chain | None = None
    """The chain that further requests of hooks belong to."""
    asked_for = ""
    """The URL if there was no request."""

    def fault(self) -> Exception | None:
        if self.error is not None:
            return root_of(self.error)
        if not 400 <= self.status_code < 600:
            return None
        # By name instead of URL, to group the failures of an endpoint.
        name = self.endpoint[1] if self.meta is None else self.meta["name"]
        side = "Client" if self.status_code < 500 else "Server"
        error = HTTPError(f"{self.status_code} {side} Error: {self.reason} for url: {name}")
        error.response = self
        return error

    def first_url(self) -> str:
        first = self.history[0] if self.history else self
        return str(first.url or (first.request.url if first.request else self.asked_for))

    def raise_for_status(self) -> None:
        """Raise the failure of the exchange; a decision of user code takes precedence.

        `ok` and bool() call this and return False only for an HTTPError: without a response they raise `error`.
        """
        if self._manual_result is None:
            if self.error is not None:
                raise self.error
            super().raise_for_status()
        elif self._manual_result is not True:
            raise self._manual_result

    @property
    def next(self) -> PreparedRequest | None:
        """The request to follow this redirect."""
        history = self.history
        requests_to_come: Any = self.session.resolve_redirects(self, self.request, yield_requests=True)
        following: PreparedRequest | None = next(requests_to_come, None)
        # requests rewrites the history when it follows a redirect.
        self.history = history
        return following

    @lazy
    def connection(self) -> _Connection:  # type: ignore[override]
        """Hooks such as digest authentication send further requests with it."""
        return _Connection(self.session, self.chain)


class _Connection:
    """The one method of a requests adapter that hooks call."""

    def __init__(self, session: HttpSession, chain: Chain | None) -> None:
        self._session = session
        self._chain = chain

    def send(self, request: PreparedRequest, **kwargs: Any) -> ResponseContextManager:
        return self._session.hop(request, chain=self._chain, **kwargs)
