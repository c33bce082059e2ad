"""The target's side of a run: the work that it reports itself. Times in ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plimsoll.record.codec import JsonObject
from plimsoll.record.snapshot import TracedRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedWork(JsonObject):
    """Work that the target reports under one name."""

    service: str = ""
    """The service; for a part, the endpoint."""
    name: str = ""
    view: str = ""
    """The function that responded, or the system that was called."""
    calls: int = 0
    failed: int = 0
    ms: float = 0.0
    """All calls together."""
    p50: float | None = None
    """Of its calls, as `p95` and `max`."""
    p95: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedStatement(JsonObject):
    """A statement of the target's database."""

    query: str = ""
    calls: int = 0
    ms: float = 0.0
    """All calls together."""
    rows: int = 0
    """Returned or changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRequest(JsonObject):
    """One of the slowest requests that carry a trace."""

    method: str = ""
    name: str = ""
    outcome: str = ""
    trace: str = ""
    second: float = 0.0
    response_ms: float = 0.0
    service_ms: float = 0.0
    server_ms: float | None = None

    @classmethod
    def of(cls, request: TracedRequest) -> SlowRequest:
        return cls(**request._asdict())

    @property
    def request(self) -> TracedRequest:
        return TracedRequest(*(getattr(self, name) for name in TracedRequest._fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSource(JsonObject):
    """What one source says of the target."""

    WRITES_NULL: ClassVar[bool] = False

    cores: float | None = None
    """CPU cores that a process, or this machine, may use."""
    spans: int | None = None
    """Number of spans of its traces."""
    transactions: tuple[ObservedWork, ...] | None = None
    """Requests that it answered, those with the most time first."""
    calls: tuple[ObservedWork, ...] | None = None
    """Requests that it sent itself."""
    statements: tuple[ObservedStatement, ...] | None = None
    parts: tuple[ObservedWork, ...] | None = None
    """Parts of the time of its responses, of `Server-Timing`."""
    slowest: tuple[SlowRequest, ...] | None = None
    """Of the source `traceparent`: the slowest requests first."""
