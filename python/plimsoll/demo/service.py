"""A shop with three faults that a load test finds: one endpoint is slow, one fails, and one list grows.

    python -m plimsoll.demo.service [PORT]

It needs the standard library only, listens on 127.0.0.1, prints its URL, and ends when its standard input is closed.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SEARCH_S = 0.3
"""Seconds that a search takes: it has no index."""
FAILS = 20
"""Every such checkout fails."""
REVIEW_S = 0.001
"""Seconds that each review adds to the time of the list: it has no pages."""
REVIEW = {"product": "teapot", "stars": 4, "text": "It pours without a drop beside the cup. " * 10}
LONGEST_BODY = 1 << 20
"""Bytes of a request's body that are read."""


class Shop:
    """What the shop knows. Its methods are called from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reviews = 0
        self._checkouts = 0

    def add_review(self) -> None:
        with self._lock:
            self._reviews += 1

    def reviews(self) -> list[dict[str, Any]]:
        """All of them, which takes longer the more there are."""
        with self._lock:
            count = self._reviews
        time.sleep(REVIEW_S * count)
        return [REVIEW] * count

    def check_out(self) -> bool:
        """Whether it worked."""
        with self._lock:
            self._checkouts += 1
            return self._checkouts % FAILS != 0


class Handler(BaseHTTPRequestHandler):
    """One connection of the shop."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    shop: Shop

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/":
            self._reply(HTTPStatus.OK, {"products": ["teapot", "cup", "saucer"]})
        elif path == "/search":
            time.sleep(SEARCH_S)
            self._reply(HTTPStatus.OK, {"found": ["teapot"]})
        elif path == "/reviews":
            self._reply(HTTPStatus.OK, {"reviews": self.shop.reviews()})
        else:
            self._reply(HTTPStatus.NOT_FOUND, {"error": f"there is no {path}"})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LONGEST_BODY:
            self.close_connection = True
            self._reply(HTTPStatus.BAD_REQUEST, {"error": f"a body has at most {LONGEST_BODY} bytes"})
            return
        self.rfile.read(int(length))
        if self.path == "/reviews":
            self.shop.add_review()
            self._reply(HTTPStatus.CREATED, REVIEW)
        elif self.path == "/checkout":
            if self.shop.check_out():
                self._reply(HTTPStatus.CREATED, {"order": "accepted"})
            else:
                self._reply(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "the payment service did not answer"})
        else:
            self._reply(HTTPStatus.NOT_FOUND, {"error": f"there is no {self.path}"})

    def log_message(self, format: str, *args: Any) -> None:
        """A line per request would only disturb."""

    def _reply(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """Takes as many connections at once as a demo opens."""

    request_queue_size = 128
    daemon_threads = True


def serve(port: int) -> Server:
    """A server with a new shop; it serves once `serve_forever` is called. Raises OSError if the port is taken."""
    return Server(("127.0.0.1", port), type("ShopHandler", (Handler,), {"shop": Shop()}))


def main() -> None:
    with serve(int(sys.argv[1]) if sys.argv[1:] else 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
