from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import LimitError, LocustfileError, PlimsollError, StoreError, UnknownOptionError, UsageError
from plimsoll.run.transport.bundle import Bundle
from plimsoll.run.transport.frames import Frames, pack, pack_order, pack_report, unpack_report
from plimsoll.run.transport.orders import (
    ORDERS,
    Adjust,
    Assign,
    Drain,
    Finish,
    Init,
    Offer,
    Open,
    Prepare,
    Renew,
    Reset,
    Spawned,
    Start,
    Stop,
    Tell,
)
from plimsoll.run.transport.report_rules import ProtocolError

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.tuples(st.text(min_size=1), st.lists(PLAIN, max_size=3)), max_size=5), st.integers(1, 50))
def test_frames_come_out_as_they_went_in_however_the_stream_is_cut(
    sent: list[tuple[str, list[object]]], piece: int
) -> None:
    stream = b"".join(pack(name, *arguments) for name, arguments in sent)
    frames = Frames()
    received = [frame for start in range(0, len(stream), piece) for frame in frames.feed(stream[start : start + piece])]
    assert received == sent


def test_a_lone_surrogate_does_not_stop_a_message() -> None:
    assert list(Frames().feed(pack("x", "\udce9"))) == [("x", ["\udce9"])]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x00\x00\x00\x04\x93\x63\xa1x\x90"[:8], "not a frame"),
        (b"\x00\x00\x00\x05\x93\x63\xa1x\x90", "another version of the protocol"),
        (b"GET / HTTP/1.1\r\n", "a frame of"),
        (b"\x00\x00\x00\x01\x07", "not a frame"),
    ],
)
def test_a_stream_of_something_else_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        list(Frames().feed(data))


def test_each_order_is_one_frame_from_which_it_comes_back() -> None:
    orders = [
        Prepare({"users": 1}, 2, Bundle().to_list(), {"A": "1"}), Init(), Open({"users": 1}, b"shared"), Start(123),
        Renew(),
        Adjust({"A": 3}, 5), Spawned(5), Offer(20.0, 5, None), Assign([[0, 2]], 7), Reset(9),
        Tell("message", ["greeting", b"data"]), Drain(), Finish(), Stop(),
    ]  # fmt: skip
    assert {type(order) for order in orders} == set(ORDERS.values())
    frames = list(Frames().feed(b"".join(map(pack_order, orders))))
    assert frames[3] == ("start", [123, 0, None])
    assert [ORDERS[name].from_list(arguments) for name, arguments in frames] == orders


def _over_the_wire(error: PlimsollError) -> PlimsollError:
    ((name, arguments),) = Frames().feed(pack_report(error))
    received = unpack_report(name, arguments)
    assert isinstance(received, PlimsollError)
    return received


@pytest.mark.parametrize("kind", [LimitError, LocustfileError, PlimsollError, UnknownOptionError, UsageError])
def test_errors_arrive_as_what_they_are(kind: type[PlimsollError]) -> None:
    error = kind("what and why")
    error.exit_code = 7
    received = _over_the_wire(error)
    assert (type(received), str(received), received.exit_code) == (kind, "what and why", 7)


def test_an_error_that_no_worker_has_arrives_as_the_root_of_the_tree() -> None:
    assert type(_over_the_wire(StoreError("x"))) is PlimsollError
