"""The output `otlp`: three signals, each with its own way to the receiver and what it holds for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from plimsoll.outputs.delivery import Delivery
from plimsoll.outputs.otlp.metrics import MetricSums
from plimsoll.outputs.otlp.records import log_message, span_message
from plimsoll.outputs.otlp.resource import server_attributes
from plimsoll.outputs.otlp.settings import chosen_signals, default_url, protocol_of, transport_of, variable
from plimsoll.outputs.output import Output, OutputError, Undelivered
from plimsoll.outputs.transports import interval_of

if TYPE_CHECKING:
    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.otlp.resource import Attributes
    from plimsoll.outputs.otlp.settings import Signal
    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond


class OtlpOutput(Output):
    _run: OutputRun
    """From `open` on."""

    def __init__(self, target: OutputTarget) -> None:
        """Without a URL: that of the variables. Settings: `interval` of the metrics, whole seconds, `protocol`,
        `signals` and `header`. Raises UsageError."""
        self._interval = interval_of(target.settings)
        first = chosen_signals(target)[0]
        self._where = "" if target.url else f" ({default_url(first, protocol_of(first, target))})"
        """Of messages about a receiver that the option does not name."""
        self._deliveries: dict[Signal, Delivery] = {
            signal: Delivery(f"{target.name}, {signal}", transport_of(signal, target), is_of_lines=False)
            for signal in chosen_signals(target)
        }
        is_delta = variable("metrics", "TEMPORALITY_PREFERENCE").lower() == "delta"
        self._sums = MetricSums(is_delta=is_delta)
        self._server: Attributes = ()
        self._unsent = 0
        """Seconds since the last message with metrics."""
        self._spans_left_out = 0

    def open(self, run: OutputRun) -> None:
        self._run, self._server = run, server_attributes(run.host)
        self._sums.begin(run, self._server)
        errors = []
        for delivery in self._deliveries.values():
            try:
                delivery.reach()
            except OutputError as error:
                errors.append(error)
        if errors:
            raise OutputError(f"{errors[0]}{self._where}")

    def second(self, second: OutputSecond) -> None:
        if "metrics" in self._deliveries:
            self._sums.add(second)
            self._unsent += 1
            if self._unsent >= self._interval:
                self._send_metrics()
        if (traces := self._deliveries.get("traces")) is not None:
            self._spans_left_out += second.spans_left_out
            if second.traced:
                traces.put(span_message(self._run, second.traced, self._server))

    def event(self, event: OutputEvent) -> None:
        if (logs := self._deliveries.get("logs")) is not None:
            logs.put(log_message(self._run, event))

    def _send_metrics(self) -> None:
        if self._unsent:
            self._deliveries["metrics"].put(self._sums.message(), self._unsent)
            self._unsent = 0

    @property
    def unconfirmed(self) -> int:
        return sum(delivery.unconfirmed for delivery in self._deliveries.values())

    def flush(self, timeout_s: float) -> Undelivered | None:
        self._send_metrics()
        deadline = time.monotonic() + timeout_s
        results = (delivery.flush(max(0.0, deadline - time.monotonic())) for delivery in self._deliveries.values())
        missing = [result for result in results if result is not None]
        if not (missing or self._spans_left_out):
            return None
        reason = missing[0].reason if missing else ""
        return Undelivered(sum(result.messages for result in missing), reason, self._spans_left_out)

    def close(self) -> None:
        for delivery in self._deliveries.values():
            delivery.close()
