from __future__ import annotations

import time

import gevent

from plimsoll.run.worker.silence import BEAT_NS, SilenceWatch


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
