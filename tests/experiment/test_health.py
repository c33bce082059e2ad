from __future__ import annotations

import base64
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from tests.experiment.real_cells import TIMEOUT_S, python

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.health import below, get, value_of, wait_until_healthy
from plimsoll.experiment.spec import Healthy
from plimsoll.run.supervised.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Clock:
    """Goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += max(seconds, 1e-6)


class Answers(ThreadingHTTPServer):
    """Answers with these statuses in turn, the last one again and again."""

    daemon_threads = True

    def __init__(self, *statuses: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses = list(statuses)
        self.requests: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Answers

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["Authorization"]))
        status = self.server.statuses.pop(0) if len(self.server.statuses) > 1 else self.server.statuses[0]
        self.send_response(status)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b" 42\n")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answers]:
    with Answers(200) as answers:
        thread = threading.Thread(target=answers.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield answers
        answers.shutdown()
        thread.join()


def test_it_is_asked_until_it_is_well(server: Answers) -> None:
    clock = Clock()
    server.statuses = [503, 404, 503, 204]
    wait_until_healthy(Healthy(path="/ready"), server.url, None, clock=clock, sleep=clock.sleep)
    assert [path for path, _ in server.requests] == ["/ready"] * 4
    assert clock.sleeps == sorted(clock.sleeps)


def test_without_a_path_any_answer_will_do(server: Answers) -> None:
    server.statuses = [404]
    wait_until_healthy(Healthy(), server.url, None)
    assert len(server.requests) == 1


def test_the_time_limit_is_kept_and_what_it_answered_is_told(server: Answers) -> None:
    clock = Clock()
    server.statuses = [503]
    with pytest.raises(CellError) as caught:
        wait_until_healthy(Healthy(path="/ready", within=3.0), server.url, None, clock=clock, sleep=clock.sleep)
    assert str(caught.value) == f"the target is not healthy after 3 s: GET {server.url}/ready answers 503"
    assert sum(clock.sleeps) == pytest.approx(3.0)


def test_nobody_there_is_a_reason(tmp_path: Path) -> None:
    clock = Clock()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(CellError, match=rf"GET http://127.0.0.1:{port}/: Connection refused"):
        wait_until_healthy(Healthy("/", within=1.0), f"http://127.0.0.1:{port}", None, clock=clock, sleep=clock.sleep)


def test_what_is_not_http_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _address = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(OSError, match="the answer is not HTTP"):
            get(f"http://127.0.0.1:{listener.getsockname()[1]}", TIMEOUT_S)
        thread.join()


def test_a_process_that_has_ended_is_not_waited_for(server: Answers, tmp_path: Path, process_mark: str) -> None:
    """Although somebody answers: it is not the one that was started."""
    with Process(python("print('port is taken'); raise SystemExit(9)"), output=tmp_path / "log") as process:
        assert process.wait(TIMEOUT_S)
        with pytest.raises(CellError) as caught:
            wait_until_healthy(Healthy(within=TIMEOUT_S), server.url, process)
    assert caught.value.one_line == (
        "the target ended before it was healthy: exit status 9; its last line: port is taken"
    )
    assert caught.value.command == process.command


def test_a_command_may_be_asked_instead() -> None:
    clock = Clock()
    answers = ["connection refused", "still starting", ""]
    asked: list[float] = []

    def ask(seconds: float) -> str:
        asked.append(seconds)
        return answers.pop(0)

    healthy = Healthy(command=("pg_isready",), within=5.0)
    wait_until_healthy(healthy, "http://nowhere.invalid", None, ask, clock=clock, sleep=clock.sleep)
    assert answers == []
    assert asked[0] == 5.0
    assert asked[0] > asked[1] > asked[2]


def test_questions_go_to_the_target_itself(server: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert get(server.url).text == " 42\n"


def test_user_and_password_of_the_url_are_told(server: Answers) -> None:
    get(server.url.replace("http://", "http://me:s%40cret@"))
    assert server.requests == [("/", "Basic " + base64.b64encode(b"me:s@cret").decode())]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42), ("4.5\n", 4.5), ('"index"', "index"), (" v1.2 \n", "v1.2"), ("true", "true"), ("[1]", "[1]"),
        ("", ""), ("1e3", 1000.0), ("null", "null"),
    ],
)  # fmt: skip
def test_a_value_is_a_number_or_text(text: str, value: float | str) -> None:
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("url", "path", "place"),
    [
        ("http://h", "/a", "http://h/a"),
        ("http://h/", "/a", "http://h/a"),
        ("http://h/api", "/a?b=1", "http://h/api/a?b=1"),
    ],
)
def test_paths_are_below_the_url(url: str, path: str, place: str) -> None:
    assert below(url, path) == place
