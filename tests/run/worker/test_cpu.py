from __future__ import annotations

import time

from plimsoll.run.worker.cpu import CpuMeter


def test_what_burns_cpu_is_seen_and_what_sleeps_is_not() -> None:
    meter = CpuMeter()
    began = time.process_time()
    while time.process_time() - began < 0.15:
        pass
    burnt = meter.take()
    time.sleep(0.15)
    assert 0 < burnt.used <= 1.05
    assert meter.take().used < burnt.used
    assert burnt.waited_ms >= 0


def test_a_moment_too_short_tells_nothing() -> None:
    meter = CpuMeter()
    assert meter.take().used == 0
