"""A WebSocket server of the library `websockets`, which counts what it has received."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

QUIET = logging.getLogger("tests.websockets")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


class EchoServer:
    """Returns each message, with these before the first one; /busy closes with 1013 at the third message."""

    def __init__(self, greetings: Sequence[str] = (), tls: ssl.SSLContext | None = None, **options: Any) -> None:
        """options: of `websockets.sync.server.serve`."""
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
