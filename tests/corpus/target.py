"""A small HTTP/1.1 server whose paths show each kind of answer and failure, for the runs of the corpus.

    python target.py PORT [SECONDS]    serves until it is killed; each answer waits so many seconds

| path | what it does |
|---|---|
| `/fail`, `/never`, `/reset` | 500; no answer; a reset of the connection |
| `/slow` | waits for 0.3 s |
| `/timed` | has the header Server-Timing |
| `/events`, `/v1/chat/completions` | ten server-sent events; a chat completion of eight tokens |
| `/item` | JSON with an id |
| `/serial` | one request at a time, each 10 ms |
| any other | 200 |
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EVENTS = 10
TOKENS = 8
ONE_AT_A_TIME = threading.Lock()
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wait = 0.0

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(self.wait)
        path = self.path.partition("?")[0]
        answers = {
            "/fail": lambda: self._answer(500, b"no"),
            "/never": lambda: time.sleep(60),
            "/reset": self._reset,
            "/slow": lambda: (time.sleep(0.3), self._answer(200, b"slow")),
            "/timed": lambda: self._answer(200, b"timed", {"Server-Timing": 'db;dur=3.5, render;desc="page";dur=1.25'}),
            "/events": self._events,
            "/v1/chat/completions": self._chat,
            "/serial": self._serial,
            "/item": lambda: self._answer(200, b'{"id": 7, "name": "seven"}'),
        }
        answers.get(path, lambda: self._answer(200, b"hello" * 20))()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is printed."""

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def _serial(self) -> None:
        with ONE_AT_A_TIME:
            time.sleep(0.01)
        self._answer(200, b"in turn")

    def _events(self) -> None:
        self._stream(json.dumps({"n": number}) for number in range(EVENTS))

    def _chat(self) -> None:
        choices = [{"index": 0, "delta": {"content": f"w{n} "}, "finish_reason": None} for n in range(TOKENS)]
        usage = {"prompt_tokens": 3, "completion_tokens": TOKENS, "total_tokens": TOKENS + 3}
        chunks = [{**CHUNK, "choices": [choice]} for choice in choices]
        end = {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
        self._stream([*(json.dumps(each) for each in (*chunks, end)), "[DONE]"])

    def _stream(self, events: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            time.sleep(0.005)
        self.wfile.write(b"0\r\n\r\n")


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave are no errors of ours."""


def serve(port: int = 0) -> Server:
    """Serves in a thread of its own, on a free port of 127.0.0.1 by default."""
    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    Handler.wait = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
