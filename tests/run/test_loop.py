from __future__ import annotations

import signal
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest

from plimsoll._engine import now
from plimsoll.run.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    made.close()


def test_a_file_that_can_be_read_calls_its_action(loop: Loop) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        read: list[bytes] = []
        loop.watch(ours, lambda: read.append(ours.recv(9)))
        theirs.send(b"one")
        loop.turn()
        theirs.send(b"two")
        loop.turn()
        assert read == [b"one", b"two"]
        loop.forget(ours)


def test_a_writer_with_a_backlog_is_flushed_when_the_file_takes_data(loop: Loop) -> None:
    class Writer:
        flushed = 0
        has_backlog = False

        def flush(self) -> None:
            self.flushed += 1
            self.has_backlog = False

    ours, theirs = socket.socketpair()
    with ours, theirs:
        read: list[bytes] = []
        writer = Writer()
        loop.watch(ours, lambda: read.append(ours.recv(9)), writer)
        theirs.send(b"one")
        loop.turn()
        assert (read, writer.flushed) == ([b"one"], 0), "it has nothing to write"
        writer.has_backlog = True
        loop.turn()
        assert (read, writer.flushed) == ([b"one"], 1)
        theirs.send(b"two")
        loop.turn()
        assert (read, writer.flushed) == ([b"one", b"two"], 1)
        loop.forget(ours)


def test_actions_are_called_once_they_are_due_and_only_once(loop: Loop) -> None:
    called: list[str] = []
    due = now() + 2_000_000
    late, never = (lambda: called.append("late")), (lambda: called.append("never"))
    loop.at(due, late)
    loop.at(due + 10**15, never)
    while not called:
        loop.turn()
    assert now() >= due
    assert called == ["late"]
    assert loop.due(late) is None
    assert loop.due(never) == due + 10**15


def test_an_action_may_cancel_or_delay_another_that_is_due(loop: Loop) -> None:
    called: list[str] = []

    def first() -> None:
        called.append("first")
        loop.cancel(second)
        loop.at(now() + 10**15, third)

    def second() -> None:
        called.append("second")

    def third() -> None:
        called.append("third")

    for action in (first, second, third):
        loop.at(now(), action)
    loop.turn()
    assert called == ["first"]


def test_a_signal_calls_the_action_and_nothing_else(loop: Loop) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    called: list[int] = []
    with loop.handling_signals(lambda: called.append(1)):
        for number in before:
            signal.raise_signal(number)
            loop.turn()
    assert called == [1, 1, 1]
    assert {each: signal.getsignal(each) for each in before} == before


def test_nohup_is_respected(loop: Loop) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with loop.handling_signals(lambda: None):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_another_thread_posts_is_done_in_the_thread_that_turns_the_loop(loop: Loop) -> None:
    where: list[int] = []
    poster = threading.Thread(target=lambda: [loop.post(lambda: where.append(threading.get_ident())) for _ in range(3)])
    poster.start()
    while len(where) < 3:
        loop.turn()
    poster.join()
    assert set(where) == {threading.get_ident()}


def test_a_loop_that_is_closed_takes_what_is_posted_and_does_nothing() -> None:
    loop = Loop()
    loop.close()
    done: list[int] = []
    loop.post(lambda: done.append(1))
    assert done == []


def test_more_can_be_posted_than_a_socket_holds(loop: Loop) -> None:
    done: list[int] = []
    for number in range(100_000):
        loop.post(partial(done.append, number))
    while len(done) < 100_000:
        loop.turn()
    assert done == list(range(100_000))
