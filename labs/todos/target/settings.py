"""The service's databases and build: three environment variables."""

import os
from dataclasses import dataclass

from .variants import Variant, variant_named

POOL_SIZE = 25
POOL_OVERFLOW = 5


@dataclass(frozen=True)
class Settings:
    """The settings of one process of the service."""

    primary_url: str
    """Writes go here: postgresql+psycopg://USER@HOST:PORT/NAME."""
    replica_url: str | None
    """Reads go here; None: to the primary. Set if and only if the variant has a replica."""
    variant: Variant


def from_environment() -> Settings:
    """Read TODOS_DATABASE_URL, TODOS_REPLICA_URL and TODOS_VARIANT (default: baseline).

    Raises ValueError if the variant's databases are not set, or the variant is unknown."""
    variant = variant_named(os.environ.get("TODOS_VARIANT", "baseline"))
    return Settings(_url("TODOS_DATABASE_URL"), _url("TODOS_REPLICA_URL") if variant.replica else None, variant)


def _url(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ValueError(f"{name} is not set (postgresql+psycopg://USER@HOST:PORT/NAME)")
    return value
