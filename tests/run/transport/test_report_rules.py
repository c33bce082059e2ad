"""What a worker may report. Whatever else comes is refused before anything is made of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import Histogram
from plimsoll.record import COUNTERS, GENERATOR_COUNTERS, TracedRequest
from plimsoll.run.dispatch import UserClass
from plimsoll.run.transport.frames import Frames, pack, pack_report, unpack_report
from plimsoll.run.transport.messages import (
    EMPTY,
    REPORTS,
    Begin,
    Complete,
    EncodedSnapshot,
    Ending,
    Exchanges,
    Expired,
    Logged,
    News,
    Prepared,
    Quit,
    Ready,
    Sent,
    Started,
)  # fmt: skip
from plimsoll.run.transport.report_rules import LARGEST, RULES, ProtocolError, check_report

CELL: Any = (1, "GET", "/", "success", *(1 for _ in COUNTERS), 5, 1, 3, 5, EMPTY, EMPTY, b"")
HEALTH: Any = ((1, *(0 for _ in GENERATOR_COUNTERS), EMPTY, EMPTY), {"cpu": 0.5, "users": 3, "retransmissions": 2})
FAILURE: Any = ("GET", "/", "http", "500", "", False, 1, 5, 6)
TRACED = TracedRequest("GET", "/", "success", "0" * 32, 1.5, 2.5, 3.5)
GOOD = [
    Prepared({"run_time": 3.0}),
    Ready([UserClass("Visitor", 1.5, 0, None)], True, ["p99 < 1s"], b"shared", False, {}),
    Begin(3, 1.5, ["Visitor"]),
    News("heartbeat", ["running", {"Visitor": 1}, 5.0, 10, 0]),
    News("message", ["greeting", b"data", None]),
    Quit(),
    Logged("INFO", "a line"),
    Complete(),
    Complete("accounts"),
    Started(-5),
    Expired(5),
    Sent(5, 7),
    Exchanges(5, [["GET", "/"]], b"rows", -3),
    Ending(5, None, False, 1),
    EncodedSnapshot(
        0, 0, 5, [CELL], [HEALTH], [FAILURE], [("text", "trace", 1)], {"Visitor": 1}, [("GET", "/", "db", 1, EMPTY)],
        [TRACED], 3, 2,
    ),
]  # fmt: skip


@pytest.mark.parametrize("report", GOOD, ids=lambda each: type(each).__name__)
def test_what_workers_report_is_accepted(report: Any) -> None:
    ((name, arguments),) = Frames().feed(pack_report(report))
    assert type(unpack_report(name, arguments)) is type(report)


def test_there_is_a_rule_for_each_report() -> None:
    assert {*RULES, "news"} == {*REPORTS, "refused"}


BAD: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    2.5,
    math.nan,
    math.inf,
    "x" * 100_000,
    b"bytes",
    [],
    [None],
    {},
    {"a": None},
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        list(enumerate(value)) if isinstance(value, list) else list(value.items()) if isinstance(value, dict) else []
    )
    return [path, *(found for key, each in inner for found in _places(each, (*path, key)))]


def _changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _changed(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("report", GOOD, ids=lambda each: type(each).__name__)
def test_a_value_of_another_type_anywhere_is_an_error_or_harmless_and_never_something_else(report: Any) -> None:
    """Each value of each message, at each depth, is replaced by each of the bad ones."""
    ((name, arguments),) = Frames().feed(pack_report(report))
    for path in _places(arguments)[1:]:
        for bad in BAD:
            changed = _changed(arguments, path, bad)
            try:
                made = unpack_report(name, changed)
            except ProtocolError:
                continue
            if isinstance(made, EncodedSnapshot):
                try:
                    made.decode(0.0)
                except ProtocolError:
                    continue
            assert made.to_list() is not None


PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=3) | st.binary()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=11) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=15,
)


@given(st.sampled_from([*RULES, "news", "such"]), VALUES)
def test_no_message_raises_anything_but_a_protocol_error(name: str, value: Any) -> None:
    arguments = value if isinstance(value, list) else [value]
    ((_, received),) = Frames().feed(pack(name, *arguments))
    try:
        check_report(name, received)
    except ProtocolError as error:
        assert "fields" in str(error) or str(error) == "a message that there is not"


def test_a_histogram_of_a_part_is_checked_where_it_comes() -> None:
    snapshot = EncodedSnapshot(0, 0, 5, [], [], [], [], {}, [("GET", "/", "db", 1, b"none")])
    ((name, arguments),) = Frames().feed(pack_report(snapshot))
    with pytest.raises(ProtocolError, match="a message snapshot whose fields are not those of one"):
        unpack_report(name, arguments)


def test_counts_have_a_limit_so_that_sums_of_them_fit_into_a_store() -> None:
    good, bad = ([*CELL[:4], number, *CELL[5:]] for number in (LARGEST, LARGEST + 1))
    snapshot = [0, 0, 5, [good], [], [], [], {}, [], [], 0, 0]
    check_report("snapshot", snapshot)
    with pytest.raises(ProtocolError):
        check_report("snapshot", [*snapshot[:3], [bad], *snapshot[4:]])
    assert Histogram.decode(EMPTY).count == 0
