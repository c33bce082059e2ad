"""Reads HTTP resources repeatedly over a kept connection, with limits on the responses."""

from __future__ import annotations

import http.client
import time
import zlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.errors import UsageError
from plimsoll.load.origins import authorization_of
from plimsoll.observe.sampler import ProbeError
from plimsoll.observe.timed_socket import TimedSocket

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

TIMEOUT_S = 2.0
"""From the start of a fetch to the last byte of its response. Only the resolver of the system has time of its own."""
MOST_BYTES = 16 * 2**20
"""Size of a decoded response."""


class Fetcher:
    """GETs paths of one server. Does not follow redirects: they could lead to other targets."""

    def __init__(self, url: str) -> None:
        """url: http://… or https://…, with user:password@ if the server requires it. Raises UsageError."""
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except ValueError as error:
            raise UsageError(f"not a URL: {error}") from error
        if not parts.hostname:
            raise UsageError("a URL has a host: http://127.0.0.1:9100/metrics")
        self._parts = parts
        self.path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        """Of the URL, including its query."""
        self._headers = {"Accept-Encoding": "gzip", "User-Agent": "plimsoll", **authorization_of(parts)}
        self._connection: http.client.HTTPConnection | None = None
        self._deadline = 0.0
        """Of the fetch in progress, on the monotonic clock."""

    def get(self, path: str, headers: Mapping[str, str] | None = None, also: Container[int] = ()) -> str:
        """The body, decoded from UTF-8. Raises ProbeError unless the status is 200, or one of `also`."""
        self._deadline = time.monotonic() + TIMEOUT_S
        try:
            try:
                return self._ask(path, headers or {}, also)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # The server has closed the kept connection; a new one shows whether there is an error.
                self.close()
                return self._ask(path, headers or {}, also)
        except (OSError, http.client.HTTPException, zlib.error) as error:
            self.close()
            raise ProbeError(_reason(error)) from error
        except ProbeError:
            self.close()
            raise

    def close(self) -> None:
        """By the thread that fetches: another one would wait for the piece that this one reads."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, path: str, headers: Mapping[str, str], also: Container[int]) -> str:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._parts.hostname or "", self._port, timeout=self._left())
            self._connection.connect()
            self._connection.sock = TimedSocket(self._connection.sock, self._left)
        self._connection.request("GET", path, headers={**self._headers, **headers})
        answer = self._connection.getresponse()
        body = answer.read(MOST_BYTES + 1)
        if answer.status != http.client.OK and answer.status not in also:
            raise ProbeError(f"HTTP {answer.status} {answer.reason}".rstrip())
        if answer.getheader("Content-Encoding", "").lower() == "gzip":
            body = zlib.decompressobj(wbits=31).decompress(body, MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ProbeError(f"its answer is longer than {MOST_BYTES >> 20} MiB")
        return body.decode("utf-8", "replace")

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def _reason(error: OSError | http.client.HTTPException | zlib.error) -> str:
    if isinstance(error, TimeoutError):
        return f"no complete answer within {TIMEOUT_S:g} s"
    said = error.strerror if isinstance(error, OSError) else None
    return said or str(error) or type(error).__name__
