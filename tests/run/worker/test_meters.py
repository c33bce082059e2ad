"""None"""

from __future__ import annotations

import time

import gevent

from plimsoll.run.worker.meters import BEAT_NS, CpuMeter, SilenceWatch


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


class Clock:
    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> int:
        return self.at


def test_the_longest_time_between_two_turns_is_the_silence() -> None:
    clock = Clock()
    watch = SilenceWatch(clock)
    for pause in (BEAT_NS, 7 * BEAT_NS, 2 * BEAT_NS):
        clock.at += pause
        watch.beat()
    assert watch.take() == 600
    assert watch.take() == 0, "each is said once"


def test_a_silence_that_ends_just_now_counts() -> None:
    clock = Clock()
    watch = SilenceWatch(clock)
    clock.at += 31 * BEAT_NS
    assert watch.take() == 3000
    clock.at += BEAT_NS
    watch.beat()
    assert watch.take() == 0


def test_code_that_blocks_the_loop_is_a_silence() -> None:
    watch = SilenceWatch()
    watch.start()
    try:
        time.sleep(0.4)
        gevent.sleep(0.2)
        assert watch.take() >= 290
    finally:
        watch.stop()
