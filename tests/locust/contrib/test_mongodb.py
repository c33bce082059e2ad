"""Against a server that knows as much of MongoDB's protocol as the client asks for."""

from __future__ import annotations

import socketserver
import struct
import threading
from typing import TYPE_CHECKING, Any

import bson
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
from locust.contrib.mongodb import MongoDBUser
class Reader(MongoDBUser):
    conn_string = "mongodb://127.0.0.1:{port}/?serverSelectionTimeoutMS=5000"
    db_name = "shop"
user = Reader(environment)
assert user.client.db.name == "shop"
user.client.execute_query("goods", {{"price": 1}})
user.client.execute_query("broken", {{}})
user.on_stop()
"""
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
HELLO = {"isWritablePrimary": True, "helloOk": True, "minWireVersion": 0, "maxWireVersion": 21, "ok": 1}


class _Mongo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while head := self.rfile.read(16):
            length, number, _, code = struct.unpack("<iiii", head)
            body = self.rfile.read(length - 16)
            if code == OP_QUERY:
                answer = struct.pack("<iqii", 0, 0, 0, 1) + bson.encode(HELLO)
                self._send(OP_REPLY, number, answer)
            else:
                reply = self.server.answer(bson.decode(body[5:]))  # type: ignore[attr-defined]
                self._send(OP_MSG, number, struct.pack("<iB", 0, 0) + bson.encode(reply))

    def _send(self, code: int, to: int, body: bytes) -> None:
        self.wfile.write(struct.pack("<iiii", len(body) + 16, 1, to, code) + body)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Mongo)
        self.asked: list[Any] = []

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if "find" not in command:
            return HELLO
        self.asked.append((command["$db"], command["find"], command["filter"]))
        if command["find"] == "broken":
            return {"ok": 0, "code": 2, "errmsg": "out of order"}
        return {"ok": 1, "cursor": {"id": 0, "ns": "shop.goods", "firstBatch": [{"name": "a"}]}}


@pytest.fixture
def mongo() -> Iterator[_Server]:
    with _Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_query_reads_what_it_finds(run_code: Callable[..., list[RecordedRequest]], mongo: _Server) -> None:
    found, failed = run_code(CODE.format(port=mongo.server_address[1]))
    assert mongo.asked == [("shop", "goods", {"price": 1}), ("shop", "broken", {})]
    assert (found.type, found.name, found.length, found.error) == ("MONGODB", "QUERY", 0, None)
    assert found.time > 0
    assert (failed.type, failed.name) == ("MONGODB", "QUERY")
    assert "out of order" in failed.error
