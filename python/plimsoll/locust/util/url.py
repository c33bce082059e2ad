"""A check whether a text is a URL."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_url(url: str) -> bool:
    """http:// or https:// and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
