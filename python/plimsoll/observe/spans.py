"""Sums over the spans of a service: its transactions, and its own calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from plimsoll._engine import Histogram
from plimsoll.record.observed import ObservedSource, ObservedWork

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_NAMES = 500
"""Kinds of spans that are counted separately; otherwise a service with ids in its names would fill the memory."""
MOST_SERVICES = 50
"""Services whose further kinds are counted together, for each of them."""
MOST_TRACES = 100_000
"""Traces whose times can be looked up; a few MB."""
MOST_OFF_NS = 24 * 3600 * 10**9
"""Times that are farther from this machine's clock are mistakes of the service, not of its clock."""
OTHERS = "(others)"
SERVER, CLIENT = 2, 3
"""Span kinds, as numbered by OpenTelemetry."""


class TraceSpan(NamedTuple):
    """A span that has ended."""

    service: str
    kind: int
    name: str
    start: int
    """Unix time, ns, like the next."""
    end: int
    failed: bool
    trace: str
    """32 hexadecimal digits."""
    attributes: Mapping[str, str]
    """Those that are texts."""


def is_plausible(span: TraceSpan, now: int) -> bool:
    """Whether the span can be one of a run that is in progress. now: Unix time, ns."""
    return now - MOST_OFF_NS <= span.start <= span.end <= now + MOST_OFF_NS


class _Key(NamedTuple):
    service: str
    name: str
    view: str
    """The function or class that handled it, or the system that was called."""


@dataclass(slots=True)
class _Sum:
    count: int = 0
    failed: int = 0
    ns: int = 0
    micros: Histogram = field(default_factory=Histogram)

    def add(self, span: TraceSpan) -> None:
        taken = span.end - span.start
        self.count += 1
        self.failed += span.failed
        self.ns += taken
        self.micros.record(taken // 1000)


class SpanSums:
    """Transactions are spans of kind server; calls are spans of kind client: to databases and other services."""

    def __init__(self) -> None:
        self.count = 0
        """Spans of all kinds."""
        self._transactions: dict[_Key, _Sum] = {}
        self._calls: dict[_Key, _Sum] = {}
        self._traces: dict[str, int] = {}
        """ns of the longest transaction of each of the latest traces."""

    def add(self, span: TraceSpan) -> None:
        self.count += 1
        if span.kind == SERVER:
            self._add(self._transactions, span, _view(span.attributes))
            # If a service calls another one, both have transactions in the same trace.
            self._traces[span.trace] = max(span.end - span.start, self._traces.pop(span.trace, 0))
            if len(self._traces) > MOST_TRACES:
                del self._traces[next(iter(self._traces))]
        elif span.kind == CLIENT:
            self._add(self._calls, span, _system(span.attributes))

    @property
    def transactions(self) -> list[tuple[str, int, int]]:
        """Name, count and ns of each so far."""
        return [(_title(key), each.count, each.ns) for key, each in self._transactions.items()]

    def ms(self, trace: str) -> float | None:
        """The time of a trace's longest transaction; None if unknown or no longer kept."""
        ns = self._traces.get(trace)
        return None if ns is None else ns / 1e6

    def facts(self) -> ObservedSource:
        """What is known so far."""
        return ObservedSource(spans=self.count, transactions=_works(self._transactions), calls=_works(self._calls))

    def _add(self, sums: dict[_Key, _Sum], span: TraceSpan, view: str) -> None:
        key = _Key(span.service, span.name, view)
        if key not in sums and len(sums) >= MOST_NAMES:
            key = _Key(span.service, OTHERS, "")
            if key not in sums and len(sums) >= MOST_NAMES + MOST_SERVICES:
                key = _Key(OTHERS, OTHERS, "")
        sums.setdefault(key, _Sum()).add(span)


def _works(sums: Mapping[_Key, _Sum]) -> tuple[ObservedWork, ...]:
    return tuple(
        ObservedWork(
            **key._asdict(),
            calls=work.count,
            failed=work.failed,
            ms=work.ns / 1e6,
            p50=work.micros.value_at(0.5) / 1000,
            p95=work.micros.value_at(0.95) / 1000,
            max=work.micros.max / 1000,
        )
        for key, work in sorted(sums.items(), key=lambda item: -item[1].ns)
    )


def _title(key: _Key) -> str:
    return f"{key.service} {key.view or key.name}"


def _view(attributes: Mapping[str, str]) -> str:
    """OpenTelemetry's semantic conventions for code, the newer one first."""
    if "code.function.name" in attributes:
        return attributes["code.function.name"]
    return ".".join(attributes[each] for each in ("code.namespace", "code.function") if each in attributes)


def _system(attributes: Mapping[str, str]) -> str:
    names = ("db.system.name", "db.system", "rpc.system", "server.address", "net.peer.name")
    return next((attributes[each] for each in names if each in attributes), "")
