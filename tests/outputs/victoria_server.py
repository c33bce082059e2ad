"""A real VictoriaMetrics, which takes the line protocol by the API of InfluxDB 2, and remote write."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until

from plimsoll.experiment.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class VictoriaServer:
    def __init__(self, url: str) -> None:
        self.url = url

    def sums(self, name: str) -> dict[tuple[tuple[str, str], ...], float]:
        """The sum of all values of a series, by labels."""
        with urllib.request.urlopen(f"{self.url}/internal/force_flush"):
            pass
        asked = urllib.parse.urlencode({"match[]": name})
        with urllib.request.urlopen(f"{self.url}/api/v1/export?{asked}") as reply:
            rows = [json.loads(line) for line in reply.read().splitlines()]
        return {
            tuple(sorted((key, value) for key, value in row["metric"].items() if key not in ("__name__", "db"))):
            sum(row["values"]) for row in rows
        }  # fmt: skip

    def is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health") as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


@contextmanager
def victoria_server(folder: Path) -> Iterator[VictoriaServer]:
    """Skips the test without the program."""
    program = shutil.which("victoria-metrics")
    if program is None:
        pytest.skip("no victoria-metrics (Debian: apt-get install victoria-metrics)")
    port = free_port()
    command = [
        program, f"-storageDataPath={folder}/victoria", f"-httpListenAddr=127.0.0.1:{port}", "-loggerLevel=ERROR",
        "-retentionPeriod=100y",
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        server = VictoriaServer(f"http://127.0.0.1:{port}")
        try:
            wait_until(lambda: process.poll() is not None or server.is_up())
            yield server
        finally:
            process.terminate()
