"""A real StatsD server: Etsy's own, by its console of administration."""

from __future__ import annotations

import re
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until

from plimsoll.experiment.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).parents[2] / "target" / "statsd" / "node_modules" / "statsd" / "stats.js"
"""`make target/statsd` installs it."""
_ENTRY = re.compile(r"'([^']+)': ([-+.\de]+)")


class StatsdServer:
    def __init__(self, port: int, console: int) -> None:
        self.port = port
        self._console = console

    def counters(self) -> dict[str, float]:
        """Sums since its start, by name. Tags follow the name: ";method=GET"."""
        return self._ask("counters")

    def gauges(self) -> dict[str, float]:
        return self._ask("gauges")

    def is_up(self) -> bool:
        try:
            return "statsd.bad_lines_seen" in self.counters()
        except OSError:
            return False

    def _ask(self, what: str) -> dict[str, float]:
        with socket.create_connection(("127.0.0.1", self._console), 10) as connection:
            connection.sendall(f"{what}\n".encode())
            answer = b""
            while not answer.endswith(b"END\n\n"):
                answer += connection.recv(65536)
        return {name: float(value) for name, value in _ENTRY.findall(answer.decode())}


@contextmanager
def statsd_server(folder: Path) -> Iterator[StatsdServer]:
    """It keeps all counters until its end. Skips the test without the program."""
    if not PROGRAM.exists():
        pytest.skip("no statsd: make target/statsd")
    server = StatsdServer(free_port(), free_port())
    config = folder / "statsd.js"
    config.write_text(
        f'{{address: "127.0.0.1", port: {server.port}, mgmt_address: "127.0.0.1", mgmt_port: {server._console}, '
        "backends: [], flushInterval: 86400000}"
    )
    with subprocess.Popen(["node", str(PROGRAM), str(config)], stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or server.is_up())
            yield server
        finally:
            process.terminate()
