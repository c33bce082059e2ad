"""What every build of the service must do alike, and what each must do differently."""

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from labs.environment import PYTHON
from labs.todos import seed, tell
from labs.todos.lab import FOLDER
from labs.todos.postgres import Cluster
from labs.todos.service import TodosService
from labs.todos.target.variants import CHAIN, VARIANTS, Handlers, Variant

pytestmark = pytest.mark.long

TODO = {"title": "Buy milk", "description": "Two litres, before the shop closes at six today"}
CREATED_AT = rb'"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"'


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


def variant_of(service: TodosService) -> Variant:
    return VARIANTS[service.variant()]


def ids(service: TodosService) -> list[int]:
    return [todo["id"] for todo in json.loads(call(service, "GET", "/todos/")[1])]


def wait_until_read(service: TodosService, id: int) -> bytes:
    """The todo as it is read, once the replica has it."""
    while (reply := call(service, "GET", f"/todos/{id}"))[0] == 404:
        time.sleep(0.02)
    return reply[1]


def test_a_created_todo_comes_back_alone_and_first_in_the_list(service: TodosService) -> None:
    call(service, "POST", "/todos/", TODO)
    status, body = call(service, "POST", "/todos/", TODO)
    created = json.loads(body)
    assert status == 201
    assert len(body) == 137, "the size of one todo, on which the size of a list rests"
    assert created.items() >= TODO.items()
    assert wait_until_read(service, created["id"]) == body
    listed = ids(service)
    assert listed[0] == created["id"]
    assert listed == sorted(listed, reverse=True)


def test_every_variant_lists_the_newest_first_in_the_same_bytes(service: TodosService) -> None:
    assert service.seed(300) == 300
    body = call(service, "GET", "/todos/")[1]
    limit = variant_of(service).limit or 300
    todo = '{"id":%d,"title":"Buy milk","description":"Two litres, before the shop closes at six today",CREATED_AT}'
    expected = "[" + ",".join(todo % id for id in range(10_299, 10_299 - limit, -1)) + "]"
    assert re.sub(CREATED_AT, b"CREATED_AT", body) == expected.encode()
    assert len(body) == {200: 27_601, 300: 41_401}[limit]


def test_every_variant_writes_the_same_json_and_the_same_complaints(service: TodosService) -> None:
    status, body = call(service, "POST", "/todos/", {"title": 'Käse "☃"', "description": "a\n\\ \u2028"})
    assert status == 201
    plain = re.sub(CREATED_AT, b"CREATED_AT", re.sub(rb'"id":\d{5}', b'"id":N', body))
    assert plain == '{"id":N,"title":"Käse \\"☃\\"","description":"a\\n\\\\ \u2028",CREATED_AT}'.encode()
    assert call(service, "GET", "/todos/1") == (404, b'{"detail":"no todo 1"}')
    status, body = call(service, "POST", "/todos/", {"title": "Buy milk"})
    assert status == 422
    assert json.loads(body)["detail"][0]["loc"] == ["body", "description"]


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


def test_many_users_at_once_are_counted_exactly(service: TodosService) -> None:
    rows, before = service.rows(), service.requests().get("POST /todos/", 0)
    # A blocking session in a coroutine waits for a free connection on the event loop, which then frees none.
    users = 20 if variant_of(service).handlers is Handlers.ASYNC_BLOCKING else 50
    with ThreadPoolExecutor(users) as pool:
        replies = list(pool.map(lambda _: call(service, "POST", "/todos/", TODO)[0], range(250)))
    assert replies == [201] * 250
    assert service.rows() == rows + 250
    assert service.requests()["POST /todos/"] == before + 250


@pytest.fixture
def resume_replica(cluster: Cluster) -> Iterator[Callable[[], None]]:
    """The replica applies nothing until this is called."""
    with psycopg.connect(f"postgresql://{cluster.replica}", autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        while connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() != ("paused",):
            time.sleep(0.02)
        try:
            yield lambda: resume(connection)
        finally:
            resume(connection)


def resume(replica: "psycopg.Connection[Any]") -> None:
    replica.execute("SELECT pg_wal_replay_resume()")


def test_only_variants_with_a_replica_read_from_it(service: TodosService, resume_replica: Callable[[], None]) -> None:
    created = json.loads(call(service, "POST", "/todos/", TODO)[1])["id"]
    missing = call(service, "GET", f"/todos/{created}")[0] == 404
    assert missing == (created not in ids(service)) == variant_of(service).replica
    resume_replica()
    wait_until_read(service, created)
    lag = json.loads(call(service, "GET", "/_lag")[1])
    assert lag >= 0 if variant_of(service).replica else lag == "no replica"


def test_the_dirty_table_hides_the_index_until_there_is_a_limit(service: TodosService) -> None:
    service.seed(500, of=4500)
    variant, plan = variant_of(service), service.plan()
    assert ("Limit" in plan) == (variant.limit is not None)
    assert ("Seq Scan on todos" in plan) != ("Index Scan using idx_todos_created_at" in plan)
    assert ("Index Scan" in plan) == (variant.index and variant.limit is not None)
    assert f"rows={variant.limit or 500} loops=1" in plan, "it was executed, and all were read"
    service.seed(1000)
    assert ("Index Scan" in service.plan()) == variant.index


def test_a_seed_leaves_as_many_as_asked_for_and_says_what_it_cannot_do(
    service: TodosService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLIMSOLL_URL", service.url)
    for words, said in ((["--rows", "7", "--of", "100"], "7 todos\n"), (["--rows", "0"], "0 todos\n")):
        monkeypatch.setattr(sys, "argv", ["seed", *words])
        assert (seed.main(), capsys.readouterr().out) == (0, said)
    monkeypatch.setattr(sys, "argv", ["seed", "--rows", "8", "--of", "7"])
    assert seed.main() == 1
    assert "cannot leave 8 todos of 7" in capsys.readouterr().err
    for what, said in (("explain", "on todos"), ("lag", " ms" if variant_of(service).replica else "no replica")):
        monkeypatch.setattr(sys, "argv", ["tell", what])
        assert tell.main() == 0
        assert said in capsys.readouterr().out


def test_the_programs_of_the_hooks_need_a_service_that_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PLIMSOLL_URL", raising=False)
    monkeypatch.setattr(sys, "argv", ["tell", "explain"])
    with pytest.raises(SystemExit) as ended:
        tell.main()
    assert ended.value.code == 2
    assert "which service?" in capsys.readouterr().err
    for program, words in ((tell, ["lag"]), (seed, ["--rows", "1"])):
        monkeypatch.setattr(sys, "argv", ["program", *words, "http://127.0.0.1:1"])
        assert program.main() == 1
        assert capsys.readouterr().err.startswith(f"todos {program.__name__.rpartition('.')[2]}: http://127.0.0.1:1: ")


RESPONSE_CLASSES = """
import json
from target.app import todos_router
from target.settings import Settings
from target.variants import VARIANTS
url = "postgresql+psycopg://nobody@127.0.0.1:1/none"
routers = {name: todos_router(Settings(url, url, variant)) for name, variant in VARIANTS.items()}
def names(router):
    return sorted({getattr(route.response_class, "value", route.response_class).__name__ for route in router.routes})
print(json.dumps({name: names(router) for name, router in routers.items()}))
"""


def test_orjson_writes_the_replies_of_those_variants_that_say_so() -> None:
    done = subprocess.run([PYTHON, "-c", RESPONSE_CLASSES], cwd=FOLDER, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        name: ["OrjsonResponse" if variant.orjson else "JSONResponse"] for name, variant in VARIANTS.items()
    }


def test_each_step_of_the_chain_changes_one_thing_but_for_the_index_that_comes_and_goes() -> None:
    def factors(variant: Variant) -> dict[str, object]:
        return {"handlers": variant.handlers, "replica": variant.replica, "orjson": variant.orjson,
                "limit": variant.limit, "index": variant.index}  # fmt: skip

    names = [variant.name for variant in CHAIN]
    assert names == ["baseline", "index", "replica", "async", "orjson", "limit", "limit-index"]
    changed = [
        {factor for factor, value in factors(after).items() if value != factors(before)[factor]}
        for before, after in pairwise(CHAIN)
    ]
    assert changed == [{"index"}, {"index", "replica"}, {"handlers"}, {"orjson"}, {"limit"}, {"index"}]
