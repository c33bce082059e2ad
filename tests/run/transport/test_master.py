"""A master, and what connects to it, in one process."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport import greeting
from plimsoll.run.transport import master as module
from plimsoll.run.transport.greeting import Channel, greet
from plimsoll.run.transport.joining import JoiningWorker
from plimsoll.run.transport.master import JoinedWorkers, Master

if TYPE_CHECKING:
    from collections.abc import Iterator

ZMTP = b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03"
"""How a worker of Locust begins."""


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def master(said: list[str]) -> Iterator[Master]:
    made = Master("127.0.0.1", 0, "secret", said.append)
    yield made
    made.close()


def _connect(master: Master) -> socket.socket:
    return socket.create_connection(("127.0.0.1", master.port), 10)


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", ZMTP, b"\x00\x00\x00\x02\x93\x01", b"\x00" * 8])
def test_what_is_no_worker_is_refused_and_said_so(master: Master, said: list[str], words: bytes) -> None:
    with _connect(master) as stranger:
        stranger.sendall(words)
        assert stranger.recv(1) == b""
    wait_until(lambda: said[1:])
    assert said[1:] == ["what connects from 127.0.0.1 is no worker of Plimsoll; it is refused"]
    assert master.ready == []


def test_a_stranger_cannot_fill_the_memory(master: Master, said: list[str]) -> None:
    with _connect(master) as stranger:
        stranger.sendall(b"\x3f\xff\xff\xff")
        with pytest.raises(OSError):
            for _ in range(1000):
                stranger.sendall(b"\0" * (1 << 16))
    wait_until(lambda: said[1:])
    assert master.ready == []


def test_a_stream_with_another_ticket_is_closed(master: Master) -> None:
    channel = Channel(_connect(master))
    channel.send("stream", b"guessed")
    with pytest.raises((EOFError, OSError)):
        channel.receive()
    channel.close()


def test_another_version_is_refused_on_both_sides(
    master: Master, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["9.9.9", "1.0.0"])
    monkeypatch.setattr(greeting, "version", lambda _: next(versions))
    channel = Channel(_connect(master))
    why = "vm-a has Plimsoll 9.9.9, the master 1.0.0: install the same"
    with pytest.raises(UsageError, match=why):
        greet(channel, "vm-a", "secret", has_files=False)
    channel.close()
    wait_until(lambda: said[1:])
    assert said[1:] == [f"a worker is refused: {why}"]


def test_a_name_does_not_steer_the_terminal(master: Master, said: list[str]) -> None:
    channel = Channel(_connect(master))
    with pytest.raises(UsageError):
        greet(channel, "a\x1b[2Jb", "guessed", has_files=False)
    channel.close()
    wait_until(lambda: said[1:])
    assert "\x1b" not in said[1]


def test_a_worker_refuses_a_master_that_does_not_know_the_token() -> None:
    """It takes any worker, as somebody would who only wants to run programs on it."""
    ours, theirs = socket.socketpair()
    worker, false_master = Channel(ours), Channel(theirs)

    def admit_all() -> None:
        false_master.receive()
        false_master.send("challenge", b"nonce")
        false_master.receive()
        false_master.send("joined", b"guessed")

    thread = threading.Thread(target=admit_all)
    thread.start()
    with pytest.raises(UsageError, match="the master has another token"):
        greet(worker, "vm-a", "secret", has_files=False)
    thread.join()
    worker.close()
    false_master.close()


def test_clocks_are_compared_over_the_connection(master: Master, said: list[str]) -> None:
    worker = JoiningWorker("127.0.0.1", master.port, "secret", None, said.append)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    master.wait_for(1, 30)
    estimate = master.ready[0].estimate()
    assert estimate is not None and abs(estimate.offset) <= estimate.error
    master.close()
    thread.join(30)
    assert said[-1] == "the master has ended"


def test_a_machine_has_room_unless_its_worker_has_failed_or_cannot_start(
    master: Master, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOCK_TIMEOUT_S", 0.1)
    channel = Channel(_connect(master))
    greet(channel, "vm-a", "secret", has_files=True)
    channel.send("kept", b"")
    master.wait_for(1, 30)
    workers = JoinedWorkers(RunPlan(joined=True), [], lambda: master.ready)
    (slot,) = workers.free_slots()
    assert (slot.host, workers.take_kept()) == ("vm-a", [])
    master.ready[0].how = "was killed by SIGKILL"
    assert workers.free_slots() == []
    with pytest.raises(PlimsollError, match="the worker on vm-a does not answer"):
        slot.reserve(1)()
    assert (master.ready[0].how, workers.free_slots()) == ("the worker on vm-a does not answer", [])
    channel.close()


def test_a_worker_without_a_master_says_so_once_it_has_waited(said: list[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        worker = JoiningWorker("127.0.0.1", port, "", None, said.append)
        with pytest.raises(PlimsollError, match=rf"there is no master at 127.0.0.1:{port} .*for 0 s: .*refused"):
            worker.run(patience=0)


def test_what_answers_in_the_place_of_a_master_may_be_something_else(said: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(ZMTP)
                connection.recv(1)

        threading.Thread(target=answer, daemon=True).start()
        worker = JoiningWorker("127.0.0.1", server.getsockname()[1], "", None, said.append)
        with pytest.raises(UsageError, match="is no master of Plimsoll"):
            worker.run(patience=0)


def test_a_master_that_has_no_workers_cannot_begin(master: Master) -> None:
    with pytest.raises(UsageError, match="no worker has joined yet: plimsoll run -f - --worker"):
        master.choose()
