"""Requests with a trace of their own, from the header to the store and the report."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from plimsoll.record import TracedRequest
from plimsoll.record.observed import ObservedSource
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.slow_requests import MOST, SlowRequests
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADER = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-01")


class _Target(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers: list[str | None] = []

    @property
    def traces(self) -> list[str]:
        """Those of requests with a good header."""
        found = [HEADER.fullmatch(each or "") for each in self.headers]
        return [each[1] for each in found if each]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        assert isinstance(self.server, _Target)
        self.server.headers.append(", ".join(self.headers.get_all("traceparent", [])) or None)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def target() -> Iterator[_Target]:
    server = _Target()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


USERS = """
from locust import FastHttpUser, HttpUser, task

OWN = {"traceparent": "00-11111111111111111111111111111111-2222222222222222-01"}

class A(HttpUser):
    fixed_count = 1
    @task
    def f(self):
        self.client.get("/a")
        self.client.post("/form", data={"a": "b"})
        self.client.get("/own", headers=OWN)

class B(FastHttpUser):
    fixed_count = 1
    @task
    def f(self):
        self.client.get("/fast")
"""


def _run(folder: Path, target: _Target, *words: str) -> dict[str, ObservedSource]:
    """What was observed."""
    load = ["-H", f"http://127.0.0.1:{target.server_port}", "-u", "2", "-r", "2", "-t", "2s"]
    command = [sys.executable, "-m", "plimsoll", "run", *words, *load, "--headless", "--only-summary"]
    done = subprocess.run(
        [*command, "--store", "store.db"], capture_output=True, text=True, check=False, timeout=60, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    with Store.open(str(folder / "store.db"), create=False) as store:
        return store.run("last").facts.observed or {}


@pytest.mark.parametrize("kind", ["plan", "locustfile"])
def test_each_request_has_a_trace_and_the_slowest_are_kept_with_theirs(
    kind: str, target: _Target, tmp_path: Path
) -> None:
    if kind == "plan":
        (tmp_path / "plan.toml").write_text('[[request]]\nname = "native"\nget = "/a"\n')
        words, names = ["plan.toml"], {"native"}
    else:
        (tmp_path / "users.py").write_text(USERS)
        words, names = ["-f", "users.py"], {"/a", "/form", "/fast", "/own"}
    slowest = _run(tmp_path, target, *words, "--traceparent")["traceparent"].slowest
    own = "1" * 32
    made = [each for each in target.traces if each != own]
    assert len(target.traces) == len(target.headers), "every request has one header, and a good one"
    assert len(made) == len(set(made))
    assert slowest is not None
    assert len(slowest) == min(MOST, len(made))
    assert {slow.trace for slow in slowest} <= set(made)
    assert {slow.name for slow in slowest} <= names - {"/own"}
    times = [slow.response_ms for slow in slowest]
    assert times == sorted(times, reverse=True)
    assert all(slow.server_ms is None and 0 <= slow.second < 10 for slow in slowest)
    assert (own in target.traces) == (kind == "locustfile")


def test_without_the_option_no_request_has_one(target: _Target, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('[[request]]\nname = "native"\nget = "/a"\n')
    assert "traceparent" not in _run(tmp_path, target, "plan.toml")
    assert set(target.headers) == {None}


def _slow(number: int, ms: float, second: float = 1.0) -> TracedRequest:
    return TracedRequest("GET", "/", "success", f"{number:032x}", second, ms, ms)


def _second(*slowest: TracedRequest) -> Progress:
    return Progress(
        Batch(traced=list(slowest)), RunView(0.0, "success"), 0.0, 1.0, 1.0, None, 1, 1, 1, "running"
    )  # fmt: skip


def test_the_slowest_of_all_seconds_are_kept_and_what_a_reset_leaves_out_is_not() -> None:
    slow = SlowRequests(lambda _: None)
    slow.second(_second(*(_slow(number, float(number)) for number in range(15))))
    slow.second(_second(*(_slow(number, float(number), 2.5) for number in range(15, 30))))
    (kept,) = slow.finish().facts.values()
    assert [request.response_ms for request in kept.slowest] == [float(each) for each in range(29, 9, -1)]
    slow.reset_at(2)
    (kept,) = slow.finish().facts.values()
    assert [request.response_ms for request in kept.slowest] == [float(each) for each in range(29, 14, -1)]
    slow.reset_at(3)
    assert not slow.finish().facts


def test_what_the_target_took_is_looked_up_when_it_is_known_and_not_lost_when_it_is_forgotten() -> None:
    known: dict[str, float] = {}
    slow = SlowRequests(known.get)
    first, late = _slow(1, 20.0), _slow(2, 10.0)
    slow.second(_second(first, late))
    known[first.trace] = 15.0
    slow.second(_second())
    known.clear()
    known[late.trace] = 7.0
    (kept,) = slow.finish().facts.values()
    assert [request.server_ms for request in kept.slowest] == [15.0, 7.0]
