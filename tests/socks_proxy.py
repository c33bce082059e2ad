"""A real SOCKS 5 proxy: microsocks, a program of Debian."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.run.joined import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

START_S = 60.0
PROGRAM = shutil.which("microsocks")
PASSWORD = "p@ss7w0rd"
USER = ("-u", "me", "-P", PASSWORD)
"""Options of a proxy that wants this user."""


@contextmanager
def proxy(*options: str) -> Iterator[int]:
    """The port of a proxy on this machine."""
    port = free_port()
    command = [str(PROGRAM), "-i", "127.0.0.1", "-p", str(port), *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=START_S).close()
            return
        except OSError:
            time.sleep(0.01)
    raise AssertionError(f"microsocks does not listen (exit code {process.poll()})")
