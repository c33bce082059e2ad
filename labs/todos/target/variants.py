"""What the builds of the service differ in. One build is one row; a new build adds a row."""

from dataclasses import dataclass, replace
from enum import Enum


class Handlers(Enum):
    """How a request is handled, and with what kind of session."""

    THREADS = "threads"
    """Functions, which FastAPI runs in a pool of threads, with a blocking session."""
    ASYNC = "async"
    """Coroutines on the event loop, with an async session."""
    ASYNC_BLOCKING = "async, blocking session"
    """Coroutines on the event loop with a blocking session: while one waits for PostgreSQL, or for a free connection,
    nobody else is served. What one gets by writing `async` before `def` and changing nothing else."""


@dataclass(frozen=True)
class Variant:
    """One build of the service."""

    name: str
    handlers: Handlers = Handlers.THREADS
    index: bool = False
    """The list's sort column, created_at, has an index."""
    replica: bool = False
    """Reads go to a streaming replica, writes to the primary."""
    orjson: bool = False
    """Replies are rendered by orjson, instead of by pydantic as FastAPI does by itself."""
    limit: int | None = None
    """The list holds at most this many todos; None: all of them, so that the reply grows while the table does."""


BASELINE = Variant("baseline")
REPLICA = replace(BASELINE, name="replica", replica=True)
ASYNC = replace(REPLICA, name="async", handlers=Handlers.ASYNC)
ORJSON = replace(ASYNC, name="orjson", orjson=True)
LIMIT = replace(ORJSON, name="limit", limit=200)

CHAIN = (
    BASELINE,
    replace(BASELINE, name="index", index=True),
    REPLICA,  # The index, of no use so far, is left out again: the last step adds it to the limit.
    ASYNC,
    ORJSON,
    LIMIT,
    replace(LIMIT, name="limit-index", index=True),
)
"""The steps of the published report, in its order. Each keeps what the one before it had, but for the index."""

ASIDE = (
    replace(REPLICA, name="async-sync-session", handlers=Handlers.ASYNC_BLOCKING),
    replace(BASELINE, name="async-one-pool", handlers=Handlers.ASYNC_BLOCKING),
)
"""Builds that stand beside the chain: what the report did in the step that it calls async, with and without the second
pool of connections that the replica brings."""

VARIANTS = {variant.name: variant for variant in CHAIN + ASIDE}


def variant_named(name: str) -> Variant:
    """The variant of that name. Raises ValueError, which lists the names there are."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise ValueError(f"there is no variant {name!r}; there are: {', '.join(VARIANTS)}") from None
