"""The vector database Milvus over pymilvus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.locust.contrib.vector import Result, VectorClient, VectorUser, reported
from plimsoll.users.events import events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.locust.environment import Environment

# Without this a gRPC call would block all users of the process.
library("grpc.experimental.gevent", "pymilvus").init_gevent()
MilvusClient: Any = library("pymilvus", "pymilvus").MilvusClient


class MilvusV2Client(VectorClient):
    """One collection. Every operation returns a `Result`."""

    def __init__(
        self,
        uri: str,
        collection_name: str,
        token: str = "root:Milvus",
        db_name: str = "default",
        timeout: int = 60,
    ) -> None:
        self.uri = uri
        self.collection_name = collection_name
        self.token = token
        self.db_name = db_name
        self.timeout = timeout
        self.client = MilvusClient(uri=uri, token=token, db_name=db_name, timeout=timeout)

    def create_collection(self, schema: Any, index_params: Any, **kwargs: Any) -> None:
        self.client.create_collection(
            collection_name=self.collection_name, schema=schema, index_params=index_params, **kwargs
        )

    def insert(self, data: Any) -> Result:
        return self._attempt("insert", data=data)

    def upsert(self, data: Any) -> Result:
        return self._attempt("upsert", data=data)

    def search(
        self,
        data: Any,
        anns_field: str,
        limit: int,
        filter: str = "",
        search_params: Any = None,
        output_fields: Sequence[str] | None = None,
        calculate_recall: bool = False,
        ground_truth: Sequence[Any] | None = None,
    ) -> Result:
        """calculate_recall: the result of a successful search has recall, the share of the first `limit` ids of
        ground_truth that it found."""
        result = self._attempt(
            "search",
            _nothing_found,
            data=data,
            anns_field=anns_field,
            filter=filter,
            limit=limit,
            search_params=search_params,
            output_fields=["id"] if output_fields is None else output_fields,
        )
        if calculate_recall and ground_truth is not None and result["success"]:
            result["recall"] = self.get_recall(result["result"], ground_truth, limit)
        return result

    def hybrid_search(self, reqs: Any, ranker: Any, limit: int, output_fields: Sequence[str] | None = None) -> Result:
        fields = ["id"] if output_fields is None else output_fields
        arguments = {"reqs": reqs, "ranker": ranker, "limit": limit, "output_fields": fields, "timeout": self.timeout}
        return self._attempt("hybrid_search", _nothing_found, **arguments)

    def query(self, filter: str, output_fields: Sequence[str] | None = None) -> Result:
        fields = ["id"] if output_fields is None else output_fields
        return self._attempt("query", lambda found: len(found) == 0, filter=filter, output_fields=fields)

    def delete(self, filter: str) -> Result:
        return self._attempt("delete", filter=filter)

    @staticmethod
    def get_recall(search_results: Any, ground_truth: Sequence[Any], limit: int | None = None) -> float:
        """The share of the expected ids of the first query that it found; 0 without ids to compare."""
        if not search_results:
            return 0.0
        hits = search_results[0] if isinstance(search_results[0], list) else search_results
        found = {hit.get("id") for hit in hits if hasattr(hit, "get")}
        wanted = set(ground_truth[: len(found) if limit is None else limit])
        if not wanted or len(ground_truth) < (limit or 0):
            return 0.0
        return len(wanted & found) / len(wanted)


class MilvusUser(VectorUser):
    """Reports its methods as milvus, by their names. They return the results of `MilvusV2Client`.

    schema: creates the collection; kwargs go to create_collection.
    """

    abstract = True
    client_type = "milvus"

    def __init__(
        self,
        environment: Environment,
        uri: str = "http://localhost:19530",
        token: str = "root:Milvus",
        collection_name: str = "test_collection",
        db_name: str = "default",
        timeout: int = 60,
        schema: Any = None,
        index_params: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(environment)
        for name, value in (("uri", uri), ("collection_name", collection_name)):
            if value is None:
                raise ValueError(f"'{name}' must be provided for MilvusUser")
        self.client = MilvusV2Client(uri, collection_name, token, db_name, timeout)
        if schema is not None:
            self.client.create_collection(schema=schema, index_params=index_params, **kwargs)

    insert = reported(MilvusV2Client.insert)
    upsert = reported(MilvusV2Client.upsert)
    hybrid_search = reported(MilvusV2Client.hybrid_search)
    query = reported(MilvusV2Client.query)
    delete = reported(MilvusV2Client.delete)
    _search = reported(MilvusV2Client.search)

    def search(self, *args: Any, **kwargs: Any) -> Result:
        """Reports the recall as a separate request, with a percentage as response time."""
        result = self._search(*args, **kwargs)
        if "recall" in result:
            recall = int(result["recall"] * 100)
            events.request.fire(
                request_type=self.client_type, name="recall", response_time=recall, response_length=0, context={}
            )
        return result


def _nothing_found(found: Any) -> bool:
    """A search returns a list of hits per query."""
    return all(len(hits) == 0 for hits in found)
