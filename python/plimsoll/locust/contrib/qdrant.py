"""The vector database Qdrant over qdrant-client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.locust.contrib.vector import Result, VectorClient, VectorUser, reported

if TYPE_CHECKING:
    from plimsoll.locust.environment import Environment

QdrantClient: Any = library("qdrant_client", "qdrant-client").QdrantClient


class QdrantLocustClient(VectorClient):
    """One collection. kwargs go to QdrantClient."""

    def __init__(
        self, url: str, collection_name: str, api_key: str | None = None, timeout: int = 60, **kwargs: Any
    ) -> None:
        self.url = url
        self.collection_name = collection_name
        self.api_key = api_key
        self.timeout = timeout
        self.client = QdrantClient(url=url, api_key=api_key, timeout=timeout, **kwargs)

    def create_collection(self, vectors_config: Any, **kwargs: Any) -> None:
        """Does nothing if it exists."""
        if not self.client.collection_exists(collection_name=self.collection_name):
            self.client.create_collection(collection_name=self.collection_name, vectors_config=vectors_config, **kwargs)

    def upsert(self, points: Any) -> Result:
        return self._attempt("upsert", points=points)

    def search(
        self,
        query: Any,
        limit: int = 10,
        query_filter: Any = None,
        search_params: Any = None,
        with_payload: Any = True,
    ) -> Result:
        return self._attempt(
            "query_points",
            lambda found: not found.points,
            query=query,
            limit=limit,
            query_filter=query_filter,
            search_params=search_params,
            with_payload=with_payload,
        )

    def scroll(self, scroll_filter: Any = None, limit: int = 10, with_payload: Any = True) -> Result:
        """The result also has next_offset."""
        arguments = {"scroll_filter": scroll_filter, "limit": limit, "with_payload": with_payload}
        result = self._attempt("scroll", lambda found: not found[0], **arguments)
        if "result" in result:
            result["result"], result["next_offset"] = result["result"]
        return result

    def delete(self, points_selector: Any) -> Result:
        return self._attempt("delete", points_selector=points_selector)


class QdrantUser(VectorUser):
    """Reports its methods as qdrant, by their names. They return the results of `QdrantLocustClient`."""

    abstract = True

    url: str = "http://localhost:6333"
    api_key: str | None = None
    collection_name: str | None = None
    timeout: int = 60
    """Seconds."""
    vectors_config: Any = None
    """If set, a missing collection is created."""
    client_kwargs: dict[str, Any] | None = None
    """More arguments of QdrantClient."""
    collection_kwargs: dict[str, Any] | None = None
    """More arguments of create_collection."""

    client_type = "qdrant"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        if self.collection_name is None:
            raise ValueError("'collection_name' must be provided for QdrantUser")
        self.client = QdrantLocustClient(
            url=self.url,
            collection_name=self.collection_name,
            api_key=self.api_key,
            timeout=self.timeout,
            **(self.client_kwargs or {}),
        )
        if self.vectors_config is not None:
            self.client.create_collection(vectors_config=self.vectors_config, **(self.collection_kwargs or {}))

    upsert = reported(QdrantLocustClient.upsert)
    search = reported(QdrantLocustClient.search)
    scroll = reported(QdrantLocustClient.scroll)
    delete = reported(QdrantLocustClient.delete)
