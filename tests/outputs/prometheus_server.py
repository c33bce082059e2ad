"""A real Prometheus server."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.experiment.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NEWEST = Path(__file__).parents[2] / "target" / "prometheus"
"""`make prometheus` builds it: twenty minutes of CPU."""


class PrometheusServer:
    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str, at: float | None = None) -> dict[tuple[tuple[str, str], ...], float]:
        """The vector that an expression gives, by labels without instance and job. at: Unix time."""
        return {
            tuple(sorted((name, value) for name, value in row["metric"].items() if name not in ("instance", "job"))):
            float(row["value"][1]) for row in self._result(expression, at)
        }  # fmt: skip

    def samples(self, expression: str, at: float) -> dict[tuple[tuple[str, str], ...], list[tuple[float, float]]]:
        """Times and values of a range of each series, by all labels."""
        return {
            tuple(sorted(row["metric"].items())): [(time, float(value)) for time, value in row["values"]]
            for row in self._result(expression, at)
        }

    def _result(self, expression: str, at: float | None) -> list[dict[str, Any]]:
        asked = {"query": expression, **({"time": str(at)} if at is not None else {})}
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{urllib.parse.urlencode(asked)}") as reply:
            result: list[dict[str, Any]] = json.load(reply)["data"]["result"]
        return result

    def value(self, expression: str, at: float | None = None) -> float:
        (value,) = self.query(expression, at).values()
        return value

    def exemplars(self, selector: str, start: float, end: float) -> list[dict[str, Any]]:
        """Exemplars of all series between these times, each with its series."""
        asked = urllib.parse.urlencode({"query": selector, "start": str(start), "end": str(end)})
        with urllib.request.urlopen(f"{self.url}/api/v1/query_exemplars?{asked}") as reply:
            found = json.load(reply)["data"]
        return [{**row, "series": series["seriesLabels"]} for series in found for row in series["exemplars"]]

    def is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready") as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


@contextmanager
def prometheus_server(
    folder: Path,
    scraped: Mapping[str, Any] | None = None,
    features: str = "exemplar-storage",
    *,
    is_newest: bool = False,
) -> Iterator[PrometheusServer]:
    """It takes remote writes. scraped: a job that it scrapes every second. features: with commas between. is_newest: a
    server that takes remote write 2.0. Skips the test without the program."""
    program = NEWEST if is_newest else shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus (Debian: apt-get install prometheus)")
    if program == NEWEST and not NEWEST.exists():
        pytest.skip("no prometheus of version 3: make prometheus")
    jobs = [{"job_name": "plimsoll", **scraped}] if scraped else []
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    command = [
        program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error", "--web.enable-remote-write-receiver",
        f"--enable-feature={features}",
    ]  # fmt: skip
    with subprocess.Popen(command) as process:
        server = PrometheusServer(f"http://127.0.0.1:{port}")
        try:
            wait_until(server.is_up)
            yield server
        finally:
            process.terminate()
