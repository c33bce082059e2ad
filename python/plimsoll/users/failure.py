"""From how an exchange ended to an exception, and from an exception to what a failure is filed under."""

from __future__ import annotations

import http.client
import os
import re
import socket
import ssl
from typing import TYPE_CHECKING, Any

import gevent
from requests import exceptions as requests_errors
from urllib3 import exceptions as urllib3_errors

from plimsoll.users.exceptions import CatchResponseError

if TYPE_CHECKING:
    from plimsoll._engine import Reply


class LocustBadStatusCode(Exception):  # noqa: N818 - Locust's name
    """A FastHttpSession got a status that is not among its `valid_response_codes`."""

    def __init__(self, url: str | None, code: int) -> None:
        super().__init__(url)
        self.url = url
        self.code = code

    def __str__(self) -> str:
        return f"URL {self.url}: code={self.code}"

    def __repr__(self) -> str:
        return f"LocustBadStatusCode(code={self.code})"


def cause_of(reply: Reply) -> Exception:
    """The exception at the root of a failed exchange: what the socket, the TLS or the HTTP layer would raise."""
    text = reply.error or ""
    match reply.outcome:
        case "timeout":
            return TimeoutError(text)
        case "tls":
            return ssl.SSLCertVerificationError(1, text) if "certificate" in text.lower() else ssl.SSLError(1, text)
        case "protocol":
            return urllib3_errors.ProtocolError(text)
        case "reset" if reply.errno is None:
            return urllib3_errors.ProtocolError(text) if reply.first_byte else http.client.RemoteDisconnected(text)
        case "connect" if reply.errno is None:
            return ConnectionError(text)
    return socket.gaierror(reply.errno, text) if (reply.errno or 0) < 0 else _os_error(reply, text)


def _os_error(reply: Reply, text: str) -> OSError:
    # OSError picks the subclass by the number: 111 becomes ConnectionRefusedError.
    return OSError(reply.errno, os.strerror(reply.errno) if reply.errno else text)


def error_of(reply: Reply, request: Any = None) -> requests_errors.RequestException:
    """What requests raises for a failed exchange, with the root cause as its context."""
    cause = cause_of(reply)
    kind = _requests_error(reply)
    if kind in (requests_errors.ReadTimeout, requests_errors.ConnectTimeout):
        return kind(reply.error, request=request)
    error = kind(cause, request=request)
    error.__context__ = cause
    return error


def _requests_error(reply: Reply) -> type[requests_errors.RequestException]:
    match reply.outcome:
        case "timeout":
            # Nothing was written: the limit that passed was the one on connecting.
            return requests_errors.ReadTimeout if reply.bytes_out else requests_errors.ConnectTimeout
        case "tls":
            return requests_errors.SSLError
        case "reset" | "protocol" if reply.first_byte:
            return requests_errors.ChunkedEncodingError
    return requests_errors.ConnectionError


_WRAPPERS = (
    requests_errors.ConnectionError,
    urllib3_errors.ProtocolError,
    urllib3_errors.MaxRetryError,
    urllib3_errors.NewConnectionError,
)


def root_of(error: Exception) -> Exception:
    """The exception inside requests' and urllib3's wrappings, by which Locust reports a failed connection."""
    while isinstance(error, _WRAPPERS) and isinstance(error.__context__, Exception):
        error = error.__context__
    return error


_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def message_of(error: BaseException | str) -> str:
    """How Locust prints a failure: the text given to `failure()`, else the exception; without memory addresses."""
    if isinstance(error, CatchResponseError):
        text = str(error.args[0]) if error.args else ""
    else:
        text = error if isinstance(error, str) else repr(error)
    return _ADDRESS.sub("at 0x....", text)


_STATUS_ERRORS = (requests_errors.HTTPError, requests_errors.TooManyRedirects, LocustBadStatusCode)

# The first that fits counts: a ConnectTimeout is both a Timeout and a ConnectionError.
_KINDS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    (_STATUS_ERRORS, "http"),
    ((TimeoutError, gevent.Timeout, requests_errors.Timeout), "timeout"),
    ((ssl.SSLError, requests_errors.SSLError), "tls"),
    ((ConnectionRefusedError, socket.gaierror), "connect"),
    ((ConnectionError, EOFError, http.client.RemoteDisconnected), "reset"),
    ((http.client.HTTPException, urllib3_errors.ProtocolError), "protocol"),
)


def outcome_of(error: BaseException | str) -> str:
    """The kind of failure that an exception of a custom client is. What cannot be told apart counts as the check of
    the user's code that it failed."""
    if isinstance(error, BaseException):
        root = root_of(error) if isinstance(error, Exception) else error
        for kinds, outcome in _KINDS:
            if isinstance(error, kinds) or isinstance(root, kinds):
                return outcome
    return "assertion"


def exchange_outcome(reply: Reply, error: BaseException | str) -> str:
    """The kind of failure of one of our own exchanges that was reported to have failed with `error`."""
    if reply.error is not None:
        return reply.outcome
    # Of requests' own errors only those about statuses and redirects come up after a complete response.
    return (
        "http"
        if reply.status >= 400 or isinstance(error, (requests_errors.RequestException, LocustBadStatusCode))
        else "assertion"
    )
