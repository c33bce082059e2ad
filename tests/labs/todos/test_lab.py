import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from labs.todos.errors import LabError
from labs.todos.lab import TodosService, running_lab, running_service
from labs.todos.postgres import running_postgres

ROOT = Path(__file__).parents[3]
TODO = {"title": "Buy milk", "description": "Two litres, before the shop closes at six today"}


def call(service: TodosService, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Status and body of one request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(service.url + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_a_created_todo_comes_back_alone_and_first_in_the_list(service: TodosService) -> None:
    call(service, "POST", "/todos/", TODO)
    status, body = call(service, "POST", "/todos/", TODO)
    created = json.loads(body)
    assert status == 201
    assert len(body) == 137, "the size of one todo, on which the size of a list rests"
    assert created.items() >= TODO.items()
    assert json.loads(call(service, "GET", f"/todos/{created['id']}")[1]) == created
    ids = [todo["id"] for todo in json.loads(call(service, "GET", "/todos/")[1])]
    assert ids[0] == created["id"]
    assert ids == sorted(ids, reverse=True)


def test_every_request_is_counted_whatever_its_status(service: TodosService) -> None:
    before = service.requests()
    assert call(service, "GET", "/todos/1")[0] == 404
    assert call(service, "GET", "/todos/none")[0] == 422
    assert call(service, "DELETE", "/todos/1")[0] == 405
    assert call(service, "GET", "/elsewhere")[0] == 404
    after = service.requests()
    grown = {endpoint: after[endpoint] - before.get(endpoint, 0) for endpoint in after}
    assert {endpoint: count for endpoint, count in grown.items() if count} == {
        "GET /todos/{id}": 2,
        "DELETE /todos/{id}": 1,
        "GET /elsewhere": 1,
    }


def test_fifty_users_at_once_are_counted_exactly(service: TodosService) -> None:
    rows, before = service.rows(), service.requests().get("POST /todos/", 0)
    with ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: call(service, "POST", "/todos/", TODO)[0], range(250)))
    assert replies == [201] * 250
    assert service.rows() == rows + 250
    assert service.requests()["POST /todos/"] == before + 250


def test_only_the_limited_variant_limits_its_list(service: TodosService) -> None:
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: call(service, "POST", "/todos/", TODO), range(210)))
    rows, body = service.rows(), call(service, "GET", "/todos/")[1]
    assert rows > 200
    if service.variant() == "baseline":
        assert len(json.loads(body)) == rows
    else:
        assert len(json.loads(body)) == 200
        assert len(body) == 27_601


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with running_postgres() as address:
        yield address


def test_the_variant_decides_about_the_index(database: str) -> None:
    found = []
    for variant in ("baseline", "async-index-limit"):
        with (
            running_service(f"postgresql+psycopg://{database}", variant, 0),
            psycopg.connect(f"postgresql://{database}") as connection,
        ):
            found.append(
                connection.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%created_at DESC%'").fetchone()
            )
    assert found == [(0,), (1,)]


def test_a_port_in_use_is_an_error_in_words(database: str, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(LabError, match="did not start"),
            running_service(f"postgresql+psycopg://{database}", "baseline", port),
        ):
            pass
    assert "Address already in use" in capfd.readouterr().err


def test_an_unknown_variant_is_answered_with_those_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LabError, match="did not start"), running_lab("fastest"):
        pass
    assert "'fastest'; there are: baseline, async-index-limit" in capfd.readouterr().err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_lab_is_the_end_of_all_it_started(
    how: signal.Signals, wait_until_gone: Callable[[int], None]
) -> None:
    lab = subprocess.Popen([sys.executable, "-m", "labs.todos.lab"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert lab.stdout is not None
    assert lab.stdout.readline().startswith("baseline at http://127.0.0.1:")
    family = descendants(lab.pid)
    assert len(family) >= 4, "two leashes, the server and the service"
    lab.send_signal(how)
    lab.wait()
    for pid in family:
        wait_until_gone(pid)
    lab.stdout.close()


def descendants(pid: int) -> set[int]:
    children = {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    return children.union(*(descendants(child) for child in children))
