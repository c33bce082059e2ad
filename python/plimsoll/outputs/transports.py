"""Ways to a receiver: a stream or file, HTTP, UDP. Each sends one message at a time and waits for a few seconds at
most."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from plimsoll.errors import UsageError
from plimsoll.load.origins import authorization_of
from plimsoll.outputs.output import OutputError
from plimsoll.plain_text import one_line
from plimsoll.redact import redact
from plimsoll.report.writing import STDOUT, check_writable
from plimsoll.store.database import create_for_owner

Sign = Callable[[str, bytes], Mapping[str, str]]
"""Makes headers that prove who sends, of the path and the body of a request."""
CONNECT_S = 5.0
"""For a connection."""
TIMEOUT_S = 15.0
"""For each piece of a response."""
DATAGRAM_BYTES = 1400
"""Largest datagram: it fits into a frame of Ethernet."""
MOST_REPLY_BYTES = 1 << 16
"""What is read of a response."""
REPEATABLE = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed later."""
INTERVAL_S = 5
"""Seconds of a run from one message to the next, for outputs that do not send each of them."""


class RetryError(OutputError):
    """The message may be sent again. after_s: seconds that the receiver asks to wait; None if it does not say."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


class Transport(Protocol):
    def reach(self) -> None:
        """Raises RetryError if the receiver cannot be reached."""

    def send(self, message: bytes) -> None:
        """Raises RetryError, and OutputError if the receiver refuses this message."""

    def close(self) -> None: ...


class FileTransport:
    """Adds messages to the end of a file, or writes them to stdout. An experiment's runs share a file."""

    def __init__(self, path: str) -> None:
        """path: "-" is stdout. Raises UsageError if the file cannot be written."""
        check_writable(path)
        self._path = None if path == STDOUT else Path(path).absolute()
        self._file: int | None = None

    def reach(self) -> None:
        try:
            self._open()
        except OSError as error:
            raise RetryError(error.strerror or str(error)) from error

    def _open(self) -> int:
        if self._file is None:
            if self._path is None:
                # Not `sys.stdout`: a thread that waits in its buffer would hold up the end of the process.
                self._file = os.dup(1)
            else:
                create_for_owner(str(self._path))
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        return self._file

    def send(self, message: bytes) -> None:
        try:
            file = self._open()
            while message:
                message = message[os.write(file, message) :]
        except BrokenPipeError as error:
            raise OutputError("nobody reads it any more") from error
        except OSError as error:
            raise RetryError(error.strerror or str(error)) from error

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class HttpResponse(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes
    """Its first `MOST_REPLY_BYTES`."""


class HttpTransport:
    """POSTs messages over a kept connection. Does not follow redirects: they could lead to other receivers."""

    def __init__(
        self,
        url: str,
        content_type: str,
        headers: Mapping[str, str] | None = None,
        authorities: str | None = None,
        certificate: tuple[str, str] = ("", ""),
        sign: Sign | None = None,
    ) -> None:
        """url: with user:password@ for basic authentication. authorities: PEM file of the certificates that the
        receiver may show; None: those of the system. certificate: PEM files of the sender's own certificate and its
        key, "" for none. Raises UsageError for a malformed URL, or a file that cannot be read."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"not a URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError("a URL of the form http://host:port/path is needed")
        self._address = (parts.hostname, port)
        self._tls = tls_context(authorities, certificate) if parts.scheme == "https" else None
        self._path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        self._headers = {"User-Agent": "plimsoll", "Content-Type": content_type, **(headers or {})}
        self._headers |= authorization_of(parts)
        self._sign = sign
        self._connection: http.client.HTTPConnection | None = None

    def reach(self) -> None:
        try:
            self._connect()
        except (OSError, http.client.HTTPException) as error:
            raise RetryError(reason_of(error)) from error

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host, port = self._address
            connection = (
                http.client.HTTPConnection(host, port, timeout=CONNECT_S)
                if self._tls is None
                else http.client.HTTPSConnection(host, port, timeout=CONNECT_S, context=self._tls)
            )
            connection.connect()
            connection.sock.settimeout(TIMEOUT_S)
            self._connection = connection
        return self._connection

    def send(self, message: bytes) -> None:
        is_kept = self._connection is not None
        try:
            try:
                response = self._post(message)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.close()
                if not is_kept:
                    raise
                # The receiver closed the kept connection while nothing was sent. A new one shows if there is an error.
                response = self._post(message)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise RetryError(reason_of(error)) from error
        self._check(response)

    def _check(self, response: HttpResponse) -> None:
        """Raises RetryError or OutputError if the receiver did not take the message, or refused a part of it."""
        status = response.status
        if 200 <= status < 300:
            return
        text = one_line(redact(response.body.decode("utf-8", "replace")))[:200]
        refusal = f"status {status} {http.client.responses.get(status, '')}".rstrip() + (f": {text}" if text else "")
        if status in REPEATABLE:
            raise RetryError(refusal, seconds_asked(response.headers.get("Retry-After", "")))
        raise OutputError(refusal)

    def _post(self, message: bytes) -> HttpResponse:
        connection = self._connect()
        signed = self._sign(self._path, message) if self._sign is not None else {}
        connection.request("POST", self._path, message, {**self._headers, **signed})
        response = connection.getresponse()
        reply = response.read(MOST_REPLY_BYTES)
        if not response.isclosed() or response.will_close:
            self.close()
        return HttpResponse(response.status, response.headers, reply)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class UdpTransport:
    """Sends messages of whole lines as datagrams. The receiver does not confirm them."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._socket: socket.socket | None = None

    def reach(self) -> None:
        try:
            self._connect()
        except OSError as error:
            raise RetryError(reason_of(error)) from error

    def _connect(self) -> socket.socket:
        if self._socket is None:
            family, kind, protocol, _, address = socket.getaddrinfo(*self._address, type=socket.SOCK_DGRAM)[0]
            connection = socket.socket(family, kind, protocol)
            connection.connect(address)
            self._socket = connection
        return self._socket

    def send(self, message: bytes) -> None:
        try:
            connection = self._connect()
            for datagram in datagrams(message):
                connection.send(datagram)
        except OSError as error:
            self.close()
            raise RetryError(reason_of(error)) from error

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def datagrams(message: bytes) -> list[bytes]:
    """The lines of a message in pieces of at most `DATAGRAM_BYTES`. A longer line is a piece of its own."""
    pieces: list[bytes] = []
    for line in message.splitlines(keepends=True):
        if pieces and len(pieces[-1]) + len(line) <= DATAGRAM_BYTES:
            pieces[-1] += line
        else:
            pieces.append(line)
    return pieces


def seconds_asked(retry_after: str) -> float | None:
    """Seconds to wait, of the header Retry-After, which has a number or a date; None if it is neither."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


def host_and_port(text: str) -> tuple[str, int]:
    """Raises UsageError for what is not HOST:PORT."""
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError("say where to: HOST:PORT")
    return host.strip("[]"), int(port)


def is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def http_headers(settings: Mapping[str, str]) -> dict[str, str]:
    """Of the setting `header`, one a line. Raises UsageError."""
    if "header" not in settings:
        return {}
    headers = {}
    for line in settings["header"].split("\n"):
        name, colon, value = line.partition(":")
        if not (colon and name.strip()):
            raise UsageError("a header has the form header=Name: value")
        headers[name.strip()] = value.strip()
    return headers


def interval_of(settings: Mapping[str, str]) -> int:
    """Seconds, of the setting `interval`. Raises UsageError."""
    interval = settings.get("interval", str(INTERVAL_S))
    if not (interval.isdecimal() and int(interval)):
        raise UsageError(f"interval takes whole seconds from 1 on, not {interval}")
    return int(interval)


def tls_context(authorities: str | None, certificate: tuple[str, str]) -> ssl.SSLContext:
    """Arguments as `HttpTransport` has them. Raises UsageError."""
    try:
        context = ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise UsageError(f"cannot read the certificates in {authorities}: {error.strerror or error}") from error
    if certificate[0]:
        try:
            context.load_cert_chain(certificate[0], certificate[1] or None)
        except OSError as error:
            raise UsageError(f"cannot use the certificate in {certificate[0]}: {error.strerror or error}") from error
    return context


def reason_of(error: Exception) -> str:
    """Why a connection fails, for people."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of the receiver is not accepted: {error.verify_message}"
    strerror = getattr(error, "strerror", None)
    return strerror or str(error) or type(error).__name__
