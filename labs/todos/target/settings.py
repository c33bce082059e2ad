"""Where the service finds its databases and which build it is: three environment variables."""

import os
from dataclasses import dataclass

from .variants import Variant, variant_named

POOL_SIZE = 25
POOL_OVERFLOW = 5


@dataclass(frozen=True)
class Settings:
    """How one process of the service runs."""

    primary_url: str
    """Where writes go: postgresql+psycopg://USER@HOST:PORT/NAME."""
    replica_url: str | None
    """Where reads go; None: to the primary. Set exactly when the variant has a replica."""
    variant: Variant


def from_environment() -> Settings:
    """Read TODOS_DATABASE_URL, TODOS_REPLICA_URL and TODOS_VARIANT (default: baseline).

    Raises ValueError when the variant's databases are not given, or there is no such variant."""
    variant = variant_named(os.environ.get("TODOS_VARIANT", "baseline"))
    return Settings(_url("TODOS_DATABASE_URL"), _url("TODOS_REPLICA_URL") if variant.replica else None, variant)


def _url(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ValueError(f"{name} is not set (postgresql+psycopg://USER@HOST:PORT/NAME)")
    return value
