"""A stream offers what is due, in order, in batches, and ends."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import gevent
import pytest

from plimsoll._engine import Engine, now
from plimsoll.run.worker.arrival_stream import ArrivalStream
from plimsoll.run.worker.population import BATCH
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TIMEOUT_S = 30
LONG_NS = 10**15
"""ns; longer than any test."""


class ArrivalSink:
    """Notes what it is offered, and how late."""

    def __init__(self) -> None:
        self.dues: list[int] = []
        self.late: list[int] = []
        self.ends = 0

    def offer(self, due: int) -> None:
        self.dues.append(due)
        self.late.append(now() - due)

    def ended(self, stream: ArrivalStream) -> None:
        self.ends += 1

    def until(self, offered: int, ends: int) -> None:
        with gevent.Timeout(TIMEOUT_S):
            while (len(self.dues), self.ends) != (offered, ends):
                gevent.sleep(0.001)


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub(Engine())
    hub.start()
    yield hub
    hub.stop()


def start(sink: ArrivalSink, hub: Hub, dues: Iterable[int]) -> ArrivalStream:
    stream = ArrivalStream(sink, hub, iter(dues))
    stream.wait()
    return stream


def test_arrivals_are_offered_in_order_when_they_are_due_and_then_the_stream_ends(hub: Hub) -> None:
    sink, begin = ArrivalSink(), now()
    dues = [begin + each for each in (0, 0, 1_000_000, 20_000_000)]
    start(sink, hub, dues)
    sink.until(4, ends=1)
    assert sink.dues == dues
    assert min(sink.late) >= 0


def test_a_stream_without_arrivals_ends(hub: Hub) -> None:
    sink = ArrivalSink()
    start(sink, hub, [])
    sink.until(0, ends=1)


def test_one_turn_is_a_batch_at_most(hub: Hub) -> None:
    sink = ArrivalSink()
    stream = ArrivalStream(sink, hub, count(1))
    stream.switch()
    assert sink.dues == list(range(1, BATCH + 1))
    stream.switch()
    assert len(sink.dues) == 2 * BATCH
    stream.end()


def test_what_is_due_at_its_end_still_comes_and_nothing_later(hub: Hub) -> None:
    sink, begin = ArrivalSink(), now()
    stream = start(sink, hub, [begin, begin + 1, begin + LONG_NS])
    stream.end_at(begin + 1)
    sink.until(2, ends=1)
    # The wake for what is far away went with the rest.
    gevent.sleep(0.01)
    assert (len(sink.dues), sink.ends) == (2, 1)


def test_the_end_holds_for_what_has_become_due_meanwhile(hub: Hub) -> None:
    sink = ArrivalSink()
    start(sink, hub, [1, 2, 3]).end_at(2)
    sink.until(2, ends=1)
    assert sink.dues == [1, 2]


def test_the_end_comes_at_once_even_if_the_next_arrival_is_far_away(hub: Hub) -> None:
    sink = ArrivalSink()
    start(sink, hub, [now() + LONG_NS]).end_at(now())
    sink.until(0, ends=1)


def test_a_stream_that_was_ended_offers_nothing_and_says_nothing(hub: Hub) -> None:
    sink = ArrivalSink()
    start(sink, hub, [now()]).end()
    gevent.sleep(0.01)
    assert (sink.dues, sink.ends) == ([], 0)


def test_an_end_in_mid_turn_stops_that_turn(hub: Hub) -> None:
    class Satisfied(ArrivalSink):
        def offer(self, due: int) -> None:
            super().offer(due)
            stream.end()

    sink = Satisfied()
    stream = ArrivalStream(sink, hub, count(1))
    stream.switch()
    assert (sink.dues, sink.ends) == ([1], 1)


def test_what_is_left_can_be_taken_up_to_a_stamp_and_to_a_number(hub: Hub) -> None:
    stream = ArrivalStream(ArrivalSink(), hub, iter([1, 2, 2, 3, 9]))
    assert list(stream.take_until(2)) == [1, 2, 2]
    assert list(stream.take_until(8, limit=5)) == [3]
    assert list(stream.take_until(9, limit=0)) == []
    assert list(stream.take_until(9)) == [9]
    assert list(stream.take_until(99)) == []


def test_a_stream_can_be_ended_before_a_time_to_come(hub: Hub) -> None:
    sink, begin = ArrivalSink(), now()
    stream = start(sink, hub, (begin + 1_000_000 * each for each in count()))
    stream.end_before(begin + 20_000_000)
    sink.until(offered=20, ends=1)
    assert sink.dues[-1] < begin + 20_000_000


def test_a_stream_of_which_nothing_is_left_by_then_ends_at_once(hub: Hub) -> None:
    sink = ArrivalSink()
    stream = start(sink, hub, [now() + LONG_NS])
    stream.end_before(now() + LONG_NS // 2)
    assert (sink.dues, sink.ends) == ([], 1)
