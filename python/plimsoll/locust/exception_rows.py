"""Exceptions of users' code, counted by their traceback."""

from __future__ import annotations

from typing import TypedDict


class ExceptionDict(TypedDict):
    """An exception and how often it was raised."""

    count: int
    msg: str
    traceback: str
    nodes: set[str]
    """The processes that it came from."""


def count_exception(rows: dict[int, ExceptionDict], node_id: str, msg: str, formatted_tb: str, count: int = 1) -> None:
    """Add to the row of this traceback. rows: {hash of the traceback: row}."""
    row = rows.setdefault(hash(formatted_tb), {"count": 0, "msg": msg, "traceback": formatted_tb, "nodes": set()})
    row["count"] += count
    row["nodes"].add(node_id)
