"""What a soak adds to a run whose target only answers: a page that is open, and a target that names things."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

PAGE, TIMING, NEW_TIMING, LABELS = "page", "server-timing", "new-server-timing", "new-labels"
EXTRAS = {
    PAGE: "a viewer of the page",
    TIMING: "responses with Server-Timing",
    NEW_TIMING: "responses whose parts of Server-Timing have new names each time",
    LABELS: "an observed page of metrics with new labels each second",
}
PATHS = {TIMING: "/timed", NEW_TIMING: "/renamed"}
"""Locations of nginx.py."""
NEW_SERIES = 1000


def path_of(extras: Sequence[str]) -> str:
    """The path that is loaded."""
    return next((PATHS[each] for each in extras if each in PATHS), "/small")


@contextlib.contextmanager
def options_of(extras: Sequence[str]) -> Iterator[list[str]]:
    """Options of the run; within the block what they name is there."""
    with contextlib.ExitStack() as stack:
        options = [] if PAGE in extras else ["--headless"]
        if PAGE in extras:
            port = _free_port()
            options += ["--web-port", str(port), "--autoquit", "0"]
            threading.Thread(target=_view, args=(port,), daemon=True).start()
        if LABELS in extras:
            options += ["--observe", f"http://127.0.0.1:{stack.enter_context(_exporter())}/metrics"]
        yield options


def _view(port: int) -> None:
    """Reads the events of the page, as a browser does, as long as there is one."""
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/api/live")
            answer = connection.getresponse()
            while answer.read1(1 << 16):
                pass
        time.sleep(0.5)


@contextlib.contextmanager
def _exporter() -> Iterator[int]:
    """Its port."""
    numbers = count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            scrape = next(numbers)
            body = "".join(f'pods{{name="{scrape}-{each}"}} 1\n' for each in range(NEW_SERIES)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
