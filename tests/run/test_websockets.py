"""Runs with WebSockets, from the command line to the report."""

from __future__ import annotations

import json
import ssl
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import pytest
from tests.socket_server import EchoServer
from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command
    from websockets.http11 import Response
    from websockets.sync.server import ServerConnection


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['method']} {each['name']}": each for each in document["endpoints"]}


def run(plimsoll: Command, *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    done = plimsoll("run", *arguments, "--headless", "--summary", "-")
    assert done.code == code, done
    return rows(json.loads(done.out))


def test_a_url_is_an_echo_by_each_user(plimsoll: Command, echo: EchoServer) -> None:
    url, message = f"ws://{echo.place}/chat", '{"n": ${iteration}}'
    done = plimsoll("run", url, "--message", message, "-u", "3", "--iterations", "60", "--headless", "--summary", "-")
    assert done.code == 0, done
    document = json.loads(done.out)
    found = rows(document)
    assert {name: each["requests"] for name, each in found.items()} == {
        "WS /chat": 3, "WS receive /chat": 60, "message out /chat": 60, "message in /chat": 60, "WS close /chat": 3,
    }  # fmt: skip
    assert document["total"]["requests"] == 63
    assert sorted(json.loads(each)["n"] for each in echo.received) == list(range(60))
    assert echo.connections == 3
    assert found["WS receive /chat"]["service_ms"]["min"] > 0


def test_in_the_open_model_messages_come_at_their_rate(plimsoll: Command, echo: EchoServer) -> None:
    found = run(plimsoll, f"ws://{echo.place}/", "--message", "x", "--rate", "50/s", "-t", "2s")
    assert found["WS receive /"]["requests"] == len(echo.received) == found["message out /"]["requests"]
    assert len(echo.received) == 100
    assert found["WS /"]["requests"] == echo.connections


class EndlessServer(EchoServer):
    """Sends a message of 2 MiB, but for its end."""

    def _serve(self, connection: ServerConnection) -> None:
        def pieces() -> Iterator[bytes]:
            yield bytes(2 << 20)
            for _ in connection:
                pass

        with suppress(ConnectionClosed):
            connection.send(pieces())


def test_a_message_that_does_not_end_counts_as_a_body_in_memory(plimsoll: Command) -> None:
    server = EndlessServer()
    arguments = ["--message", "x", "-u", "1", "--iterations", "1", "--max-body-memory", "1MiB", "--headless"]
    done = plimsoll("run", f"ws://{server.place}/", *arguments, "-t", "20s")
    server.close()
    assert done.code == 1, done
    run = plimsoll.stored()
    words = "the bodies in memory are over the limit of 1048576 bytes for all users of a worker"
    assert {(each["method"], each["outcome"], each["message"]) for each in run["failures"]} == {
        ("WS receive", "protocol", words), ("WS close", "protocol", words),
    }  # fmt: skip


class FloodServer(EchoServer):
    """Sends 40 messages of 30 kB at once, and reads what comes."""

    def _serve(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            for _ in range(40):
                connection.send(bytes(30_000))
            for _ in connection:
                pass


UNREAD_PLAN = """
target = "http://{place}"
[[flow]]
name = "chat"
[[flow.step]]
connect = "/chat"
[[flow.step]]
wait = "1h"
[[flow.step]]
receive = "next"
[[phase]]
users = 6
[stop]
time = "4s"
"""
UNREAD_USER = """
import gevent
from plimsoll import HttpUser, task

class Silent(HttpUser):
    host = "http://{place}"

    @task
    def wait(self):
        with self.client.websocket("/chat"):
            gevent.sleep(3600)
"""


@pytest.mark.parametrize("text", [UNREAD_PLAN, UNREAD_USER], ids=["native", "python"])
def test_unread_messages_of_all_users_count_as_bodies_in_memory(plimsoll: Command, text: str) -> None:
    server = FloodServer()
    is_plan = text == UNREAD_PLAN
    file = plimsoll.write(text.format(place=server.place), "plan.toml" if is_plan else "locustfile.py")
    users = [] if is_plan else ["-u", "6", "-r", "6", "-t", "4s"]
    done = plimsoll("run", str(file), *users, "--max-body-memory", "2MiB", "--headless")
    server.close()
    ends = {(each["method"], each["outcome"], each["message"]) for each in plimsoll.stored()["failures"]}
    words = "the bodies in memory are over the limit of 2097152 bytes for all users of a worker"
    assert ends == {("WS close", "protocol", words)}, done


PLAN = """
target = "http://{place}"
[[flow]]
name = "chat"
[[flow.step]]
connect = "/chat"
protocols = ["v1", "v2"]
compression = true
timeout = "20s"
[[flow.step]]
receive = "next"
expect = {{ contains = "welcome" }}
extract.token = {{ json = "/token" }}
timeout = "20s"
[[flow.step]]
name = "order"
send = {{ json = {{ token = "${{token}}", id = 7 }} }}
[[flow.step]]
name = "order"
receive = "reply"
expect.json = {{ "/id" = 7, "/token" = "t" }}
timeout = "20s"
[[flow.step]]
send = {{ base64 = "AP8=" }}
[[flow.step]]
wait = "50ms"
[[flow.step]]
close = 1000
timeout = "20s"
[[phase]]
users = 2
[stop]
iterations = 4
"""


def test_a_plan_may_connect_send_receive_wait_and_close(plimsoll: Command) -> None:
    greetings = ["noise " * 100, '{"welcome": true, "token": "t"}']
    server = EchoServer(greetings, subprotocols=["v2"])
    plan = plimsoll.write(PLAN.format(place=server.place), "plan.toml")
    found = run(plimsoll, str(plan))
    server.close()
    assert {name: each["requests"] for name, each in found.items()} == {
        "WS /chat": 4, "WS receive /chat": 4, "WS receive order": 4, "message out order": 4, "message out /chat": 4,
        "message in /chat": 16, "WS close /chat": 4,
    }  # fmt: skip
    assert not any(each["failures"] for each in found.values())
    assert server.received.count(b"\x00\xff") == 4
    assert [json.loads(each) for each in server.received if isinstance(each, str)] == [{"token": "t", "id": 7}] * 4


class RoomServer(EchoServer):
    """Sends each message to all who are connected, some milliseconds after it came."""

    DELAY_S = 0.003

    def __init__(self) -> None:
        self.room: list[ServerConnection] = []
        self._lines = threading.Lock()
        super().__init__()

    def _serve(self, connection: ServerConnection) -> None:
        with self._lines:
            self.room.append(connection)
        with suppress(ConnectionClosed):
            for message in connection:
                time.sleep(self.DELAY_S)
                with self._lines:
                    self.received.append(message)
                    for other in self.room:
                        with suppress(ConnectionClosed):
                            other.send(message)


ROOM_PLAN = """
target = "http://{place}"
[[flow]]
name = "chat"
[[flow.step]]
connect = "/chat"
timeout = "20s"
[[flow.step]]
send = {{ json = {{ by = "${{user}}", id = "${{iteration}}" }} }}
[[flow.step]]
name = "mine"
receive = "reply"
{expect}
extract.id = {{ json = "/id" }}
timeout = "20s"
[[flow.step]]
send = "${{iteration}} ${{id}}"
[[phase]]
users = 5
[stop]
iterations = 100
"""


@pytest.mark.parametrize(
    "expect",
    [
        """expect.json = { "/by" = "${user}", "/id" = "${iteration}" }""",
        """expect.contains = "\\"id\\": \\"${iteration}\\"" """,
    ],
)
def test_the_reply_is_the_message_that_carries_what_was_sent(plimsoll: Command, expect: str) -> None:
    server = RoomServer()
    found = run(plimsoll, str(plimsoll.write(ROOM_PLAN.format(place=server.place, expect=expect), "plan.toml")))
    server.close()
    assert found["WS receive mine"]["requests"] == 100
    assert not any(each["failures"] for each in found.values())
    assert found["message in /chat"]["requests"] > 200, "the others' messages come as well"
    pairs = [text.split() for text in server.received if isinstance(text, str) and not text.startswith("{")]
    assert all(sent == answered for sent, answered in pairs)
    # The server needs that long for each message.
    assert found["WS receive mine"]["service_ms"]["min"] >= RoomServer.DELAY_S * 1000


def test_close_codes_are_outcomes(plimsoll: Command, echo: EchoServer) -> None:
    found = run(plimsoll, f"ws://{echo.place}/busy", "--message", "x", "--iterations", "6", code=1)
    ends = {name: {end: each["count"] for end, each in row["outcomes"].items()} for name, row in found.items()}
    assert ends["WS receive /busy"] == {"success": 4, "reset": 2}
    assert ends["WS close /busy"] == {"reset": 2}
    assert found["WS /busy"]["requests"] == 2
    done = plimsoll("run", f"ws://{echo.place}/busy", "--message", "x", "--iterations", "3", "--headless")
    assert "the server closed the connection with code 1013: later" in done.out


REFUSED_PLAN = """
target = "http://{place}"
[[flow]]
name = "chat"
[[flow.step]]
connect = "/chat"
[[flow.step]]
send = "x"
[[phase]]
users = 5
[stop]
time = "2s"
"""


def test_users_of_a_plan_that_are_refused_say_why_and_wait(plimsoll: Command) -> None:
    def refuse(connection: ServerConnection, _: object) -> Response:
        attempts.append(1)
        return connection.respond(HTTPStatus.FORBIDDEN, "token has\nexpired")

    attempts: list[int] = []
    server = EchoServer(process_request=refuse)
    done = plimsoll("run", str(plimsoll.write(REFUSED_PLAN.format(place=server.place), "plan.toml")), "--headless")
    server.close()
    assert done.code == 1, done
    failures = plimsoll.stored()["failures"]
    assert {(each["method"], each["outcome"], each["message"]) for each in failures} == {
        ("WS", "http", "status 403: token has expired")
    }
    # After 10, 20, 40 … ms at most, a user waits for half a second to a second.
    assert 5 * 4 <= len(attempts) <= 5 * 12
    assert "waited before they tried again" in done.out


def test_a_websocket_over_tls(plimsoll: Command, certificate: tuple[str, str]) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    server = EchoServer(tls=tls)
    found = run(plimsoll, f"wss://{server.place}/", "--message", "x", "--iterations", "5", "-k")
    server.close()
    assert (found["WS receive /"]["requests"], len(server.received)) == (5, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ws://127.0.0.1:9/"], "a WebSocket needs a message to send: --message TEXT"),
        (["ws://127.0.0.1:9/", "--message", "${x}"], "--message: unknown variable ${x}"),
        (["ws://127.0.0.1:9/", "--message", "x", "--body", "y"], "--body goes with a request, not with a WebSocket"),
        (["ws://127.0.0.1:9/", "--message", "x", "--header", "Upgrade: h2c"], "Upgrade is set by the step"),
        (["ws://", "--message", "x"], 'http://" is not a URL'),
        (["http://127.0.0.1:9/", "--message", "x"], "--message goes with a WebSocket: plimsoll run ws://…"),
        (["http://127.0.0.1:9/", "--subprotocol", "x"], "--subprotocol goes with a WebSocket"),
    ],
)
def test_mistakes_are_told_in_one_line(plimsoll: Command, arguments: list[str], message: str) -> None:
    done = plimsoll("run", *arguments, "--iterations", "1", "--headless")
    assert done.code == 2, done
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


LOCUSTFILE = """
from locust import HttpUser, task

class Chat(HttpUser):
    def on_start(self):
        self.ws = self.client.websocket("/chat")

    @task
    def say(self):
        self.ws.send("hello")
        assert self.ws.receive(timeout=20) == "hello"

    def on_stop(self):
        self.ws.close()
"""

OTHER_LIBRARY = """
import time
from locust import User, task
from websocket import create_connection

class Chat(User):
    def on_start(self):
        self.ws = create_connection(self.host.replace("http", "ws") + "/chat")

    @task
    def say(self):
        start = time.perf_counter()
        self.ws.send("hello")
        answer = self.ws.recv()
        self.environment.events.request.fire(
            request_type="WS", name="echo", response_time=(time.perf_counter() - start) * 1e3,
            response_length=len(answer), exception=None, context={},
        )

    def on_stop(self):
        self.ws.close()
"""


def test_a_locustfile_sends_and_receives(plimsoll: Command, echo: EchoServer) -> None:
    plimsoll.write(LOCUSTFILE)
    found = run(plimsoll, "-H", f"http://{echo.place}", "-u", "2", "-r", "100", "--iterations", "30")
    assert {name: each["requests"] for name, each in found.items()} == {
        "WS /chat": 2, "WS receive /chat": 30, "message out /chat": 30, "message in /chat": 30, "WS close /chat": 2,
    }  # fmt: skip
    assert (len(echo.received), echo.connections) == (30, 2)
    assert found["WS receive /chat"]["service_ms"]["min"] > 0


def test_a_locustfile_with_another_library_goes_on_working(plimsoll: Command, echo: EchoServer) -> None:
    plimsoll.write(OTHER_LIBRARY)
    found = run(plimsoll, "-H", f"http://{echo.place}", "-u", "2", "-r", "100", "--iterations", "20")
    assert {name: each["requests"] for name, each in found.items()} == {"WS echo": 20}
    assert (len(echo.received), echo.connections) == (20, 2)
