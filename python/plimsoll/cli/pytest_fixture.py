"""The fixture `load_test` of pytest: load a URL or an application for some seconds, and assert thresholds.

Pytest imports this module wherever Plimsoll is installed, so it imports little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

READY_S = 20.0
"""For an application to start."""
_CODES = {1: "a threshold was broken", 3: "the load was not the load asked for, so its numbers say nothing"}


@dataclass(frozen=True, slots=True)
class LoadTestResult:
    """What a load test measured."""

    summary: dict[str, Any]
    """The document "plimsoll.run", as docs/formats.md describes it."""

    @property
    def requests(self) -> int:
        return int(self.summary["total"]["requests"])

    @property
    def failures(self) -> int:
        return int(self.summary["total"]["failures"])


class LoadTest:
    """Runs load tests of one test function. The runs are kept in `store`."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "plimsoll.db"
        self._summary = folder / "summary.json"

    def __call__(
        self,
        target: str | Callable[..., Any],
        path: str = "/",
        *,
        users: int | None = None,
        rate: str | None = None,
        time: str = "5s",
        warmup: str | None = None,
        thresholds: Sequence[str] = ("errors < 1%",),
        options: Sequence[str] = (),
    ) -> LoadTestResult:
        """Load a URL, or `path` of an ASGI or WSGI application, which is served on a free port of this machine.

        users: as many, 10 by default; rate: "100/s" arrivals instead. time: how long. thresholds: as "p99 < 200ms".
        options: further ones of `plimsoll run`. The test fails when a threshold is broken, when the load was not the
        load asked for, and when an argument is wrong.
        """
        __tracebackhide__ = True
        words = ["--rate", rate] if rate is not None else ["-u", str(users or 10), "-r", str(users or 10)]
        words += ["-t", time, *(["--warmup", warmup] if warmup is not None else [])]
        words += [word for each in thresholds for word in ("--threshold", each)]
        if isinstance(target, str):
            return self._run(target, [*words, *options])
        with served(target) as url:
            return self._run(f"{url}{path}", [*words, *options])

    def _run(self, url: str, words: list[str]) -> LoadTestResult:
        __tracebackhide__ = True
        command = [sys.executable, "-m", "plimsoll", "run", url, "--headless", "--only-summary", *words]
        command += ["--store", str(self.store), "--summary", str(self._summary)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 2:
            pytest.fail(done.stderr.strip(), pytrace=False)
        if done.returncode:
            why = _CODES.get(done.returncode, f"exit code {done.returncode}")
            pytest.fail(f"{url}: {why}\n\n{done.stdout.strip() or done.stderr.strip()}", pytrace=False)
        return LoadTestResult(json.loads(self._summary.read_text(encoding="utf-8")))


@pytest.fixture
def load_test(tmp_path: Path) -> LoadTest:
    """Load a URL or an ASGI or WSGI application for some seconds, and assert thresholds."""
    return LoadTest(tmp_path)


@contextmanager
def served(application: Callable[..., Any]) -> Iterator[str]:
    """The URL of an ASGI or WSGI application while it is served, by uvicorn or by the standard library."""
    serve = _served_asgi if is_asgi(application) else _served_wsgi
    with serve(application) as port:
        yield f"http://127.0.0.1:{port}"


def is_asgi(application: Callable[..., Any]) -> bool:
    """Whether its call is a coroutine: WSGI's is none."""
    return iscoroutinefunction(application) or iscoroutinefunction(getattr(application, "__call__", None))  # noqa: B004


@contextmanager
def _served_asgi(application: Callable[..., Any]) -> Iterator[int]:
    import uvicorn

    config = uvicorn.Config(application, host="127.0.0.1", port=0, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + READY_S
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                pytest.fail("the application did not start", pytrace=False)
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(READY_S)


@contextmanager
def _served_wsgi(application: Callable[..., Any]) -> Iterator[int]:
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        request_queue_size = 128

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    with make_server("127.0.0.1", 0, application, server_class=Server, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(READY_S)
