"""The variables OTEL_EXPORTER_OTLP_…, which SDKs read as well, and the way to the receiver that they give.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args
from urllib.parse import unquote, urlsplit

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.outputs.otlp.responses import check_response
from plimsoll.outputs.transports import HttpTransport, http_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.transports import HttpResponse, Transport

Signal = Literal["metrics", "logs", "traces"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)
HTTP, GRPC = "http/protobuf", "grpc"
_DEFAULT_URLS = {HTTP: "http://localhost:4318", GRPC: "http://localhost:4317"}


def chosen_signals(target: OutputTarget) -> tuple[Signal, ...]:
    """Of the setting `signals`: names with a plus sign between them; by default all. Raises UsageError."""
    names = target.settings.get("signals", "+".join(SIGNALS)).split("+")
    if unknown := [name for name in names if name not in SIGNALS]:
        raise UsageError(f"signals are {'+'.join(SIGNALS)}, or some of them, not {unknown[0]}")
    return tuple(signal for signal in SIGNALS if signal in names)


def variable(signal: Signal, name: str) -> str:
    """The variable's value for a signal, else its value for all signals; "" if neither is set."""
    values = (os.environ.get(f"OTEL_EXPORTER_OTLP_{own}{name}") for own in (f"{signal.upper()}_", ""))
    return next((value.strip() for value in values if value and value.strip()), "")


def header_pairs(text: str) -> dict[str, str]:
    """key=value,key=value with the values percent-encoded, as the variables have them."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {key.strip(): unquote(value.strip()) for key, equals, value in pairs if equals and key.strip()}


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """How messages of one signal are sent, whatever the protocol."""

    signal: Signal
    headers: Mapping[str, str] = field(repr=False)
    authorities: str | None
    """PEM file of the certificates that the receiver may show; None: those of the system."""
    certificate: tuple[str, str]
    """PEM files of the sender's own certificate and its key; "" for none."""
    is_gzip: bool


def transport_of(signal: Signal, target: OutputTarget) -> Transport:
    """Settings of the target come before variables. Raises UsageError."""
    protocol = protocol_of(signal, target)
    compression = variable(signal, "COMPRESSION") or "none"
    if compression not in ("none", "gzip"):
        raise UsageError(f"the compression is gzip or none, not {compression}")
    settings = SignalSettings(
        signal,
        {**header_pairs(variable(signal, "HEADERS")), **http_headers(target.settings)},
        variable(signal, "CERTIFICATE") or None,
        (variable(signal, "CLIENT_CERTIFICATE"), variable(signal, "CLIENT_KEY")),
        compression == "gzip",
    )
    if protocol == GRPC:
        try:
            from plimsoll.outputs.otlp.grpc_transport import GrpcTransport
        except ImportError as error:
            raise UsageError(f"install grpcio: {pip_install('otlp')}") from error
        url = target.url or default_url(signal, protocol)
        return GrpcTransport(url, settings, is_plain=variable(signal, "INSECURE").lower() == "true")
    return OtlpHttpTransport(_http_url(signal, target.url), settings)


def protocol_of(signal: Signal, target: OutputTarget) -> str:
    """Raises UsageError."""
    protocol = target.settings.get("protocol") or variable(signal, "PROTOCOL") or HTTP
    if protocol not in _DEFAULT_URLS:
        raise UsageError(f"the protocol is {HTTP} or {GRPC}, not {protocol}")
    return protocol


def default_url(signal: Signal, protocol: str) -> str:
    """Of a target without one, for all signals or for this one."""
    return variable(signal, "ENDPOINT") or _DEFAULT_URLS[protocol]


class OtlpHttpTransport(HttpTransport):
    """POSTs of protobuf, compressed if asked for."""

    def __init__(self, url: str, settings: SignalSettings) -> None:
        headers = {**settings.headers, **({"Content-Encoding": "gzip"} if settings.is_gzip else {})}
        super().__init__(url, "application/x-protobuf", headers, settings.authorities, settings.certificate)
        self._settings = settings

    def send(self, message: bytes) -> None:
        super().send(gzip.compress(message, 1) if self._settings.is_gzip else message)

    def _check(self, response: HttpResponse) -> None:
        super()._check(response)
        check_response(self._settings.signal, response.body)


def _http_url(signal: Signal, url: str) -> str:
    """A URL of all signals gets the path of each; one of a single signal is complete."""
    path = f"/v1/{signal}"
    if not url and (own := os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")):
        return own
    base = (url or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT_URLS[HTTP]).rstrip("/")
    parts = urlsplit(base)
    if own_path := next((own for own in SIGNALS if parts.path.endswith(f"/v1/{own}")), None):
        base = base.removesuffix(f"/v1/{own_path}")
    return f"{base}{path}"
