"""What responses say of the parts of their time, from the header to the store and the report."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from plimsoll._engine import Histogram
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.server_timing import MOST, SOURCE, ServerTimings
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from plimsoll.record import PartTuple


class _Timed(BaseHTTPRequestHandler):
    """Says the same of each response, in two headers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200 if self.path != "/plain" else 204)
        self.send_header("Content-Length", "0")
        if self.path != "/plain":
            self.send_header("Server-Timing", 'db;dur=1.5, app;desc="a, b";dur=3')
            self.send_header("server-timing", "cache;dur=0.25, miss")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Timed)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


USERS = """
from locust import FastHttpUser, HttpUser, task

class A(HttpUser):
    fixed_count = 1
    @task
    def f(self):
        self.client.get("/timed")
        self.client.get("/plain")

class B(FastHttpUser):
    fixed_count = 1
    @task
    def f(self):
        self.client.get("/fast")
"""


def _plan(folder: Path) -> list[str]:
    file = folder / "plan.toml"
    file.write_text('[[request]]\nname = "native"\nget = "/timed"\n')
    return [str(file)]


def _locustfile(folder: Path) -> list[str]:
    file = folder / "users.py"
    file.write_text(USERS)
    return ["-f", str(file)]


@pytest.mark.parametrize("make", [_plan, _locustfile])
def test_parts_are_counted_once_per_response_whoever_sends(
    make: Callable[[Path], list[str]], url: str, tmp_path: Path
) -> None:
    words = ["run", *make(tmp_path), "-H", url, "-u", "2", "-r", "2", "-t", "2s", "--headless", "--only-summary"]
    command = [sys.executable, "-m", "plimsoll", *words, "--store", str(tmp_path / "store.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store.open(str(tmp_path / "store.db"), create=False) as store:
        run = store.run("last")
        sent = {f"{each.method} {each.name}": 0 for each in run.intervals()}
        for each in run.intervals():
            sent[f"{each.method} {each.name}"] += each.count
        parts = run.facts.observed[SOURCE].parts
        series = {each.name: each for each in run.observed()}
    sent.pop("GET /plain", None)
    assert {(work.service, work.name) for work in parts} == {
        (name, part) for name in sent for part in ("db", "app", "cache")
    }
    for work in parts:
        mean = {"db": 1.5, "app": 3.0, "cache": 0.25}[work.name]
        # A response that a user was cut off from at the end was still read, or not.
        assert sent[work.service] - 2 <= work.calls <= sent[work.service]
        assert work.ms == pytest.approx(mean * work.calls)
        assert work.p95 == pytest.approx(mean, rel=0.01)
    for name in sent:
        assert series[f"db of {name}"].unit == "ms"
        assert set(series[f"db of {name}"].values) == {1.5}


def _second(parts: list[PartTuple], elapsed: float) -> Progress:
    return Progress(Batch(parts=parts), RunView(0.0, "success"), 0.0, elapsed, elapsed, None, 1, 1, 1, "running")


def _said(name: str, part: str, *micros: int) -> PartTuple:
    durations = Histogram()
    for each in micros:
        durations.record(each)
    return "GET", name, part, sum(micros) * 1000, durations.encode()


def test_workers_and_seconds_add_up() -> None:
    timings = ServerTimings()
    timings.second(_second([_said("/a", "db", 1000, 3000), _said("/a", "db", 5000)], 1.0))
    timings.second(_second([], 2.0))
    timings.second(_second([_said("/a", "db", 7000)], 3.0))
    found = timings.finish()
    (part,) = found.facts[SOURCE].parts
    assert (part.service, part.calls, part.ms) == ("GET /a", 4, 16.0)
    (series,) = found.series
    assert (series.seconds.tolist(), series.values.tolist()) == ([1.0, 3.0], [3.0, 7.0])


def test_a_reset_leaves_out_what_was_said_before_it() -> None:
    timings = ServerTimings()
    timings.second(_second([_said("/a", "db", 1000), _said("/a", "app", 1000)], 1.0))
    timings.reset_at(2)
    timings.second(_second([_said("/a", "db", 9000)], 3.0))
    assert [(work.name, work.ms) for work in timings.finish().facts[SOURCE].parts] == [("db", 9.0)]


def test_there_is_an_end_to_their_number_and_a_note_says_so() -> None:
    timings = ServerTimings()
    timings.second(_second([_said("/a", f"p{number}", 1000) for number in range(MOST + 7)], 1.0))
    found = timings.finish()
    assert len(found.facts[SOURCE].parts) == len(found.series) == MOST
    assert found.notes == (f"Server-Timing: only the first {MOST} of {MOST + 7} parts or more are kept",)


def test_nothing_is_said_of_a_target_that_says_nothing() -> None:
    found = ServerTimings().finish()
    assert (found.series, found.notes, dict(found.facts)) == ((), (), {})
