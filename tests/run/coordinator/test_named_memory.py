"""What a target names anew each second does not stay in memory: counts beyond the limits, not names."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from plimsoll._engine import Histogram
from plimsoll.observe import otlp, scrape
from plimsoll.observe.instruments import Instruments, MetricPoint
from plimsoll.observe.sampler import Probe, Sampler
from plimsoll.observe.scrape import Scrape
from plimsoll.observe.spans import SpanSums, TraceSpan
from plimsoll.run.coordinator.server_timing import MOST, ServerTimings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WARM_UP, SECONDS, NEW = 10, 60, 300
"""Simulated seconds, and new names in each of them. Kept names would be 4 MB at least."""
MOST_BYTES = 500_000


def _growth(second: Callable[[int], object]) -> int:
    """Bytes that the seconds after the warm-up leave."""
    tracemalloc.start()
    try:
        for number in range(WARM_UP):
            second(number)
        before, _ = tracemalloc.get_traced_memory()
        for number in range(WARM_UP, SECONDS):
            second(number)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def _name(second: int, number: int) -> str:
    return f"{second:08}-{number:08}" + "n" * 180


def test_parts_of_server_timing() -> None:
    durations = Histogram()
    durations.record(1000)
    encoded, timings = durations.encode(), ServerTimings()

    def second(number: int) -> None:
        parts = [("GET", "/", _name(number, each), 5_000_000, encoded) for each in range(NEW)]
        progress: Any = SimpleNamespace(batch=SimpleNamespace(parts=parts), elapsed=number + 0.5)
        timings.second(progress)

    assert _growth(second) < MOST_BYTES
    assert timings.finish().notes == (f"Server-Timing: only the first {MOST} of {MOST + NEW} parts or more are kept",)


class _NamingProbe(Probe):
    source = "p"

    def __init__(self) -> None:
        self.second = 0

    def read(self, now: float) -> Mapping[str, float]:
        self.second += 1
        return {_name(self.second, each): 1.0 for each in range(NEW)}

    def unit(self, name: str) -> str:
        return ""


def test_values_of_a_probe() -> None:
    clock = [0.0]
    sampler = Sampler([_NamingProbe()], clock=lambda: clock[0])

    def second(number: int) -> None:
        clock[0] = number + 1.0
        sampler.sample()

    assert _growth(second) < MOST_BYTES


@pytest.mark.parametrize("kind", ["gauge", "counter", "info", "bucket"])
def test_lines_of_a_page_of_metrics(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(scrape, "MOST_WANTED", NEW)
    monkeypatch.setattr(scrape, "MOST_UNWANTED", NEW)
    probe = Scrape("p", "http://127.0.0.1:9/metrics")
    page = [""]
    monkeypatch.setattr(probe._fetcher, "get", lambda *_: page[0])
    names = {"gauge": "m", "counter": "m_total", "info": "m_info", "bucket": "m_bucket"}

    def second(number: int) -> None:
        lines = (f'{names[kind]}{{a="{_name(number, each)}"}} 1\n' for each in range(NEW))
        page[0] = ("# TYPE m histogram\n" if kind == "bucket" else "") + "".join(lines)
        probe.read(float(number))

    assert _growth(second) < MOST_BYTES
    assert probe.left_out == (NEW if kind in ("gauge", "counter") else 0)


def test_a_line_that_is_too_long_is_counted_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = Scrape("p", "http://127.0.0.1:9/metrics")
    monkeypatch.setattr(probe._fetcher, "get", lambda *_: f'a 1\nm{{a="{"z" * 20_000}"}} 1\n')
    assert (probe.read(0.0), probe.left_out) == ({"a": 1.0}, 1)


def test_points_and_spans_of_opentelemetry() -> None:
    instruments, sums = Instruments(), SpanSums()

    def second(number: int) -> None:
        for each in range(NEW):
            name = _name(number, each)
            instruments.add(MetricPoint(name, "s", number, 1.0, "gauge"))
            sums.add(TraceSpan(name, 2, name, number, number + 1000, False, "trace", {}))
            sums.add(TraceSpan("service", 3, name, number, number + 1000, False, "trace", {"db.system": name}))
        instruments.take()

    for number in range(8):
        second(1000 + number)
    assert _growth(second) < MOST_BYTES


def test_reasons_of_a_receiver() -> None:
    receiver = cast("Any", otlp.Receiver.__new__(otlp.Receiver))
    receiver._lock, receiver._refused = otlp.Lock(), {}

    def second(number: int) -> None:
        for each in range(NEW):
            receiver._refuse(_name(number, each))

    assert _growth(second) < MOST_BYTES
