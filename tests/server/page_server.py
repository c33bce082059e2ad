"""A page that is served over a real socket, what it may do, and runs that are told to it second by second."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import requests

from plimsoll._engine import Histogram
from plimsoll.errors import NotNowError
from plimsoll.locust.web.swarm_routes import routes
from plimsoll.record import CaughtException, Failure, Health, Interval
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.plan import RunPlan
from plimsoll.server.app import make_app
from plimsoll.server.control.form_items import form_shapes
from plimsoll.server.live.live import Live
from plimsoll.server.messages import Argument, Form, RunRequest, TaskRatio, UserClassItem
from plimsoll.server.security.access import Access
from plimsoll.server.serving import PageServer
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TIMEOUT_S = 60.0
NOON = 1_795_176_000.0


class FakeControl:
    """A Control that remembers what it was asked for. refusal: raised by everything that does something."""

    def __init__(self, **form: Any) -> None:
        plain: dict[str, Any] = {
            "source": "locustfile.py",
            "is_native": False,
            "classes": (UserClassItem("Visitor", 1.0, 0, ("index", "buy")), UserClassItem("Admin", 2.0, 0, ("look",))),
            "shape_classes": ("Waves",),
            "tags": ("slow",),
            "arguments": (
                Argument("tenant", "Tenant", "", "text", "acme"),
                Argument("key", "Key", "", "secret", ""),
                Argument("dry", "Dry", "", "checkbox", False),
                Argument("zones", "Zones", "", "multiple", ("a",), ("a", "b", "c")),
            ),
            "shapes": form_shapes(),
            "request": RunRequest(users=10, spawn_rate=2.0, host="http://user:hidden@127.0.0.1:8000"),
        }
        self.asked: list[tuple[str, Any]] = []
        self.refusal: Exception | None = None
        self._form = Form(**(plain | form))

    def form(self) -> Form:
        return self._form

    @property
    def joined(self) -> int:
        return 0

    def tasks(self) -> tuple[TaskRatio, ...]:
        buy = TaskRatio("Buy", 0.5, 0.25, (TaskRatio("pay", 1.0, 0.25),))
        return (TaskRatio("Visitor", 0.5, 0.5, (TaskRatio("index", 0.5, 0.25), buy)), TaskRatio("Admin", 0.5, 0.5))

    def configure(self, name: str, settings: Any) -> None:
        self._do("configure", (name, settings))

    def start(self, request: RunRequest) -> None:
        self._do("start", request)

    def change(self, change: Any) -> None:
        self._do("change", change)

    def stop(self) -> None:
        self._do("stop", None)

    def reset(self) -> None:
        self._do("reset", None)

    def _do(self, what: str, how: Any) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.asked.append((what, how))


RUN_IN_PROGRESS = NotNowError("a run is in progress")


@dataclass
class ServedPage:
    url: str
    server: PageServer
    session: requests.Session = field(default_factory=requests.Session)
    verify: str | bool = True

    @property
    def server_address(self) -> tuple[str, int]:
        host, port = self.url.split("/")[2].rsplit(":", 1)
        return host, int(port)

    def get(self, path: str, **more: Any) -> requests.Response:
        return self.ask("get", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> requests.Response:
        """With the token of the page."""
        token = self.json("api/state")["token"]
        headers = {"X-Plimsoll-Token": token, **more.pop("headers", {})}
        return self.ask("post", path, json=body if body is not None else {}, headers=headers, **more)

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        return self.session.request(method, self.url + path, timeout=TIMEOUT_S, verify=self.verify, **more)

    def json(self, path: str, **more: Any) -> Any:
        """What is answered, if that is fine."""
        answer = self.get(path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def stream(self, endpoint: Sequence[str] | None = None) -> EventStream:
        return EventStream(self, endpoint)


@contextmanager
def serve_page(live: Live | None = None, control: Any = None, **more: Any) -> Iterator[ServedPage]:
    """more: of make_app and PageServer."""
    served = {name: more.pop(name) for name in ("tls_cert", "tls_key") if name in more}
    host = more.pop("host", "127.0.0.1")
    defaults = {"store": ":none:", "access": Access(), "more_routes": routes}
    app = make_app(live=live, control=control, **{**defaults, **more})
    server = PageServer(app, host, 0, **served)
    url = server.start()
    page = ServedPage(url, server)
    try:
        yield page
    finally:
        page.session.close()
        server.stop()


class EventStream:
    """Server-sent events as they come: next() is (event, data), also of comments: ("", text)."""

    def __init__(self, page: ServedPage, endpoint: Sequence[str] | None = None) -> None:
        self._session = requests.Session()
        self._session.cookies.update(page.session.cookies)
        parameters = {} if endpoint is None else {"endpoint": json.dumps(list(endpoint))}
        how = {"stream": True, "timeout": TIMEOUT_S, "verify": page.verify}
        self.response = self._session.get(page.url + "api/live", params=parameters, **how)
        self.lines = self.response.iter_lines(chunk_size=None)

    def next(self) -> tuple[str, Any]:
        event, data = "", ""
        for line in self.lines:
            name, _, value = line.decode().partition(": ")
            if not line:
                return event, json.loads(data) if event else data
            match name:
                case "event":
                    event = value
                case "data":
                    data = value
                case "":
                    data = value
        raise EOFError

    def moment(self) -> Any:
        event, data = self.next()
        assert event == "moment", (event, data)
        return data

    def until(self, sequence: int) -> list[Any]:
        """All moments up to this one."""
        found = [self.moment()]
        while found[-1]["sequence"] < sequence:
            found.append(self.moment())
        return found

    def close(self) -> None:
        self.response.close()
        self._session.close()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LiveFeed:
    """A run that a `Live` is told of, as the coordinator would: one second after the other."""

    def __init__(self, live: Live, workers: int = 1, **plan: Any) -> None:
        self.live = live
        self.workers = workers
        self.plan = RunPlan(**{"locustfiles": ("/x/locustfile.py",), "host": "http://127.0.0.1:8000", **plan})
        self.view = RunView(self.plan.warmup, self.plan.times_of)
        self.number = 0
        self._second = -1

    def begin(self, number: int = 1, **more: Any) -> LiveFeed:
        self.live.preparing(self.plan, "locustfile.py", number, **more)
        self.live.start(NOON, "kernel")
        return self

    def second(self, times: Mapping[str, Sequence[float]] | None = None, **more: Any) -> None:
        """A second in which these endpoints were asked for (GET): ms of each request."""
        self._second += 1
        batch = Batch([interval(self._second, name, each) for name, each in (times or {}).items()])
        batch.health = [
            Health(self._second, n, micros(50), micros(100), users=5, cpu=0.25) for n in range(self.workers)
        ]
        self.report(batch, **more)

    def report(self, batch: Batch, **more: Any) -> None:
        seconds = self.view.add(batch.intervals, batch.health, batch.failures, batch.exceptions)
        said: dict[str, Any] = {
            "batch": batch,
            "view": self.view,
            "seconds": seconds,
            "started": NOON,
            "elapsed": self._second + 1.15,
            "loaded": self._second + 1.15,
            "left": 30.0,
            "users": 5 * self.workers,
            "wanted": 5 * self.workers,
            "workers": self.workers,
            "state": "running",
            "classes": {"Visitor": 5 * self.workers},
        }
        self.live.second(Progress(**(said | more)))

    def end(self, status: Any = "finished", exit_code: int = 0, message: str = "") -> None:
        self.live.over(status, self.view, assess(self.view, Manifest(), RunFacts(), "finished"), exit_code, message)


def interval(second: int, name: str, ms: Sequence[float], outcome: str = "success", method: str = "GET") -> Interval:
    found = Interval(second, method, name, outcome, count=len(ms), bytes_body=100 * len(ms))
    nanos = [round(each * 1e6) for each in ms]
    found.response_sum = found.service_sum = sum(nanos)
    found.response_min, found.response_max = min(nanos, default=0), max(nanos, default=0)
    found.response, found.service = micros(*(each // 1000 for each in nanos)), micros(*(each // 1000 for each in nanos))
    return found


def micros(*values: int) -> Histogram:
    histogram = Histogram()
    for each in values:
        histogram.record(each)
    return histogram


def failure(name: str, message: str, count: int = 1, outcome: str = "http") -> Failure:
    return Failure("GET", name, outcome, message, count, NOON, NOON + 1)


def caught_exception(message: str, traceback: str, count: int = 1, workers: Sequence[int] = (0,)) -> CaughtException:
    return CaughtException(message, traceback, count, set(workers))


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def wait_until(condition: Any) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def exchange_bytes(page: ServedPage, request: bytes) -> bytes:
    """What comes back for these very bytes, up to the end of the connection or of the head."""
    with socket.create_connection(page.server_address, timeout=TIMEOUT_S) as connection:
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer and (piece := connection.recv(65536)):
            answer += piece
        return answer


def in_thread(act: Any) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread
