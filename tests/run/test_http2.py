"""Runs with HTTP/2, from the command line to the report."""

from __future__ import annotations

import json
import signal
import socketserver
import ssl
import threading
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from labs.truth.http2_target import Http2Target
from tests.command import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.command import Command


@pytest.fixture
def server() -> Iterator[Http2Target]:
    made = Http2Target()
    yield made
    made.close()
    assert made.failures == []


def run(plimsoll: Command, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = plimsoll("run", *arguments, "--headless", "--summary", "-")
    assert done.code == code, done
    document: dict[str, Any] = json.loads(done.out)
    return document


def test_each_user_has_a_connection(plimsoll: Command, server: Http2Target) -> None:
    document = run(plimsoll, f"http://{server.place}/a", "--http2", "-u", "3", "--iterations", "90")
    assert server.requests == {"GET /a": 90}
    assert (server.connections, server.most_streams) == (3, 1)
    assert document["total"]["requests"] == 90
    assert document["total"]["failures"] == 0


def test_users_share_connections(plimsoll: Command, server: Http2Target) -> None:
    shared = ("--http2", "--users-per-connection", "4", "-u", "10", "--iterations", "100")
    run(plimsoll, f"http://{server.place}/fixed?ms=50", *shared)
    assert server.requests == {"GET /fixed?ms=50": 100}
    assert (server.connections, server.most_streams) == (3, 4)


def test_more_requests_than_streams_wait_their_turn(plimsoll: Command) -> None:
    server = Http2Target(streams=2)
    shared = ("--http2", "--users-per-connection", "6", "-u", "6", "--iterations", "60")
    document = run(plimsoll, f"http://{server.place}/fixed?ms=5", *shared)
    server.close()
    assert (server.requests.total(), server.connections) == (60, 1)
    assert document["total"]["failures"] == 0


def test_by_tls_it_is_chosen_in_the_handshake(plimsoll: Command, certificate: tuple[str, str]) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    server = Http2Target(tls)
    run(plimsoll, f"https://{server.place}/", "--http2", "-k", "-u", "2", "--iterations", "10")
    server.close()
    assert (server.requests, server.connections) == ({"GET /": 10}, 2)


PLAN = """
target = "http://{place}"
http2 = true
users_per_connection = 2
[[flow]]
[[flow.step]]
post = "/echo"
json = {{ n = "${{iteration}}" }}
extract.n = {{ json = "/n" }}
[[flow.step]]
get = "/item/${{n}}"
expect.contains = "GET /item/"
[[phase]]
users = 4
[stop]
iterations = 20
"""


def test_a_plan(plimsoll: Command, server: Http2Target, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.format(place=server.place))
    run(plimsoll, str(tmp_path / "plan.toml"))
    assert server.requests == {"POST /echo": 20, **{f"GET /item/{number}": 1 for number in range(20)}}
    assert server.connections == 2


LOCUSTFILE = """
from locust import FastHttpUser, HttpUser, constant, task

class User(HttpUser):
    host = "http://{place}"
    wait_time = constant(0.05)
    http2 = True
    users_per_connection = 3

    @task
    def work(self):
        got = self.client.get("/a")
        assert (got.raw.version, got.text) == (20, "GET /a")
        assert self.client.post("/echo", data=b"x" * 100_000).content == b"x" * 100_000
        got = self.client.get("/b", stream=True)
        assert b"".join(got.iter_content(3)) == b"GET /b"

class Fast(FastHttpUser):
    host = "http://{place}"
    http2 = True
    wait_time = constant(0.05)

    @task
    def work(self):
        assert self.client.get("/fast").text == "GET /fast"
"""


def test_user_classes_of_a_locustfile(plimsoll: Command, server: Http2Target, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(LOCUSTFILE.format(place=server.place))
    document = run(plimsoll, "-f", str(tmp_path / "own.py"), "-u", "8", "-r", "8", "-t", "3s", "-s", "20s")
    assert document["exceptions"] == []
    assert document["total"]["failures"] == 0
    made = server.requests
    assert made["GET /a"] == made["POST /echo"] == made["GET /b"] > 0
    # Four users of each class: three and one share, and four have their own.
    assert server.connections == 6


def test_all_users_of_a_locustfile(plimsoll: Command, server: Http2Target, tmp_path: Path) -> None:
    own = LOCUSTFILE.replace("http2 = True", "").replace("users_per_connection = 3", "")
    (tmp_path / "own.py").write_text(own.format(place=server.place))
    shared = ("--http2", "--users-per-connection", "4")
    run(plimsoll, "-f", str(tmp_path / "own.py"), "-u", "8", "-r", "8", "--iterations", "16", *shared)
    assert server.connections == 2


def test_the_report_says_so(plimsoll: Command, server: Http2Target) -> None:
    arguments = (f"http://{server.place}/", "--http2", "--users-per-connection", "2", "-u", "4", "--iterations", "4")
    done = plimsoll("run", *arguments, "--headless")
    assert "4 users, HTTP/2 with 2 users per connection" in done.out, done


class Old(socketserver.StreamRequestHandler):
    """A server of HTTP/1.1 alone."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_a_server_without_it_is_a_failure_that_says_what_to_do(plimsoll: Command) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Old) as old:
        threading.Thread(target=old.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{old.server_address[1]}/"
        done = plimsoll("run", url, "--http2", "--iterations", "2", "--headless", "--no-connect-backoff")
        old.shutdown()
    assert done.code == 1
    assert "the server answers in HTTP/1: it has no HTTP/2 here; leave out --http2" in " ".join(done.out.split()), done


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("http://127.0.0.1:1/", "--users-per-connection", "2"), "--users-per-connection goes with --http2"),
        (("ws://127.0.0.1:1/", "--message", "x", "--http2"), "--http2 goes with a request, not with a WebSocket"),
        (("http://127.0.0.1:1/", "--http2", "--users-per-connection", "0"), "takes a whole number from 1, not 0"),
    ],
)
def test_mistakes_are_named(plimsoll: Command, arguments: tuple[str, ...], why: str) -> None:
    done = plimsoll("run", *arguments, "--headless")
    assert (done.code, why in done.err) == (2, True), done


def test_a_wrong_number_in_a_class_is_named(plimsoll: Command, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(LOCUSTFILE.format(place="127.0.0.1:1").replace("connection = 3", 'connection = "3"'))
    done = plimsoll("run", "-f", str(own), "--headless", "-t", "1s")
    assert done.code == 2
    assert "User.users_per_connection must be a number of at least 1: '3'" in done.err, done


def test_a_websocket_of_a_plan_needs_another_target(plimsoll: Command, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'target = "http://127.0.0.1:1"\n[[flow]]\n[[flow.step]]\nconnect = "/"\n[[flow.step]]\nsend = "x"\n'
    )
    done = plimsoll("run", str(plan), "--http2", "-t", "1s", "--headless")
    assert done.code == 2
    assert "--http2: a WebSocket needs HTTP/1.1, but its target has http2" in done.err, done


UPLOAD = """
target = "http://{place}"
http2 = true
[[flow]]
[[flow.step]]
post = "/upload"
body_file = "body"
[[phase]]
users = 30
"""


def test_a_body_that_waits_for_the_window_is_in_memory_once(plimsoll: Command, tmp_path: Path) -> None:
    received: list[int] = []

    class NoMoreWindow(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))  # SETTINGS
            while data := self.request.recv(65536):
                received.append(len(data))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), NoMoreWindow) as own:
        threading.Thread(target=own.serve_forever, daemon=True).start()
        (tmp_path / "body").write_bytes(bytes(10_000_000))
        place = f"127.0.0.1:{own.server_address[1]}"
        (tmp_path / "plan.toml").write_text(UPLOAD.format(place=place))
        process = plimsoll.start("run", str(tmp_path / "plan.toml"), "--headless", "-t", "60s")
        wait_until(lambda: sum(received) >= 30 * 65_535)
        peak = max(each.memory_info().rss for each in psutil.Process(process.pid).children(recursive=True))
        process.send_signal(signal.SIGINT)
        plimsoll.end(process)
        own.shutdown()
    # Each user's own copy would be 10 MB.
    assert peak < 200 << 20
