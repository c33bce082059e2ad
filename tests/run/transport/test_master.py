"""A master, and what connects to it, in one process."""

from __future__ import annotations

import contextlib
import platform
import socket
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run import perform
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport import greeting
from plimsoll.run.transport import master as module
from plimsoll.run.transport.admission import MOST_GREETING, MustWaitError
from plimsoll.run.transport.greeting import Channel, greet
from plimsoll.run.transport.joined_workers import JoinedWorkers
from plimsoll.run.transport.joining import JoiningWorker
from plimsoll.run.transport.master import JoinedMachine, Master

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
    wait_until(lambda: said)
    assert said == ["what connects from 127.0.0.1 is no worker of Plimsoll; it is refused"]
    assert master.ready == []


def test_a_stranger_cannot_fill_the_memory(master: Master, said: list[str]) -> None:
    with _connect(master) as stranger:
        stranger.sendall(b"\x00\x01\x00\x01")
        with pytest.raises(OSError):
            for _ in range(1000):
                stranger.sendall(b"\0" * (1 << 16))
    wait_until(lambda: said)
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
    wait_until(lambda: said)
    assert said == [f"a worker at 127.0.0.1 is refused: {why}"]


def test_another_python_is_said_and_noted(master: Master, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    own = platform.python_version()
    same = _joined(master, "vm-a")
    master.wait_for(1, 30)
    monkeypatch.setattr(greeting.platform, "python_version", lambda: "3.99.1")
    other = _joined(master, "vm-b")
    master.wait_for(2, 30)
    wait_until(lambda: len(said) == 2)
    assert said == [
        "a worker on vm-a has joined: 1 now",
        f"a worker on vm-b has joined: 2 now; it has Python 3.99.1, the master {own}",
    ]  # fmt: skip
    assert perform._differences(master.ready) == [f"the worker on vm-b has Python 3.99.1, the master {own}"]
    same.close()
    other.close()


def test_a_machine_says_what_it_can_send_when_it_is_asked_and_nothing_else_is_taken_for_that(master: Master) -> None:
    channels = [_joined(master, host) for host in ("vm-a", "vm-b", "vm-c")]
    master.wait_for(3, 30)
    by_host = {machine.host: machine for machine in master.ready}
    answers = {"vm-a": [4, 40_000.0, None, None, 28_232], "vm-b": [4, 40_000.0], "vm-c": [4, float("nan"), 1, 1, 1]}
    for channel, (host, answer) in zip(channels, answers.items(), strict=True):

        def reply(channel: Channel = channel, answer: list[Any] = answer) -> None:
            assert channel.receive() == ("measure", [])
            channel.send("measured", *answer)

        threading.Thread(target=reply, daemon=True).start()
        if host == "vm-a":
            expected = {"cpus": 4, "native": 40_000.0, "python": None, "open_files": None, "ports": 28_232}
            assert by_host[host].measure() == expected
        else:
            threading.Thread(target=by_host[host].measure, daemon=True).start()
            assert by_host[host].is_gone.wait(30), "it breaks the protocol"
    channels[0].send("measured", *answers["vm-a"])
    assert by_host["vm-a"].is_gone.wait(30), "nobody has asked"
    for channel in channels:
        channel.close()


def test_a_name_does_not_steer_the_terminal(master: Master, said: list[str]) -> None:
    channel = Channel(_connect(master))
    with pytest.raises(UsageError):
        greet(channel, "a\x1b[2Jb", "guessed", has_files=False)
    channel.close()
    wait_until(lambda: said)
    assert "\x1b" not in said[0]


def test_a_worker_refuses_a_master_that_does_not_know_the_token() -> None:
    """It takes any worker, as somebody would who only wants to run programs on it."""
    ours, theirs = socket.socketpair()
    worker, false_master = Channel(ours), Channel(theirs)

    def admit_all() -> None:
        false_master.receive()
        false_master.send("challenge", bytes(32))
        false_master.receive()
        false_master.send("joined", bytes(32))

    thread = threading.Thread(target=admit_all)
    thread.start()
    with pytest.raises(UsageError, match="the master has another token"):
        greet(worker, "vm-a", "secret", has_files=False)
    thread.join()
    worker.close()
    false_master.close()


def _hello(host: str = "vm-a", nonce: object = bytes(32), has_files: object = True) -> tuple[object, ...]:
    return "hello", greeting.version(greeting.NAME), host, nonce, has_files, "3.11.2"


@pytest.mark.parametrize(
    "frame",
    [
        ("hello",), ("hello", 1, "h", bytes(32), True), _hello(nonce=b"short"), _hello(nonce="x" * 32),
        _hello(has_files=1), ("proof", bytes(32)), ("stream",), ("stream", 7), ("joined", bytes(32)),
        ("such", {"a": [1]}),
    ],
)  # fmt: skip
def test_a_first_message_of_other_types_is_refused(master: Master, said: list[str], frame: tuple[Any, ...]) -> None:
    channel = Channel(_connect(master))
    channel.send(*frame)
    with pytest.raises((EOFError, OSError)):
        channel.receive()
    channel.close()
    wait_until(lambda: said)
    assert said == ["what connects from 127.0.0.1 is no worker of Plimsoll; it is refused"]


def test_a_slow_greeting_ends_in_time(master: Master, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then does not count as one."""
    monkeypatch.setattr(module, "GREETING_TIMEOUT_S", 0.5)
    with _connect(master) as stranger, pytest.raises(OSError):
        for _ in range(1000):
            stranger.sendall(b"\0")
            stranger.settimeout(0.1)
            try:
                if stranger.recv(1) == b"":
                    raise ConnectionResetError
            except TimeoutError:
                pass
    wait_until(lambda: said)


def test_many_connections_that_say_nothing_keep_no_worker_out(master: Master) -> None:
    with contextlib.ExitStack() as stack:
        strangers = [stack.enter_context(_connect(master)) for _ in range(3 * MOST_GREETING)]
        channel = _joined(master, "vm-a")
        master.wait_for(1, 30)
        assert len(master._greetings) <= MOST_GREETING
        channel.close()
        assert strangers


def _joined(master: Master, host: str, kept: bytes = b"") -> Channel:
    channel = Channel(_connect(master))
    try:
        greet(channel, host, "secret", has_files=True)
    except UsageError:
        channel.close()
        raise
    channel.send("kept", kept)
    return channel


def test_after_a_wrong_proof_an_address_waits_and_then_gets_in(master: Master) -> None:
    for _ in range(4):
        with contextlib.suppress(UsageError, MustWaitError), contextlib.closing(Channel(_connect(master))) as stranger:
            greet(stranger, "vm-b", "guessed", has_files=True)
    said: list[str] = []
    worker = JoiningWorker("127.0.0.1", master.port, "secret", None, said.append)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    master.wait_for(1, 60)
    master.close()
    thread.join(60)
    assert said[-1] == "the master has ended"


def test_of_proofs_that_come_together_one_is_looked_at(master: Master) -> None:
    channels = [Channel(_connect(master)) for _ in range(20)]
    for each in channels:
        each.send(*_hello())
        assert each.receive()[0] == "challenge"
    for each in channels:
        each.send("proof", bytes(32))
    answers = Counter(each.receive()[0] for each in channels)
    for each in channels:
        each.close()
    assert answers["refused"] <= 2, "the second one only if the others took longer than the first lock"
    assert answers["refused"] + answers["wait"] == 20


def test_a_worker_that_must_wait_says_why_once(said: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for _ in range(2):
                connection, _ = server.accept()
                with contextlib.closing(Channel(connection)) as channel:
                    channel.receive()
                    channel.send("wait", 0.01)

        threading.Thread(target=answer, daemon=True).start()
        worker = JoiningWorker("127.0.0.1", server.getsockname()[1], "", None, said.append)
        with pytest.raises(PlimsollError, match="a wrong token came from this address"):
            worker.run(timeout=0)
    assert len(said) <= 1


def test_there_is_a_limit_to_the_workers_that_join(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MARGIN", 1)
    master = Master("127.0.0.1", 0, "secret", said.append, expected=1)
    channels = [_joined(master, "vm-a") for _ in range(3)]
    master.wait_for(3, 30)
    with pytest.raises(
        UsageError, match="has 3 workers, and takes no more with --expect-workers 1; give it the number"
    ):
        _joined(master, "vm-a")
    for each in channels:
        each.close()
    master.close()


@pytest.mark.parametrize(
    "frame",
    [
        ("clock", 5), ("exited", None), ("exited", "well"), ("exited",), ("kept", b""), ("hello",), ("such", 1),
        ("clock", "soon"), ("clock", 2**63),
    ],
)  # fmt: skip
def test_a_machine_that_breaks_the_protocol_is_disconnected_and_the_reason_is_said(
    master: Master, said: list[str], frame: tuple[Any, ...]
) -> None:
    channel = _joined(master, "vm-a")
    channel.send(*frame)
    with pytest.raises((EOFError, OSError)):
        channel.receive()
    channel.close()
    wait_until(lambda: said[1:])
    assert said[1:] == ["a worker on vm-a is disconnected, since it sent a message that was not to come now: 0 now"]


def test_a_machine_that_sends_a_huge_frame_is_disconnected(master: Master, said: list[str]) -> None:
    channel = _joined(master, "vm-a")
    channel.connection.sendall(b"\x00\x01\x00\x01")
    wait_until(lambda: said[1:])
    channel.close()
    assert said[1:] == ["a worker on vm-a is disconnected, since it sent a frame of 65537 bytes: 0 now"]


@pytest.mark.parametrize("kept", [b"\0" * 7, b"\0\0\0\1\x07"])
def test_what_is_no_kept_seconds_does_not_join(master: Master, said: list[str], kept: bytes) -> None:
    channel = _joined(master, "vm-a", kept)
    with pytest.raises((EOFError, OSError)):
        channel.receive()
    channel.close()
    wait_until(lambda: said)
    assert master.joined == 0


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (None, None),
        (0, None),
        (3, "exited with code 3"),
        (-9, "was killed by SIGKILL"),
        (2**60, "exited with code 256"),
    ],
)
def test_how_a_worker_ended_is_said_in_our_words(code: int | None, how: str | None) -> None:
    ours, theirs = socket.socketpair()
    machine = JoinedMachine("vm-a", Channel(ours), has_files=True, kept=None)
    thread = threading.Thread(target=machine.read, daemon=True)
    thread.start()
    machine.start(0, None)
    Channel(theirs).send("exited", code)
    assert machine.has_ended.wait(30)
    assert machine.how == how
    theirs.close()
    thread.join(30)
    ours.close()


def test_a_machine_that_takes_nothing_in_does_not_keep_others_waiting(master: Master) -> None:
    channel = _joined(master, "vm-a")
    master.wait_for(1, 30)
    begun = time.monotonic()
    for _ in range(4):
        master.ready[0]._outgoing.put(b"x" * (16 << 20))
    master.ready[0].say("kill")
    assert time.monotonic() - begun < 5
    channel.close()


def test_a_machine_that_does_not_answer_takes_no_part(
    master: Master, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOCK_TIMEOUT_S", 1.0)
    worker = JoiningWorker("127.0.0.1", master.port, "secret", None, said.append)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    silent = _joined(master, "vm-silent")
    master.wait_for(2, 30)
    assert "vm-silent" not in [each.host for each in master.choose()]
    assert "the worker on vm-silent does not answer; it takes no part" in said
    silent.close()
    master.close()
    thread.join(30)


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
            worker.run(timeout=0)


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
            worker.run(timeout=0)


def test_a_master_that_has_no_workers_cannot_begin(master: Master) -> None:
    with pytest.raises(UsageError, match="no worker has joined yet: plimsoll run -f - --worker"):
        master.choose()
