"""Runs with WebSockets, from the command line to the report. The server is that of the library `websockets`."""

from __future__ import annotations

import json
import logging
import ssl
import threading
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.command import Command

QUIET = logging.getLogger("tests.websockets")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


class EchoServer:
    """Returns each message, with these before the first one; /busy closes with 1013 at the third message."""

    def __init__(self, greetings: Sequence[str] = (), tls: ssl.SSLContext | None = None, **options: Any) -> None:
        self.received: list[str | bytes] = []
        self.connections = 0
        self._greetings = greetings
        self._lock = threading.Lock()
        self._server: Server = serve(self._serve, "127.0.0.1", 0, ssl=tls, logger=QUIET, **options)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.place = f"127.0.0.1:{self._server.socket.getsockname()[1]}"

    def close(self) -> None:
        self._server.shutdown()

    def _serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        with self._lock:
            self.connections += 1
        try:
            for greeting in self._greetings:
                connection.send(greeting)
            for number, message in enumerate(connection, 1):
                with self._lock:
                    self.received.append(message)
                if connection.request.path == "/busy" and number == 3:
                    connection.close(1013, "later")
                connection.send(message)
        except ConnectionClosed:
            pass


@pytest.fixture
def echo() -> Iterator[EchoServer]:
    server = EchoServer()
    yield server
    server.close()


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['method']} {each['name']}": each for each in document["endpoints"]}


def run(plimsoll: Command, *arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
    done = plimsoll("run", *arguments, "--headless", "--summary", "-")
    assert done.code == code, done
    return rows(json.loads(done.out))


def test_a_url_is_an_echo_by_each_user(plimsoll: Command, echo: EchoServer) -> None:
    done = plimsoll("run", f"ws://{echo.place}/chat", "--message", '{"n": ${iteration}}', "-u", "3", "--iterations", "60",
                    "--headless", "--summary", "-")  # fmt: skip
    assert done.code == 0, done
    document = json.loads(done.out)
    found = rows(document)
    assert {name: each["requests"] for name, each in found.items()} == {
        "WS /chat": 3, "WS receive /chat": 60, "message out /chat": 60, "message in /chat": 60,
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


def test_close_codes_are_outcomes(plimsoll: Command, echo: EchoServer) -> None:
    found = run(plimsoll, f"ws://{echo.place}/busy", "--message", "x", "--iterations", "6", code=1)
    ends = {name: {end: each["count"] for end, each in row["outcomes"].items()} for name, row in found.items()}
    assert ends["WS receive /busy"] == {"success": 4, "reset": 2}
    assert ends["WS close /busy"] == {"reset": 2}
    assert found["WS /busy"]["requests"] == 2
    done = plimsoll("run", f"ws://{echo.place}/busy", "--message", "x", "--iterations", "3", "--headless")
    assert "the server closed the connection with code 1013: later" in done.out


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
