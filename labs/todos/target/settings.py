"""Where the service finds its database and which build it is: two environment variables."""

import os
from dataclasses import dataclass

from .variants import Variant, variant_named

POOL_SIZE = 25
POOL_OVERFLOW = 5


@dataclass(frozen=True)
class Settings:
    """How one process of the service runs."""

    database_url: str
    variant: Variant


def from_environment() -> Settings:
    """Read TODOS_DATABASE_URL (postgresql+psycopg://…) and TODOS_VARIANT (default: baseline).

    Raises ValueError when there is no database URL, or no such variant."""
    database_url = os.environ.get("TODOS_DATABASE_URL")
    if not database_url:
        raise ValueError("TODOS_DATABASE_URL is not set (postgresql+psycopg://USER@HOST:PORT/NAME)")
    return Settings(database_url, variant_named(os.environ.get("TODOS_VARIANT", "baseline")))
