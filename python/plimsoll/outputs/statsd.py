"""StatsD over UDP: counters and gauges, with the tags of DogStatsD or with everything in the name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.outputs.delivery import DeliveredOutput, Delivery
from plimsoll.outputs.transports import UdpTransport, host_and_port
from plimsoll.stats.latency.milliseconds import ms_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.output import OutputSecond
    from plimsoll.stats.totals import Totals

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
TAGS = ("none", "dogstatsd")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_IN_A_TAG = re.compile(r"[,|#\s]+")


class StatsdLines(DeliveredOutput):
    def __init__(self, target: OutputTarget) -> None:
        """Settings: `prefix` of all names, and `tags`, one of `TAGS`. Raises UsageError."""
        transport = UdpTransport(*host_and_port(target.url.removeprefix("udp://")))
        tags = target.settings.get("tags", TAGS[0])
        if tags not in TAGS:
            raise UsageError(f"tags is {' or '.join(TAGS)}, not {tags}")
        self._has_tags = tags == "dogstatsd"
        self._prefix = target.settings.get("prefix", "plimsoll")
        super().__init__(Delivery(target.name, transport, is_of_lines=True))

    def second(self, second: OutputSecond) -> None:
        lines = [line for row in second.endpoints for line in self._of(row, self._run.timed, (row.method, row.name))]
        lines += self._of(second.total, self._run.timed, ())
        state = second.generator
        gauges: dict[str, float] = {
            "users": state.users,
            "workers": state.workers,
            "in_flight": state.in_flight,
            "cpu": state.cpu,
            "valid": int(second.is_valid),
            "thresholds_broken": sum(result.outcome == "broken" for result in second.thresholds),
        }
        if (late := ms_at(state.lag, 0.99)) is not None:
            gauges["lag.p99_ms"] = late
        lines += [self._line(name, (), value, "g") for name, value in gauges.items()]
        self._delivery.put("".join(f"{line}\n" for line in lines).encode())

    def _of(self, row: Totals, timed: frozenset[str], endpoint: Sequence[str]) -> Iterator[str]:
        yield self._line("requests", endpoint, row.requests, "c")
        yield self._line("failures", endpoint, row.failures, "c")
        for name, time in row.response_of(timed).named(QUANTILES).items():
            if time is not None:
                yield self._line(f"response.{name}_ms", endpoint, time.value, "g")

    def _line(self, name: str, endpoint: Sequence[str], value: float, kind: str) -> str:
        """endpoint: method and name, or nothing for all endpoints together."""
        text = f"{value:.10g}"
        if not endpoint:
            return f"{self._prefix}.{name}:{text}|{kind}"
        if self._has_tags:
            method, path = (_NOT_IN_A_TAG.sub("_", part) for part in endpoint)
            return f"{self._prefix}.endpoint.{name}:{text}|{kind}|#method:{method},name:{path}"
        parts = (_NOT_IN_A_NAME.sub("_", part).strip("_") or "root" for part in endpoint)
        return f"{self._prefix}.endpoint.{'.'.join(parts)}.{name}:{text}|{kind}"
