"""On the client's own store in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
from qdrant_client.models import Distance, Filter, PointIdsList, PointStruct, VectorParams
from locust.contrib.qdrant import QdrantUser
class Searcher(QdrantUser):
    url = None
    client_kwargs = {"location": ":memory:"}
    collection_name = "goods"
    vectors_config = VectorParams(size=2, distance=Distance.DOT)
user = Searcher(environment)
assert user.search([1.0, 0.0])["empty"]
assert user.upsert([PointStruct(id=n, vector=[float(n), 0.0]) for n in (1, 2)])["success"]
found = user.search([1.0, 0.0], limit=1)
assert found["success"] and [each.id for each in found["result"].points] == [2]
page = user.scroll(limit=1)
assert page["success"] and page["result"][0].id == 1 and page["next_offset"] == 2
assert user.delete(PointIdsList(points=[1, 2]))["success"]
assert not user.search([1.0])["success"]
user.on_stop()
class Nameless(QdrantUser):
    pass
try:
    Nameless(environment)
except ValueError as error:
    assert str(error) == "'collection_name' must be provided for QdrantUser"
else:
    raise AssertionError
"""


def test_operations_are_reported_and_return_what_became_of_them(run_code: Callable[..., list[RecordedRequest]]) -> None:
    requests = run_code(CODE)
    assert {each.type for each in requests} == {"qdrant"}
    assert [each.name for each in requests] == ["search", "upsert", "search", "scroll", "delete", "search"]
    assert [each.error is None for each in requests] == [True] * 5 + [False]
    assert all(each.time > 0 for each in requests)
