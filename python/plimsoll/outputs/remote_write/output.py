"""The output `prometheus` with a URL: remote write."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from plimsoll.errors import UsageError
from plimsoll.outputs.aws_signature import AwsSigner
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.metrics import RunMetrics, has_native
from plimsoll.outputs.remote_write.encoding import snappy_block
from plimsoll.outputs.remote_write.transport import CONTENT_TYPE_1, HEADERS_1, NegotiatedTransport, for_both
from plimsoll.outputs.remote_write.version_1 import WriteRequests
from plimsoll.outputs.remote_write.version_2 import Requests
from plimsoll.outputs.transports import HttpTransport, http_headers, interval_of

if TYPE_CHECKING:
    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond, Undelivered
    from plimsoll.outputs.transports import Sign

PATH = "/api/v1/write"
"""Of a URL without one."""
AWS_SERVICE = "aps"
"""Amazon Managed Service for Prometheus, in signatures."""


class RemoteWrite(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """Settings: `interval`, whole seconds, `histograms`, `version`, `auth`, `region` and `header`. Raises
        UsageError."""
        settings = target.settings
        self._interval = interval_of(settings)
        version = settings.get("version", "1")
        if version not in ("1", "2"):
            raise UsageError(f"the version of remote write is 1 or 2, not {version}")
        self._is_native = has_native(settings)
        parts = urlsplit(target.url)
        url = urlunsplit(parts._replace(path=PATH)) if parts.path in ("", "/") else target.url
        headers, sign = http_headers(settings), _sign(url, target)
        self._negotiated = NegotiatedTransport(target.name, url, headers, sign) if version == "2" else None
        """None: version 1 was asked for."""
        transport = self._negotiated or HttpTransport(url, CONTENT_TYPE_1, {**HEADERS_1, **headers}, sign=sign)
        super().__init__(Delivery(target.name, transport, is_of_lines=False))
        self._older = WriteRequests()
        self._unsent = 0
        """Seconds and events since the last message."""
        self._time = 0.0
        """Of the samples of the next message: the end of the last second. An event after it adds a series only, so the
        other series get the same sample again, which receivers accept."""

    def open(self, run: OutputRun) -> None:
        self._metrics = RunMetrics(run, has_classic=not self._is_native, has_native=self._is_native)
        self._time = run.started
        self._newer = Requests(round(run.started * 1000))
        super().open(run)

    def second(self, second: OutputSecond) -> None:
        self._metrics.add(second)
        self._unsent, self._time = self._unsent + 1, second.time
        if self._unsent >= self._interval:
            self._send()

    def event(self, event: OutputEvent) -> None:
        self._metrics.add_event(event)
        self._unsent += 1

    def _send(self) -> None:
        if self._unsent:
            self._delivery.put(self._message(), self._unsent)
            self._unsent = 0

    def _message(self) -> bytes:
        families, time_ms = self._metrics.families(is_native=self._is_native), round(self._time * 1000)
        if self._negotiated is None:
            return snappy_block(self._older.message(families, time_ms))
        agreed = self._negotiated.agreed
        newer = b"" if agreed == 1 else snappy_block(self._newer.message(families, time_ms))
        older = b"" if agreed == 2 else snappy_block(self._older.message(families, time_ms))
        return for_both(sum(len(samples) for _, samples in families), newer, older)

    def flush(self, timeout_s: float) -> Undelivered | None:
        self._send()
        return super().flush(timeout_s)


def _sign(url: str, target: OutputTarget) -> Sign | None:
    """Of the settings `auth` and `region`. Raises UsageError."""
    auth, region = target.settings.get("auth"), target.settings.get("region")
    if auth is None:
        if region is not None:
            raise UsageError("region goes with auth=sigv4")
        return None
    if auth != "sigv4":
        raise UsageError(f"auth is sigv4, not {auth}; a user and a password are in the URL, a token is in a header")
    if urlsplit(url).username is not None:
        raise UsageError("auth=sigv4 signs requests, so the URL has no user and password")
    return AwsSigner.from_environment(url, AWS_SERVICE, region).headers
