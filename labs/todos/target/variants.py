"""The builds of the service: one row each."""

from dataclasses import dataclass, replace
from enum import Enum


class Handlers(Enum):
    """How a request is handled, and with what kind of session."""

    THREADS = "threads"
    """Functions with a blocking session. FastAPI runs them in a thread pool."""
    ASYNC = "async"
    """Coroutines on the event loop, with an async session."""
    ASYNC_BLOCKING = "async, blocking session"
    """Coroutines on the event loop with a blocking session. While one waits for PostgreSQL or for a free connection, no
    other request is served. This is the result of writing `async` before `def` and changing nothing else."""


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
    """orjson renders responses. Otherwise pydantic does, FastAPI's default."""
    limit: int | None = None
    """The list has at most this many todos. None: all, so the response grows with the table."""


BASELINE = Variant("baseline")
REPLICA = replace(BASELINE, name="replica", replica=True)
ASYNC = replace(REPLICA, name="async", handlers=Handlers.ASYNC)
ORJSON = replace(ASYNC, name="orjson", orjson=True)
LIMIT = replace(ORJSON, name="limit", limit=200)

CHAIN = (
    BASELINE,
    replace(BASELINE, name="index", index=True),
    REPLICA,  # Without the index, which has had no effect so far. The last step adds it to the limit.
    ASYNC,
    ORJSON,
    LIMIT,
    replace(LIMIT, name="limit-index", index=True),
)
"""The steps of the published report, in order. Each includes the one before it, except for the index."""

ASIDE = (
    replace(REPLICA, name="async-sync-session", handlers=Handlers.ASYNC_BLOCKING),
    replace(BASELINE, name="async-one-pool", handlers=Handlers.ASYNC_BLOCKING),
)
"""Builds outside of the chain: the report's step "async", with and without the second pool of connections for the
replica."""

VARIANTS = {variant.name: variant for variant in CHAIN + ASIDE}


def variant_named(name: str) -> Variant:
    """The variant with that name. Raises ValueError with the list of names."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise ValueError(f"there is no variant {name!r}; there are: {', '.join(VARIANTS)}") from None
