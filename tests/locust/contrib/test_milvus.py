"""With stand-ins for pymilvus and gRPC, which are as large as the rest of the environment together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
import sys, types
patched, asked = [], []
class MilvusClient:
    def __init__(self, **settings):
        asked.append(settings)
    def search(self, collection_name, data, anns_field, filter, limit, search_params, output_fields):
        assert (collection_name, anns_field, output_fields) == ("goods", "vector", ["id"])
        return [[{"id": n} for n in range(limit)]]
    def query(self, **_):
        return []
    def insert(self, collection_name, data):
        raise RuntimeError(f"{collection_name} is full of {data}")
    def close(self):
        asked.append("closed")
for name, content in {"grpc": {}, "grpc.experimental": {}, "pymilvus": {"MilvusClient": MilvusClient},
                      "grpc.experimental.gevent": {"init_gevent": lambda: patched.append(1)}}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)

from locust.contrib.milvus import MilvusUser
assert patched == [1]
class Searcher(MilvusUser):
    def __init__(self, environment):
        super().__init__(environment, uri="http://127.0.0.1:1", collection_name="goods")
user = Searcher(environment)
found = user.search([[1.0]], "vector", 4, calculate_recall=True, ground_truth=[0, 1, 2, 9, 9])
assert found["recall"] == 0.75
assert user.query("id > 1")["empty"]
assert str(user.insert([7])["exception"]) == "goods is full of [7]"
user.on_stop()
assert asked == [
    {"uri": "http://127.0.0.1:1", "token": "root:Milvus", "db_name": "default", "timeout": 60}, "closed"
], asked
"""


def test_operations_are_reported_and_the_recall_as_one_of_them(run_code: Callable[..., list[RecordedRequest]]) -> None:
    search, recall, query, insert = run_code(CODE)
    assert [(each.type, each.name) for each in (search, query, insert)] == [
        ("milvus", "search"),
        ("milvus", "query"),
        ("milvus", "insert"),
    ]
    assert (recall.name, recall.time) == ("recall", 75)
    assert (query.error, insert.error) == (None, "goods is full of [7]")
