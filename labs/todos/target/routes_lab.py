"""The lab's requests to the service: paths that begin with "/_". They are not counted, and not called during a run."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import PlainTextResponse

from .counter import RequestCounter
from .databases import Databases

MOST_SEEDED = 80_000
"""Ids keep five digits, because the size of a response depends on it."""


def router(databases: Databases, counter: RequestCounter) -> APIRouter:
    """The lab's routes, the same in every variant."""
    routes = APIRouter()

    @routes.get("/_count")
    async def count() -> dict[str, int]:
        return counter.requests

    @routes.get("/_variant")
    async def variant() -> str:
        return databases.variant.name

    @routes.get("/_rows")
    def rows() -> int:
        return databases.rows()

    @routes.get("/_lag")
    def lag() -> float | str:
        """Milliseconds."""
        milliseconds = databases.lag_ms()
        return "no replica" if milliseconds is None else milliseconds

    @routes.get("/_explain", response_class=PlainTextResponse)
    def explain() -> str:
        return databases.plan()

    @routes.post("/_seed")
    def seed(
        rows: Annotated[int, Query(ge=0)],
        of: Annotated[int | None, Query(ge=0, le=MOST_SEEDED)] = None,
    ) -> int:
        """Leave `rows` todos of `of` (default: the same number), and return their number."""
        of = rows if of is None else of
        if rows > of:
            raise HTTPException(422, f"cannot leave {rows} todos of {of}")
        databases.seed(rows, of)
        return databases.rows()

    return routes
