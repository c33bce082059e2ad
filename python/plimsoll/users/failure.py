"""Maps the end of an exchange to an exception, and an exception to a failure kind and message."""

from __future__ import annotations

import http.client
import os
import re
import socket
import ssl
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import gevent
from requests import exceptions as requests_errors
from urllib3 import exceptions as urllib3_errors

from plimsoll.users.exceptions import CatchResponseError, GrpcError, WebSocketError

if TYPE_CHECKING:
    from plimsoll._engine import Reply, Stream


class LocustBadStatusCode(Exception):  # noqa: N818 - Locust's name
    """A FastHttpSession received a status that is not in `valid_response_codes`."""

    def __init__(self, url: str | None, code: int) -> None:
        super().__init__(url)
        self.url = url
        self.code = code

    def __str__(self) -> str:
        return f"URL {self.url}: code={self.code}"

    def __repr__(self) -> str:
        return f"LocustBadStatusCode(code={self.code})"


class HTTPParseError(Exception):
    """A FastHttpSession received invalid or incomplete HTTP."""


class HTTPConnectionClosed(HTTPParseError):  # noqa: N818 - as geventhttpclient calls it
    """A FastHttpSession received nothing: the connection was closed or reset."""


class RetriesExceeded(Exception):  # noqa: N818 - as geventhttpclient calls it
    """A FastHttpSession timed out, or was redirected too often.

    original: the error of the last attempt.
    """

    def __init__(self, url: str, limit: int | str, original: object = None) -> None:
        super().__init__(url, limit)
        self.url = url
        self.limit = limit
        self.original = original

    def __str__(self) -> str:
        return f"URL {self.url}: {self.limit}{self._reason}"

    def __repr__(self) -> str:
        return f"RetriesExceeded({self.url!r}, {self.limit!r}{self._reason})"

    @property
    def _reason(self) -> str:
        return "" if self.original is None else f", original={self.original}"


FAST_FAILURES = (
    OSError,
    gevent.Timeout,
    HTTPParseError,
    RetriesExceeded,
    LocustBadStatusCode,
    requests_errors.ContentDecodingError,
)
"""Possible types of `error` of a FastHttpSession's response, besides errors of redirects."""


# The resolver's messages and numbers: the engine passes on only the messages.
_RESOLVER = {
    "Temporary failure in name resolution": socket.EAI_AGAIN,
    "Name or service not known": socket.EAI_NONAME,
    "Non-recoverable failure in name resolution": socket.EAI_FAIL,
    "No address associated with hostname": socket.EAI_NODATA,
}


_NO_STATUS_LINE = "the reply is not HTTP/1"
"""Prefix of the error of such a reply."""


def cause_of(reply: Reply) -> Exception:
    """The root exception of a failed exchange: what the socket, the TLS or the HTTP layer would raise."""
    text = reply.error or ""
    match reply.outcome:
        case "timeout":
            return TimeoutError(text)
        case "tls":
            return ssl.SSLCertVerificationError(1, text) if "certificate" in text.lower() else ssl.SSLError(1, text)
        case "protocol" if text.startswith(_NO_STATUS_LINE):
            return http.client.BadStatusLine(text)
        case "protocol":
            return urllib3_errors.ProtocolError(text)
        case "reset" if reply.errno is None:
            if reply.first_byte:
                return urllib3_errors.ProtocolError(text)
            return http.client.RemoteDisconnected("Remote end closed connection without response")
        case "connect" if reply.errno is None:
            said = text.rpartition(": ")[2]
            return socket.gaierror(_RESOLVER[said], said) if said in _RESOLVER else ConnectionError(text)
    return socket.gaierror(reply.errno, text) if (reply.errno or 0) < 0 else _os_error(reply, text)


def fast_error_of(reply: Reply, url: str, retries: int) -> Exception:
    """The exception of geventhttpclient for a failed exchange with `url`, with its own message if it has one."""
    cause = cause_of(reply)
    match reply.outcome:
        case "timeout":
            return RetriesExceeded(url, retries, "timed out")
        case "reset" if reply.first_byte:
            return HTTPParseError("Incomplete response.")
        case "reset":
            return HTTPConnectionClosed("connection closed.")
        case "protocol":
            return HTTPParseError(reply.error)
    return cause


def undecodable(reply: Reply) -> requests_errors.ContentDecodingError:
    """The error for a reply whose content coding cannot be decoded, with the text of urllib3."""
    coding = reply.header("content-encoding")
    try:
        reply.decoded()
    except ValueError as reason:
        return requests_errors.ContentDecodingError(
            urllib3_errors.DecodeError(
                f"Received response with content-encoding: {coding}, but failed to decode it.", reason
            )
        )
    raise ValueError("this reply is not damaged")


def cause_in_stream(stream: Stream) -> Exception:
    """The error for a body that ended early, or exceeded a limit."""
    text = stream.error or ""
    match stream.outcome:
        case "timeout":
            return TimeoutError(text)
        case "tls":
            return ssl.SSLError(1, text)
    return urllib3_errors.ProtocolError(text) if stream.errno is None else _os_error(stream, text)


def _os_error(reply: Reply | Stream, text: str) -> OSError:
    # OSError picks the subclass by the number: 111 becomes ConnectionRefusedError.
    return OSError(reply.errno, os.strerror(reply.errno) if reply.errno else text)


def error_of(reply: Reply, url: str, request: Any = None) -> requests_errors.RequestException:
    """The exception of requests for a failed exchange with `url`, wrapped as by urllib3 and with its messages.

    Each is the context of the one around it, with the root cause innermost.
    """
    return _wrapped(*_layers(reply, url), request)


def aborted(cause: OSError, request: Any) -> requests_errors.RequestException:
    """The exception of requests for a request whose body could not be read."""
    return _wrapped(requests_errors.ConnectionError, _aborted(cause), request)


def _aborted(cause: Exception) -> list[Exception]:
    return [urllib3_errors.ProtocolError("Connection aborted.", cause), cause]


def _wrapped(
    kind: type[requests_errors.RequestException], layers: list[Exception], request: Any
) -> requests_errors.RequestException:
    for outer, inner in pairwise(layers):
        outer.__context__ = inner
    error = kind(layers[0], request=request)
    error.__context__ = layers[0]
    return error


def _layers(reply: Reply, url: str) -> tuple[type[requests_errors.RequestException], list[Exception]]:
    """(the exception class of requests, the exceptions that it wraps, outermost first)"""
    cause = cause_of(reply)
    peer: Any = _Peer(url)
    match reply.outcome:
        case "timeout" if reply.bytes_out:
            message = f"Read timed out. (read timeout={_limit(reply)})"
            return requests_errors.ReadTimeout, [urllib3_errors.ReadTimeoutError(peer.pool, url, message)]
        case "timeout":
            # Nothing was written, so the connect timeout has expired.
            message = f"Connection to {peer.host} timed out. (connect timeout={_limit(reply)})"
            return requests_errors.ConnectTimeout, peer.gave_up(urllib3_errors.ConnectTimeoutError(peer, message))
        case "tls":
            return requests_errors.SSLError, [cause]
        case "reset" | "protocol" if reply.first_byte:
            return requests_errors.ChunkedEncodingError, [cause]
        case "connect" if isinstance(cause, socket.gaierror):
            unknown = urllib3_errors.NameResolutionError(peer.host, peer, cause)
            return requests_errors.ConnectionError, [*peer.gave_up(unknown), cause]
        case "connect":
            refused = urllib3_errors.NewConnectionError(peer, f"Failed to establish a new connection: {cause}")
            return requests_errors.ConnectionError, [*peer.gave_up(refused), cause]
        case "protocol" if not isinstance(cause, http.client.BadStatusLine):
            return requests_errors.ConnectionError, [cause]
    return requests_errors.ConnectionError, _aborted(cause)


def _limit(reply: Reply) -> str:
    """Seconds, in the engine's format."""
    found = re.search(r"[0-9.]+(?= s\b)", reply.error or "")
    return found[0] if found else "None"


class _Peer:
    """Has the repr of the connection objects in urllib3's errors."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        kind = "HTTPS" if parts.scheme.lower() == "https" else "HTTP"
        port = parts.port or (443 if kind == "HTTPS" else 80)
        self._name = f"{kind}Connection(host={self.host!r}, port={port})"
        self.pool: Any = self._name.replace("Connection", "ConnectionPool", 1)
        self._target = urlunsplit(("", "", parts.path or "/", parts.query, ""))

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        # A real address would make equal failures distinct.
        return f"<{self._name} at 0x....>"

    def gave_up(self, reason: Exception) -> list[Exception]:
        return [urllib3_errors.MaxRetryError(self.pool, self._target, reason), reason]


def pool_of(url: str) -> Any:
    """An object with the repr of urllib3's connection pool for the host of a URL."""
    return _Peer(url).pool


_WRAPPERS = (
    requests_errors.ConnectionError,
    urllib3_errors.ProtocolError,
    urllib3_errors.MaxRetryError,
    urllib3_errors.NewConnectionError,
)


def root_of(error: Exception) -> Exception:
    """The exception wrapped by requests and urllib3. Locust reports failed connections by it."""
    while isinstance(error, _WRAPPERS) and isinstance(error.__context__, Exception):
        error = error.__context__
    return error


_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def message_of(error: BaseException | str) -> str:
    """A failure as Locust prints it: the text given to `failure()`, else the exception; without memory addresses."""
    if isinstance(error, (CatchResponseError, GrpcError, WebSocketError)):
        text = str(error.args[0]) if error.args else ""
    else:
        text = error if isinstance(error, str) else repr(error)
    return _ADDRESS.sub("at 0x....", text)


_STATUS_ERRORS = (requests_errors.HTTPError, requests_errors.TooManyRedirects, LocustBadStatusCode)

# The first match counts: a ConnectTimeout is both a Timeout and a ConnectionError.
_KINDS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    (_STATUS_ERRORS, "http"),
    ((TimeoutError, gevent.Timeout, requests_errors.Timeout, RetriesExceeded), "timeout"),
    ((ssl.SSLError, requests_errors.SSLError), "tls"),
    ((ConnectionRefusedError, socket.gaierror), "connect"),
    ((ConnectionError, EOFError, http.client.RemoteDisconnected, HTTPConnectionClosed), "reset"),
    ((http.client.HTTPException, urllib3_errors.ProtocolError, HTTPParseError), "protocol"),
)


def outcome_of(error: BaseException | str) -> str:
    """The failure kind of an exception from a custom client. An unknown exception counts as a failed check of user
    code."""
    if isinstance(error, GrpcError):
        return error.outcome
    if isinstance(error, BaseException):
        root = root_of(error) if isinstance(error, Exception) else error
        for kinds, outcome in _KINDS:
            if isinstance(error, kinds) or isinstance(root, kinds):
                return outcome
    return "assertion"


def exchange_outcome(reply: Reply, error: BaseException | str) -> str:
    """The failure kind of one of our own exchanges reported with `error`."""
    if reply.error is not None:
        return reply.outcome
    if isinstance(error, GrpcError):
        return error.outcome
    if isinstance(error, (requests_errors.ContentDecodingError, WebSocketError)):
        return "protocol"
    # Of requests' own errors only those about statuses and redirects occur after a complete response.
    return (
        "http"
        if reply.status >= 400
        or isinstance(error, (requests_errors.RequestException, LocustBadStatusCode, RetriesExceeded))
        else "assertion"
    )
