"""The replies that arrive together go from user to user, and each user gets its own."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from contextlib import ExitStack, suppress
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import gevent
import greenlet
import pytest
from gevent.event import Event

from plimsoll.users.hub import current, sleep_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench

USERS = 40
"""So many that their requests are written together."""
PATIENCE_S = 10


class Rounds:
    """Answers when every user has sent a request, and from the second round on only when it may: each reply is the
    target that was asked for."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0), backlog=USERS)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        self.has_all = threading.Event()
        self.may_answer = threading.Event()
        self.has_answered = threading.Event()
        self._streams: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def answer(self) -> None:
        """Returns when the replies to this round have been sent; nothing else runs in this thread meanwhile."""
        while not self.has_all.is_set():
            gevent.sleep(0.001)
        self.has_all.clear()
        self.has_answered.clear()
        self.may_answer.set()
        assert self.has_answered.wait(PATIENCE_S)

    def close(self) -> None:
        for stream in self._streams:
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self._thread.join(PATIENCE_S)

    def _serve(self) -> None:
        with ExitStack() as stack:
            streams = self._streams = [stack.enter_context(self.server.accept()[0]) for _ in range(USERS)]
            for stream in streams:
                stream.settimeout(PATIENCE_S)
            # A user that was killed closes its connection.
            while asked := [(stream, target) for stream in streams if (target := _target(stream))]:
                streams = [stream for stream, _ in asked]
                self.has_all.set()
                self.may_answer.wait(PATIENCE_S)
                self.may_answer.clear()
                for stream, target in asked:
                    with suppress(OSError):
                        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(target), target))
                self.has_answered.set()


def _target(stream: socket.socket) -> bytes:
    """Of the next request; empty if there is none."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        try:
            piece = stream.recv(1 << 16)
        except OSError:
            return b""
        if not piece:
            return b""
        head += piece
    return head.split()[1]


@pytest.fixture
def rounds() -> Iterator[Rounds]:
    rounds = Rounds()
    yield rounds
    rounds.close()


class Switches:
    """Counts switches between greenlets, by who switched and to whom: "user" or "hub"."""

    def __init__(self, users: list[Any]) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._kinds = {id(each): "user" for each in users} | {id(gevent.get_hub()): "hub"}

    def __call__(self, event: str, pair: tuple[Any, Any]) -> None:
        self.counts[tuple(self._kinds.get(id(each), "other") for each in pair)] += 1  # type: ignore[index]


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_user_that_waits_resumes_the_next_one(kind: str, session_bench: SessionBench, rounds: Rounds) -> None:
    bodies: dict[int, list[str]] = {}
    references: set[int] = set()

    def use(number: int) -> None:
        session: Any = getattr(session_bench, kind)(rounds.url)
        for turn in range(3):
            response = session.get(f"/{number}/{turn}")
            if turn == 1:
                references.add(sys.getrefcount(response.reply))
            bodies.setdefault(number, []).append(response.text)

    users = [gevent.spawn(use, number) for number in range(USERS)]
    rounds.answer()
    switches = Switches(users)
    rounds.answer()
    greenlet.settrace(switches)
    while len(bodies) < USERS or min(map(len, bodies.values())) < 2:
        gevent.sleep(0.001)
    greenlet.settrace(None)
    rounds.answer()
    gevent.joinall(users, timeout=PATIENCE_S, raise_error=True)
    assert bodies == {number: [f"/{number}/{turn}" for turn in range(3)] for number in range(USERS)}
    assert switches.counts["user", "user"] + switches.counts["hub", "user"] == USERS
    assert switches.counts["user", "user"] >= USERS // 2
    # The user or hub that resumed a user keeps no reference to its reply.
    assert references == {2}
    assert sum(session_bench.counts.values()) == 3 * USERS


def test_users_that_sleep_or_are_killed_leave_the_replies_of_others(
    session_bench: SessionBench, rounds: Rounds
) -> None:
    ended: Counter[str] = Counter()

    def use(number: int) -> None:
        session: Any = session_bench.http(rounds.url)
        try:
            for turn in range(3):
                assert session.get(f"/{number}/{turn}").text == f"/{number}/{turn}"
                if turn == 1 and number % 4 == 1:
                    sleep_until(current(), 1)
                if turn == 1 and number % 4 == 2:
                    # That one waits for its second or its third reply.
                    users[number + 1].kill(block=False)
            ended["done"] += 1
        except gevent.GreenletExit:
            ended["killed"] += 1
        finally:
            session.close()

    users: list[Any] = [gevent.spawn(use, number) for number in range(USERS)]
    for _ in range(3):
        rounds.answer()
    gevent.joinall(users, timeout=PATIENCE_S, raise_error=True)
    assert ended == {"done": USERS - USERS // 4, "killed": USERS // 4}
    counts = session_bench.counts
    assert sum(count for (*_, outcome), count in counts.items() if outcome == "success") >= 3 * ended["done"]
    assert {outcome for *_, outcome in counts} <= {"success", "unanswered"}


def test_a_reply_that_was_read_for_a_user_that_is_killed_goes_to_nobody(
    session_bench: SessionBench, rounds: Rounds
) -> None:
    ended: Counter[str] = Counter()
    is_over = Event()

    def use(number: int) -> None:
        session: Any = session_bench.http(rounds.url)
        try:
            for turn in range(3):
                assert session.get(f"/{number}/{turn}").text == f"/{number}/{turn}"
                if turn == 1 and number == 2:
                    # Its reply was read with this one, and it has not run yet.
                    gevent.get_hub().loop.run_callback(gevent.getcurrent().switch)
                    users[number + 1].throw()
            ended["done"] += 1
        except gevent.GreenletExit:
            session.close()
            # Who waits for something else now must not be resumed with the reply.
            ended["killed"] += is_over.wait(PATIENCE_S)

    users: list[Any] = [gevent.spawn(use, number) for number in range(USERS)]
    for _ in range(3):
        rounds.answer()
    is_over.set()
    gevent.joinall(users, timeout=PATIENCE_S, raise_error=True)
    assert ended == {"done": USERS - 1, "killed": 1}
    assert sum(count for (*_, outcome), count in session_bench.counts.items() if outcome == "unanswered") == 1


BURN_NS = 2_000_000


def test_the_wait_for_other_users_is_delay_and_long_steps_keep_no_request_waiting(
    session_bench: SessionBench, rounds: Rounds
) -> None:
    replies: list[Any] = []

    def use(number: int) -> None:
        session: Any = session_bench.http(rounds.url)
        session.get(f"/{number}/0")
        for turn in (1, 2):
            end = monotonic_ns() + BURN_NS
            while monotonic_ns() < end:
                pass
            reply = session.get(f"/{number}/{turn}").reply
            if turn == 1:
                replies.append(reply)

    users: list[Any] = [gevent.spawn(use, number) for number in range(USERS)]
    for _ in range(3):
        rounds.answer()
    gevent.joinall(users, timeout=PATIENCE_S, raise_error=True)
    delays = sorted(reply.delay for reply in replies)
    assert all(delay >= before * BURN_NS for before, delay in enumerate(delays))
    lags = sorted(reply.lag for reply in replies)
    assert lags[USERS // 2] < BURN_NS / 2


def test_a_user_that_sleeps_resumes_the_next_one_that_is_awake() -> None:
    ended: list[int] = []
    first = monotonic_ns() + 20_000_000

    def use(number: int) -> None:
        for due in (first, first + 20_000_000):
            sleep_until(current(), due)
        ended.append(number)

    users = [gevent.spawn(use, number) for number in range(USERS)]
    switches = Switches(users)
    greenlet.settrace(switches)
    gevent.joinall(users, timeout=PATIENCE_S, raise_error=True)
    greenlet.settrace(None)
    assert ended == list(range(USERS))
    # All are awake at once, and sleep again; the first one may have been resumed by the hub to learn its class.
    assert switches.counts["user", "user"] >= USERS // 2
