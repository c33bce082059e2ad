from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import socketio
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
import time
from locust.contrib.socketio import SocketIOUser
class Chatter(SocketIOUser):
    options = {{"reconnection": False}}
user = Chatter(environment)
user.sio.connect("{url}", transports=["polling"])
user.sio.send("hello")
user.sio.emit("join", {{"room": 1}})
assert user.sio.call("double", 21) == 42
while sum(each[0] == "WSR" for each in reported) < 1:
    time.sleep(0.01)
user.sio.disconnect()
user.sio.emit("late")
"""


@pytest.fixture
def server() -> Iterator[str]:
    sio = socketio.Server(async_mode="threading")
    sio.on("double", lambda _, number: 2 * number)

    @sio.on("join")
    def join(sid: str, data: Any) -> None:
        sio.emit("joined", "abc", to=sid)

    web = make_server("127.0.0.1", 0, socketio.WSGIApp(sio), threaded=True)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{web.server_port}"
    web.shutdown()
    web.server_close()


def test_a_conversation(run_code: Callable[..., list[RecordedRequest]], server: str) -> None:
    reported = run_code(CODE.format(url=server))
    received = [each for each in reported if each.type == "WSR"]
    assert [(each.name, each.length, each.time) for each in received] == [("joined", 3, 0)]
    sent = [each for each in reported if each.type != "WSR"]
    assert [(each.type, each.name, each.length) for each in sent] == [
        ("WS", "connect", 0),
        ("WSE", "message", 5),
        ("WSS", "Unnamed", 5),
        ("WSE", "join", 1),
        ("WSE", "double", 0),
        ("WSC", "double", 0),
        ("WSE", "late", 0),
    ]
    assert [each.error for each in sent[:-1]] == [None] * 6
    assert sent[-1].error == "/ is not a connected namespace."
    assert sent[0].time > 0
    assert sent[5].time > 0
