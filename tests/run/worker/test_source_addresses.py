from __future__ import annotations

import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.run.worker.source_addresses import of_worker, parse, settle
from plimsoll.users.user import User

if TYPE_CHECKING:
    from tests.command import Command

A, B, C = "127.0.0.11", "127.0.0.12", "127.0.0.13"
NOBODYS = "192.0.2.1"
"""RFC 5737: no machine has it."""


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        (A, (A,)),
        (f"{A}, {C}", (A, C)),
        (f"{A}-{C}", (A, B, C)),
        (f"{C},{A}-{B}", (C, A, B)),
        ("127.0.1.0/30", ("127.0.1.1", "127.0.1.2")),
        ("127.0.1.4/32", ("127.0.1.4",)),
    ],
)
def test_what_can_be_said(text: str, addresses: tuple[str, ...]) -> None:
    assert parse(text) == addresses


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("localhost", "'localhost' does not appear to be an IPv4 or IPv6 address"),
        (f"{C}-{A}", "last IP address must be greater than first"),
        ("127.0.0.1-::1", "same version"),
        ("127.0.0.1/8", "host bits set"),
        ("127.0.0.0/8", "more than 65536 addresses"),
        ("", "does not appear"),
        (f"{A},{NOBODYS}", f"{NOBODYS}: this machine cannot send from there"),
    ],
)
def test_what_cannot(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


def test_each_worker_begins_with_another_address() -> None:
    assert [of_worker((A, B, C), index)[0] for index in range(5)] == [A, B, C, A, B]
    assert of_worker((), 3) == ()


def test_the_command_line_goes_before_what_classes_say() -> None:
    class One(User):
        source_address = A

    class Many(User):
        source_address = (A, B)

    class Plain(User):
        pass

    settle([One, Many, Plain], (), 1)
    assert (One.source_address, Many.source_address, Plain.source_address) == ((A,), (B, A), None)
    settle([One, Many, Plain], (C,), 0)
    assert (One.source_address, Many.source_address, Plain.source_address) == (None, None, None)


@pytest.mark.parametrize("address", [NOBODYS, "here", [A, NOBODYS]])
def test_a_class_with_an_address_that_is_not_ours_is_named(address: str | list[str]) -> None:
    class Lost(User):
        source_address = address

    with pytest.raises(LocustfileError, match=r"Lost\.source_address: "):
        settle([Lost], (), 0)


class Peers:
    """A target that answers, and knows where its connections came from."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, (address, _) = self._listener.accept()
            except OSError:
                return
            self.seen.append(address)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    @staticmethod
    def _serve(connection: socket.socket) -> None:
        with connection:
            while connection.recv(65536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


LOCUSTFILE = """
from locust import FastHttpUser, HttpUser, constant, task

class Api(HttpUser):
    wait_time = constant(0.1)
    fixed_count = 3

    @task
    def get(self):
        self.client.get("/")

class Fast(FastHttpUser):
    wait_time = constant(0.1)
    fixed_count = 2
    source_address = "127.0.0.21"

    @task
    def get(self):
        self.client.get("/")
"""


def test_users_of_a_run_come_from_the_addresses(plimsoll: Command) -> None:
    plimsoll.write(LOCUSTFILE)
    for options, expected in [
        ((), {"127.0.0.1": 3, "127.0.0.21": 2}),
        (("--source-address", f"{A},{B}"), {A: 3, B: 2}),
    ]:
        with closing(Peers()) as target:
            numbers = ("-u", "5", "-r", "100", "--iterations", "15")
            done = plimsoll("run", "--headless", *numbers, "-H", target.url, *options)
            assert done.code == 0, done
            assert {each: target.seen.count(each) for each in target.seen} == expected


def test_native_users_come_from_the_addresses(plimsoll: Command) -> None:
    with closing(Peers()) as target:
        done = plimsoll("run", "--headless", target.url, "-u", "4", "--requests", "40", "--source-address", f"{A}-{B}")
        assert done.code == 0, done
        assert {each: target.seen.count(each) for each in target.seen} == {A: 2, B: 2}


def test_an_address_that_is_not_ours_ends_the_run_before_it_begins(plimsoll: Command) -> None:
    done = plimsoll("run", "--headless", "http://127.0.0.1:1", "--source-address", NOBODYS)
    assert (done.code, "this machine cannot send from there" in done.err) == (2, True), done
    plimsoll.write(LOCUSTFILE.replace("127.0.0.21", NOBODYS))
    done = plimsoll("run", "--headless", "-H", "http://127.0.0.1:1", "-t", "1")
    assert (done.code, f"Fast.source_address: {NOBODYS}" in done.err) == (2, True), done
