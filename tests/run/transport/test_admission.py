"""Who is let in at the port of a master, with a clock that the tests set."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.transport import admission as module
from plimsoll.run.transport.admission import FORGOTTEN_S, AddressLocks, Complaints, Greetings, MustWaitError, key

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _wait(locks: AddressLocks, address: str = "10.0.0.1") -> float:
    """How long it is locked, as somebody learns who has the right token."""
    with pytest.raises(MustWaitError) as raised:
        locks.judge(address, _never)
    return raised.value.seconds


def _never() -> bool:
    raise AssertionError("no proof of a locked address is looked at")


def test_each_wrong_proof_locks_its_address_for_twice_as_long_up_to_half_a_minute(clock: Clock) -> None:
    locks = AddressLocks(clock)
    waits = []
    for _ in range(11):
        assert not locks.judge("10.0.0.1", lambda: False)
        waits.append(round(_wait(locks), 6))
        clock.now += waits[-1] + 1e-3
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]


def test_guessing_without_a_pause_gets_few_looks(clock: Clock) -> None:
    """A thousand tries a second, for a minute: what the short tokens of a dictionary would need."""
    locks, looked = AddressLocks(clock), 0
    for _ in range(60_000):
        clock.now += 0.001
        try:
            locks.judge("10.0.0.1", lambda: False)
            looked += 1
        except MustWaitError:
            pass
    assert looked <= 11


def test_a_right_proof_forgets_the_wrong_ones_and_so_does_time(clock: Clock) -> None:
    locks = AddressLocks(clock)
    for _ in range(5):
        locks.judge("10.0.0.1", lambda: False)
        clock.now += 30
    assert locks.judge("10.0.0.1", lambda: True)
    locks.judge("10.0.0.1", lambda: False)
    assert _wait(locks) == pytest.approx(0.1)
    clock.now += FORGOTTEN_S + 1
    locks.judge("10.0.0.1", lambda: False)
    assert _wait(locks) == pytest.approx(0.1)


def test_other_addresses_are_not_locked(clock: Clock) -> None:
    locks = AddressLocks(clock)
    locks.judge("10.0.0.1", lambda: False)
    assert locks.judge("10.0.0.2", lambda: True)
    locks.judge("2001:db8::1", lambda: False)
    assert _wait(locks, "2001:db8::ffff") > 0, "one machine has all addresses of its network"
    assert locks.judge("2001:db8:1::1", lambda: True)


def test_an_address_is_known_in_each_of_its_forms() -> None:
    assert key("::ffff:10.0.0.1") == key("10.0.0.1") == "10.0.0.1"
    assert key("fe80::1%eth0") == "fe80::/64"
    assert key("no address") == "no address"


def test_addresses_are_forgotten_before_they_fill_the_memory(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ADDRESSES", 2)
    locks = AddressLocks(clock)
    for last in range(3):
        locks.judge(f"10.0.0.{last}", lambda: False)
    assert locks.judge("10.0.0.0", lambda: True)
    assert _wait(locks, "10.0.0.2") > 0


@pytest.fixture
def connection() -> Callable[[], tuple[socket.socket, socket.socket]]:
    return socket.socketpair


def test_of_too_many_greetings_the_oldest_of_the_address_with_most_ends(
    connection: Callable[[], tuple[socket.socket, socket.socket]],
) -> None:
    greetings = Greetings(most=4)
    pairs = [connection() for _ in range(6)]
    for (ours, _), address in zip(pairs, ["good", "bad", "bad", "bad", "bad", "good"], strict=True):
        greetings.add(ours, address)
    for _, theirs in pairs:
        theirs.settimeout(0.01)
    ended = []
    for place, (_, theirs) in enumerate(pairs):
        try:
            if theirs.recv(1) == b"":
                ended.append(place)
        except TimeoutError:
            pass
    assert ended == [1, 2]
    for ours, theirs in pairs:
        greetings.remove(ours)
        ours.close()
        theirs.close()
    assert len(greetings) == 0


def test_the_same_complaint_of_an_address_is_said_once_in_a_while(clock: Clock) -> None:
    said: list[str] = []
    complaints = Complaints(said.append, clock)
    for _ in range(4):
        complaints.add("10.0.0.1", "stranger", "a stranger")
    complaints.add("10.0.0.2", "stranger", "another one")
    clock.now += 11
    complaints.add("10.0.0.1", "stranger", "a stranger")
    assert said == ["a stranger", "another one", "a stranger (3 more times)"]
