"""What counts of that which a joined worker says."""

from __future__ import annotations

import logging
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import LocustfileError, PlimsollError
from plimsoll.run.dispatch import UserClass
from plimsoll.run.transport.frames import pack, pack_report
from plimsoll.run.transport.joined_workers import JoinedWorker
from plimsoll.run.transport.messages import Begin, Ending, Prepared, Quit, Ready
from plimsoll.run.transport.orders import Drain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Made = tuple[JoinedWorker, socket.socket]


@pytest.fixture
def make() -> Iterator[Callable[..., Made]]:
    """A worker, and its end of the stream."""
    ends: list[socket.socket] = []

    def made(*, is_native: bool = False) -> Made:
        ours, theirs = socket.socketpair()
        ends.extend((ours, theirs))
        has_ended = SimpleNamespace(is_set=lambda: False)
        machine: Any = SimpleNamespace(say=lambda *_: None, has_ended=has_ended, how=None)
        return JoinedWorker(1, ours, machine, "vm-a", is_native), theirs

    yield made
    for each in ends:
        each.close()


def _read(made: Made, *reports: Any) -> list[Any]:
    worker, theirs = made
    theirs.sendall(b"".join(map(pack_report, reports)))
    return list(worker.read())


def test_it_changes_neither_the_plan_nor_the_thresholds_nor_the_reports(make: Callable[..., Made]) -> None:
    ready = Ready([UserClass("Visitor", 5, 7, 1.0)], True, ["errors < 0%"], b"shared", True, {"title": "ours"})
    assert _read(make(), Prepared({"exit_code_on_error": 0, "logfile": "/tmp/x"}), ready) == [
        Prepared({}),
        Ready([UserClass("Visitor")], True),
    ]


def test_native_users_have_one_class(make: Callable[..., Made]) -> None:
    made = make(is_native=True)
    assert _read(made, Prepared(), Ready([], True))[-1] is None
    assert made[0].breach == "user classes that this run does not have"


def test_it_chooses_no_exit_code_and_its_failed_listeners_are_said(
    make: Callable[..., Made], caplog: pytest.LogCaptureFixture
) -> None:
    made = make()
    made[0].order(Drain())
    assert _read(made, Prepared(), Ending(5, 77, True, 99)) == [Prepared(), Ending(5, None, False, None)]
    assert "an event listener has failed on worker 1 (on vm-a)" in caplog.text


def test_it_cannot_ask_for_users_but_for_the_end_and_that_is_said(
    make: Callable[..., Made], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plimsoll.run")
    made = make()
    assert _read(made, Quit("stopped"), Begin(10**9, 1e9, None)) == [Quit("stopped"), None]
    assert made[0].breach == "a message begin, which only a main node sends"
    assert "worker 1 (on vm-a) asks for the end of the run" in caplog.text


def test_an_error_before_the_run_is_said_with_who_it_is_from_and_has_our_exit_code(make: Callable[..., Made]) -> None:
    error = LocustfileError("shop.py:3: broken\x1b[2J\n    line" + "x" * 100_000)
    error.exit_code = 0
    worker, theirs = make()
    theirs.sendall(pack("refused", "LocustfileError", str(error)[:60_000], 0))
    (read,) = worker.read()
    assert isinstance(read, LocustfileError)
    assert read.exit_code == PlimsollError.exit_code
    assert str(read).startswith("worker 1 (on vm-a) cannot begin: shop.py:3: broken")
    assert "\x1b" not in str(read) and "\n    line" in str(read) and len(str(read)) < 5_000


def test_an_error_once_the_run_has_begun_costs_this_worker_and_not_the_run(make: Callable[..., Made]) -> None:
    made = make()
    assert _read(made, Prepared(), Ready([], True), PlimsollError("the run is void"))[-1] is None
    assert made[0].end() == "is disconnected: it sent an error: the run is void"


def test_its_end_is_known_at_once_or_not_at_all(make: Callable[..., Made]) -> None:
    worker, theirs = make()
    theirs.close()
    assert list(worker.read()) == [None]
    assert (worker.has_settled, worker.end()) == (False, "is lost: its machine does not answer")
