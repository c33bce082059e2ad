"""A receiver of OpenTelemetry's protocol over HTTP: any SDK can send its traces and metrics here during a run.

Protocol: https://opentelemetry.io/docs/specs/otlp/#otlphttp. Sending costs the service about a fifth of its CPU, so do
not use it for runs that are compared with others.
"""

from __future__ import annotations

import time
from threading import Lock, Thread
from typing import TYPE_CHECKING

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.observe.instruments import Instruments
from plimsoll.observe.sampler import Probe
from plimsoll.observe.spans import MOST_OFF_NS, SpanSums, is_plausible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.observe.telemetry import Telemetry
    from plimsoll.record.observed import ObservedSource

LINGER_S = 6.0
"""SDKs send every five seconds: the receiver waits this long for the last spans of a run."""
CLOCK_S = 1.0
"""Smaller clock differences are ignored."""
MOST_REASONS = 20
"""Reasons of rejections that are counted separately: some quote what was sent."""
OTHER_REASONS = "other reasons"


class Receiver(Probe):
    """Listens from the start. As a probe it has the rate and mean time of each transaction, and the metrics."""

    def __init__(self, source: str, host: str, port: int) -> None:
        """Raises UsageError if the address is not available, or opentelemetry-proto is not installed."""
        try:
            from plimsoll.observe.otlp_server import OtlpServer
        except ImportError as error:
            raise UsageError(f"to receive OpenTelemetry, install opentelemetry-proto: {pip_install('otlp')}") from error
        self.source = source
        self._lock = Lock()
        self._spans = SpanSums()
        self._instruments = Instruments()
        self._since = time.time_ns()
        self._before: tuple[float, dict[str, tuple[int, int]]] | None = None
        self._refused: dict[str, int] = {}
        self._out_of_time = 0
        """Spans and points with times that cannot be those of a run."""
        self._ahead: int | None = None
        """Lower bound of the service's clock minus ours in ns, if known."""
        try:
            self._server = OtlpServer((host, port), self._take, self._refuse)
        except OSError as error:
            raise UsageError(f"cannot listen at {host}:{port}: {error.strerror}") from error
        self.port: int = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, name="otlp", daemon=True)
        self._thread.start()

    def read(self, now: float) -> Mapping[str, float]:
        with self._lock:
            counted = {name: (count, ns) for name, count, ns in self._spans.transactions}
            figures = dict(self._instruments.take())
            if self._before is None:
                # The run starts: earlier spans belong to a warm-up or another run.
                self._since, self._spans = time.time_ns(), SpanSums()
                counted = {}
        if self._before is not None and now > self._before[0]:
            for name, (count, ns) in counted.items():
                old_count, old_ns = self._before[1].get(name, (0, 0))
                figures[name] = (count - old_count) / (now - self._before[0])
                if count > old_count:
                    figures[f"{name} mean"] = (ns - old_ns) / (count - old_count) / 1e6
        self._before = now, counted
        return figures

    def ms(self, trace: str) -> float | None:
        """The service's time for a trace according to its spans; None if unknown."""
        with self._lock:
            return self._spans.ms(trace)

    def unit(self, name: str) -> str:
        with self._lock:
            try:
                return self._instruments.unit(name)
            except KeyError:
                return "ms" if name.endswith(" mean") else "/s"

    def facts(self) -> ObservedSource | None:
        """Waits for the last data of the service."""
        time.sleep(LINGER_S)
        with self._lock:
            return self._spans.facts() if self._spans.count else None

    def notes(self) -> list[str]:
        """Rejected requests, and clock differences."""
        with self._lock:
            found = [f"{self.source}: {count} requests were refused: {why}" for why, count in self._refused.items()]
            if self._instruments.left_out:
                found.append(f"{self.source}: there were more metrics than are followed")
            if self._out_of_time:
                found.append(
                    f"{self.source}: {self._out_of_time} spans and points are left out: they begin after they end, or "
                    "are more than a day from this machine's clock"
                )
            if not self._spans.count and not found:
                found.append(f"{self.source}: nothing was sent to port {self.port} during the run")
            if self._ahead is not None and self._ahead > CLOCK_S * 1e9:
                found.append(
                    f"{self.source}: the clock of the service is {self._ahead / 1e9:.1f} s ahead of this machine's"
                )
            return found

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, sent: Telemetry) -> None:
        now = time.time_ns()
        with self._lock:
            for span in sent.spans:
                if not is_plausible(span, now):
                    self._out_of_time += 1
                    continue
                self._ahead = max(span.end - now, self._ahead or 0)
                if span.end >= self._since:
                    self._spans.add(span)
            for point in sent.points:
                if abs(point.at - now) > MOST_OFF_NS:
                    self._out_of_time += 1
                    continue
                self._instruments.add(point)

    def _refuse(self, why: str) -> None:
        with self._lock:
            key = why if why in self._refused or len(self._refused) < MOST_REASONS else OTHER_REASONS
            self._refused[key] = self._refused.get(key, 0) + 1
