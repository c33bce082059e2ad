"""Runs in a store, and a server that tells of them over a real socket."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests
import uvicorn
from starlette.applications import Starlette

from plimsoll.record import Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.server.answers import ON_ERROR
from plimsoll.server.app import history_routes
from plimsoll.server.history.open_store import OpenStore
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC
FINE = {"lost_workers": 0, "clock_step_ms": 0.0}
TIMEOUT_S = 60.0


class HistoryClient:
    """The history of a store: served("get", "/api/runs", tag="x") is its answer."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, method: str, path: str, body: Any = None, /, **parameters: Any) -> requests.Response:
        return requests.request(method, self.url + path, params=parameters, json=body, timeout=TIMEOUT_S)

    def get(self, path: str, **parameters: Any) -> Any:
        """What is answered, if that is fine."""
        answer = self("get", path, **parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, status: int, method: str, path: str, body: Any = None, /, **parameters: Any) -> str:
        """Why it is not, with this status."""
        answer = self(method, path, body, **parameters)
        problem = answer.json()
        assert (answer.status_code, set(problem)) == (status, {"error", "field", "others"}), answer.text
        return str(problem["error"])


@contextmanager
def serve_history(location: str) -> Iterator[HistoryClient]:
    place = OpenStore(location)
    app = Starlette(routes=list(history_routes(place)), exception_handlers=ON_ERROR)
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive()
        yield HistoryClient(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(TIMEOUT_S)
        place.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_location(request, tmp_path) -> str:
    """Where a store may be made, on both databases."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return str(request.getfixturevalue("postgresql_url"))


@pytest.fixture
def store_file(tmp_path) -> str:
    """Where a store may be made, for what is the same on both."""
    return str(tmp_path / "runs.db")


@pytest.fixture
def store_run(make_interval, make_health) -> Callable[..., str]:
    """keep(location or open store, minute, ms=…): a run of ten requests in each of three seconds; its id."""

    def make(
        store_location: str | Store,
        minute: int = 0,
        *,
        ms: float = 10.0,
        status: str | None = "finished",
        experiment: str | None = None,
        facts: dict[str, Any] = FINE,
        **manifest: Any,
    ) -> str:
        started = NOON + 60 * minute
        kept = {
            "started": started,
            "users": 5,
            "model": "closed",
            "host": "http://127.0.0.1:8000",
            "scenario": {"name": "locustfile.py", "files": [{"path": "/home/ann/locustfile.py", "sha256": "0" * 64}]},
            "git": {"commit": "c0ffee" + "0" * 34, "dirty": False},
            **manifest,
        }
        with Store.open(store_location) if isinstance(store_location, str) else _as_it_is(store_location) as store:
            writer = store.start_run(Manifest.from_json(kept), experiment=experiment)
            failures = [Failure("GET", "/", "http", "500 Server Error", 1, started, started)]
            for second in range(3):
                intervals = [
                    make_interval([ms] * 9, second=second),
                    make_interval([ms], second=second, outcome="http"),
                ]
                writer.commit(intervals, [make_health(second, users=5, delay_us=[3])], failures)
            if status is not None:
                writer.finish(status, started + 3, facts=RunFacts.from_json(facts))
            return writer.id

    return make


@contextmanager
def _as_it_is(store: Store) -> Iterator[Store]:
    yield store
