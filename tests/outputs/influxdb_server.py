"""A real InfluxDB server of version 1."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.experiment.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def influxdb_server(folder: Path) -> Iterator[str]:
    """A real server of version 1 with a database load; its URL. The same port takes lines by UDP."""
    program = shutil.which("influxd")
    if program is None:
        pytest.skip("no influxd (Debian: apt-get install influxdb)")
    port, other = free_port(), free_port()
    (folder / "influxdb.conf").write_text(
        "reporting-disabled = true\n"
        f'bind-address = "127.0.0.1:{other}"\n'
        f'[meta]\n  dir = "{folder}/meta"\n'
        f'[data]\n  dir = "{folder}/data"\n  wal-dir = "{folder}/wal"\n'
        f'[http]\n  bind-address = "127.0.0.1:{port}"\n  log-enabled = false\n'
        f'[[udp]]\n  enabled = true\n  bind-address = "127.0.0.1:{port}"\n  database = "load"\n'
        '  batch-timeout = "10ms"\n'
    )
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([program, "-config", f"{folder}/influxdb.conf"], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(url))
            influx_rows(url, "CREATE DATABASE load")
            yield url
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ping"):
            return True
    except OSError:
        return False


def influx_rows(url: str, statement: str) -> list[dict[str, Any]]:
    """Rows: their columns and tags."""
    data = urllib.parse.urlencode({"db": "load", "q": statement}).encode()
    try:
        with urllib.request.urlopen(f"{url}/query", data) as reply:
            (result,) = json.load(reply)["results"]
    except urllib.error.HTTPError as error:
        raise AssertionError(error.read()) from error
    assert "error" not in result, result
    return [
        {**series.get("tags", {}), **dict(zip(series["columns"], values, strict=True))}
        for series in result.get("series", ())
        for values in series["values"]
    ]
