"""The URL of a run without a locustfile."""

from __future__ import annotations

from urllib.parse import urlsplit

from plimsoll._engine import Origin
from plimsoll.errors import UsageError


def target_of(url: str) -> str:
    """Path and query as they are sent."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def origin_of(url: str) -> Origin:
    """Raises UsageError for a URL that cannot be requested."""
    try:
        return Origin(url)
    except ValueError as error:
        raise UsageError(f"{url}: {error}") from error
