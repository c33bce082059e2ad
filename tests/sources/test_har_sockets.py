"""A recorded WebSocket becomes steps that a new server accepts, which gives other sessions."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from contextlib import contextmanager

import pytest
from websockets.sync.client import connect
from websockets.sync.server import serve

from plimsoll.errors import UsageError
from plimsoll.sources.har_sockets import MOST_MESSAGES
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.proving import prove


def chat(connection) -> None:
    """Greets with a session, which the client must name to join, and gives a room, which it must name to speak."""
    session, room = secrets.token_hex(16), secrets.randbelow(10**12)
    connection.send(json.dumps({"type": "welcome", "session": session}))
    for message in connection:
        said = b"bytes" if isinstance(message, bytes) else json.loads(message)
        if said == {"type": "join", "session": session}:
            connection.send(json.dumps({"type": "joined", "room": {"id": f"room-{room}"}}))
            connection.send(json.dumps({"type": "tick"}))
        elif said == {"type": "say", "room": f"room-{room}", "text": "hello"}:
            connection.send(json.dumps({"type": "tick"}))
            connection.send(json.dumps({"type": "said"}))
        elif said == b"bytes":
            connection.send(message)
        else:
            connection.close(4000, "wrong")


@contextmanager
def chat_server():
    with serve(chat, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/chat"
        finally:
            server.shutdown()
            thread.join()


def recorded(url: str) -> str:
    """A visit as Chromium exports it."""
    messages = []

    def note(kind: str, data: str | bytes) -> str | bytes:
        text = data if isinstance(data, str) else base64.b64encode(data).decode()
        messages.append({"type": kind, "time": time.time(), "opcode": 1 if isinstance(data, str) else 2, "data": text})
        return data

    with connect(url) as client:
        session = json.loads(note("receive", client.recv()))["session"]
        client.send(note("send", json.dumps({"type": "join", "session": session})))
        room = json.loads(note("receive", client.recv()))["room"]["id"]
        note("receive", client.recv())
        client.send(note("send", json.dumps({"type": "say", "room": room, "text": "hello"})))
        # The page waits for what the server says about it.
        client.recv()
        note("receive", client.recv())
        client.send(note("send", b"\x01\x02"))
        note("receive", client.recv())
    return har(url, messages)


def har(url: str, messages: list, **more) -> str:
    headers = [{"name": "Sec-WebSocket-Key", "value": "x"}, {"name": "Origin", "value": "http://x.test"}]
    entry = {
        "startedDateTime": "2026-11-29T12:00:00Z", "time": 1, "_resourceType": "websocket",
        "request": {"method": "GET", "url": url, "headers": headers}, "response": {"status": 101, "headers": []},
        "_webSocketMessages": messages, **more,
    }  # fmt: skip
    return json.dumps({"log": {"version": "1.2", "entries": [entry]}})


@pytest.mark.parametrize("recordings", [1, 2])
def test_a_recorded_chat_is_proven(tmp_path, recordings):
    paths = [tmp_path / f"{number}.har" for number in range(recordings)]
    with chat_server() as url:
        for path in paths:
            path.write_text(recorded(url))
        draft = make_draft(list(map(str, paths)))
        proof = prove(draft)
        assert proof.is_whole, proof
    assert [step.step for step in proof.steps] == [f"{number} WS /chat" for number in range(1, 10)]
    plan = written(draft, "plan", as_locustfile=False).text
    lines = [line.partition("  #")[0] for line in plan.splitlines()]
    for line in (
        'connect = "/chat"', 'receive = "next"', 'extract.session = { json = "/session" }',
        'send = { json = { type = "join", session = "${session}" } }', 'receive = "reply"',
        'extract.room_id = { json = "/room/id" }', 'expect.json = { "/type" = "said" }',
        'send = { json = { type = "say", room = "${room_id}", text = "hello" } }', 'send = { base64 = "AQI=" }',
        "close = 1000",
    ):  # fmt: skip
        assert line in lines, plan
    assert any("1 more messages of the server are not waited for" in note for note in draft.notes)


def test_a_locustfile_has_no_websockets(tmp_path):
    (tmp_path / "x.har").write_text(har("ws://a.test/", [{"type": "send", "opcode": 1, "data": "x"}]))
    with pytest.raises(UsageError, match=r"write a plan \(plan\.toml\)"):
        written(make_draft([str(tmp_path / "x.har")]), "x", as_locustfile=True)


@pytest.mark.parametrize(
    ("messages", "steps"),
    [
        ([{"type": "send", "opcode": 1, "data": "x"}] * (MOST_MESSAGES + 1), MOST_MESSAGES + 2),
        ([7, {"type": "send"}, {"type": "ping", "data": "x"}, {"type": "send", "opcode": 2, "data": "!"}], 2),
        ([{"type": "send", "time": -1, "data": "{"}, {"type": "receive", "time": "x", "data": "["}], 4),
        ([{"type": "send", "data": "x" * (2 << 20)}], 2),
    ],
    ids=["many", "no-messages", "odd-times", "long"],
)
def test_odd_messages(tmp_path, messages, steps):
    (tmp_path / "x.har").write_text(har("wss://a.test/x", messages))
    draft = make_draft([str(tmp_path / "x.har")])
    assert len(draft.steps) == steps
    assert draft.targets[0].url == "https://a.test"


def test_a_websocket_without_messages_is_named(tmp_path):
    (tmp_path / "x.har").write_text(har("ws://a.test/", []))
    with pytest.raises(UsageError, match="has no requests"):
        make_draft([str(tmp_path / "x.har")])
