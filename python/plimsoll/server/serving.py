"""The page's server: uvicorn in a thread beside the process's own work."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from plimsoll.errors import UsageError
from plimsoll.server.connections import LimitedConnection, quieten
from plimsoll.server.security.access import LOOPBACK

if TYPE_CHECKING:
    from starlette.applications import Starlette

BACKLOG = 128
KEEP_ALIVE = 30
"""Seconds that an idle connection is kept open."""
SHUTDOWN_TIMEOUT_S = 1
"""Whole seconds for responses in progress at shutdown."""
EXIT_TIMEOUT_S = 2.0
"""Maximum wait for the thread to end."""
ANY = {"0.0.0.0": LOOPBACK, "::": "::1"}
"""Loopback addresses for wildcard addresses."""


class PageServer:
    """Serves an app of `make_app`. port: 0 for any free port. tls_cert, tls_key: PEM files, both or none."""

    def __init__(
        self, app: Starlette, host: str, port: int, tls_cert: str | None = None, tls_key: str | None = None
    ) -> None:
        self._app = app
        self._host = host or LOOPBACK
        self._port = port
        self._tls = (tls_cert, tls_key)
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        """The address of the page, which is reachable from now on. Raises UsageError if it cannot be served."""
        check_tls(*self._tls)
        listener = _listen(self._host, self._port)
        quieten()
        cert, key = self._tls
        config = uvicorn.Config(
            self._app,
            http=LimitedConnection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
            ssl_certfile=cert,
            ssl_keyfile=key,
        )
        self._server = uvicorn.Server(config)
        arguments = {"sockets": [listener]}
        self._thread = threading.Thread(target=self._server.run, kwargs=arguments, name="page", daemon=True)
        self._thread.start()
        port = listener.getsockname()[1]
        host = ANY.get(self._host, self._host)
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if cert else 'http'}://{shown}:{port}{self._app.state.base_path}/"

    def stop(self) -> None:
        """Dismiss the viewers and stop. Can be called repeatedly, and before the start."""
        if self._server is None or self._thread is None:
            return
        self._app.state.viewers.dismiss()
        self._server.should_exit = True
        self._thread.join(EXIT_TIMEOUT_S)
        self._server.force_exit = True
        self._app.state.store.close()
        self._server = self._thread = None


def check_tls(cert: str | None, key: str | None) -> None:
    """Raises UsageError unless both are given and match, or neither is given."""
    if cert is None and key is None:
        return
    if cert is None or key is None:
        raise UsageError("TLS needs both files: --tls-cert and --tls-key")
    for option, path in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            with Path(path).open("rb"):
                pass
        except OSError as error:
            raise UsageError(f"{option} {path}: cannot be read: {error.strerror}") from error
    encrypted = False

    def ask() -> str:
        nonlocal encrypted
        encrypted = True
        return ""

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=ask)
    except (ssl.SSLError, OSError) as error:
        if encrypted:
            raise UsageError(f"--tls-key {key}: is encrypted; a key without a passphrase is needed") from error
        reason = getattr(error, "reason", None)
        if reason == "KEY_VALUES_MISMATCH":
            raise UsageError(f"--tls-key {key}: is not the key of {cert}") from error
        raise UsageError(f"--tls-cert {cert}, --tls-key {key}: not a certificate and its key in PEM") from error


def _listen(host: str, port: int) -> socket.socket:
    """Bound here and not in uvicorn's thread, so that the caller gets the error."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if not 0 <= port <= 65535:
        raise UsageError(f"--web-port {port}: must be 0 to 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server((str(address[0]), port), family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise UsageError(f"--web-host {host}: no such address: {error.strerror}") from error
    except OSError as error:
        # create_server adds text to the system's message.
        said = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"cannot serve the page at {where}: {said}; --web-port chooses another port") from error
