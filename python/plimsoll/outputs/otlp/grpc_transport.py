"""OpenTelemetry's protocol over gRPC."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import grpc

from plimsoll.errors import UsageError
from plimsoll.load.origins import authorization_of
from plimsoll.outputs.otlp.responses import check_response
from plimsoll.outputs.output import OutputError
from plimsoll.outputs.transports import CONNECT_S, TIMEOUT_S, RetryError, host_and_port, reason_of, tls_context
from plimsoll.plain_text import one_line
from plimsoll.redact import redact

if TYPE_CHECKING:
    from plimsoll.outputs.otlp.settings import SignalSettings

_COLLECTOR = "/opentelemetry.proto.collector"
_METHODS = {
    "metrics": f"{_COLLECTOR}.metrics.v1.MetricsService/Export",
    "logs": f"{_COLLECTOR}.logs.v1.LogsService/Export",
    "traces": f"{_COLLECTOR}.trace.v1.TraceService/Export",
}
_REPEATABLE = frozenset({
    grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED, grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DATA_LOSS, grpc.StatusCode.RESOURCE_EXHAUSTED,
})  # fmt: skip
"""https://opentelemetry.io/docs/specs/otlp/#failures"""


class GrpcTransport:
    """Calls Export with messages that are encoded already. It connects with its first use, in the output's thread."""

    def __init__(self, url: str, settings: SignalSettings, *, is_plain: bool) -> None:
        """url: http://host:port without TLS, https://host:port with it, or host:port, with TLS unless is_plain; perhaps
        with user:password@ for basic authentication. Raises UsageError."""
        parts = urlsplit(url if "://" in url else f"{'http' if is_plain else 'https'}://{url}")
        if parts.scheme not in ("http", "https") or parts.path.strip("/"):
            raise UsageError("gRPC needs a URL of the form http://host:port, without a path")
        self._address = host_and_port(parts.netloc.rpartition("@")[2])
        self._credentials: grpc.ChannelCredentials | None = None
        self._tls: ssl.SSLContext | None = None
        """For the first connection, which says more about a certificate than a channel does."""
        if parts.scheme == "https":
            self._tls = tls_context(settings.authorities, settings.certificate)
            self._tls.set_alpn_protocols(["h2"])
            chain, key = (_content(path) if path else None for path in settings.certificate)
            roots = _content(settings.authorities) if settings.authorities else None
            self._credentials = grpc.ssl_channel_credentials(roots, key, chain)
        self._signal = settings.signal
        self._method = _METHODS[settings.signal]
        # HTTP/2 has names in lower case only.
        headers = {**settings.headers, **authorization_of(parts)}
        self._metadata = tuple((name.lower(), value) for name, value in headers.items())
        self._compression = grpc.Compression.Gzip if settings.is_gzip else grpc.Compression.NoCompression
        self._channel: grpc.Channel | None = None

    def reach(self) -> None:
        try:
            with socket.create_connection(self._address, CONNECT_S) as connection:
                if self._tls is not None:
                    self._tls.wrap_socket(connection, server_hostname=self._address[0]).close()
        except OSError as error:
            raise RetryError(reason_of(error)) from error

    def send(self, message: bytes) -> None:
        try:
            reply = self._call()(message, timeout=TIMEOUT_S, metadata=self._metadata, compression=self._compression)
        except grpc.RpcError as error:
            code, details = error.code(), one_line(redact(error.details() or ""))[:200]
            refusal = f"gRPC status {code.name}" + (f": {details}" if details else "")
            # A new channel connects at once. This one would wait, although the receiver may be back.
            self.close()
            raise (RetryError if code in _REPEATABLE else OutputError)(refusal) from error
        check_response(self._signal, reply)

    def _call(self) -> Any:
        if self._channel is None:
            host, port = self._address
            place = f"{f'[{host}]' if ':' in host else host}:{port}"
            # No proxy, as for HTTP.
            options = [("grpc.enable_http_proxy", 0)]
            self._channel = (
                grpc.insecure_channel(place, options)
                if self._credentials is None
                else grpc.secure_channel(place, self._credentials, options)
            )
        return self._channel.unary_unary(self._method)

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
