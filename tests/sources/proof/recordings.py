"""Small recordings with their replies."""

from __future__ import annotations

import json
from collections.abc import Mapping

FORM = "application/x-www-form-urlencoded"


def har(url: str, *exchanges: tuple[str, str, str, int, str]) -> str:
    """method, path, body, status, reply in JSON"""
    return har_with_headers(url, {}, *((*exchange, {}) for exchange in exchanges))


def har_with_headers(
    url: str, sent: Mapping[str, str], *exchanges: tuple[str, str, str, int, str, Mapping[str, str]]
) -> str:
    """sent: headers of each request; of each exchange: method, path, body, status, reply and its headers"""
    entries = [
        {
            "startedDateTime": f"2026-11-29T12:00:0{number}Z",
            "time": 1,
            "request": {
                "method": method, "url": url + path,
                "headers": _named({**sent, **({"Content-Type": FORM} if body else {})}),
                **({"postData": {"mimeType": FORM, "text": body}} if body else {}),
            },
            "response": {
                "status": status, "headers": _named(headers),
                "content": {"text": reply, "mimeType": "application/json"},
            },
        }
        for number, (method, path, body, status, reply, headers) in enumerate(exchanges)
    ]  # fmt: skip
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def _named(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
