"""The body of a FastHttpSession's request and the header lines about it, as made by geventhttpclient."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from requests import PreparedRequest

from plimsoll.users.http.plain import FORM
from plimsoll.users.http.prepared import body_bytes, chunked

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNKED_NAME = "Transfer-Encoding"
"""Its spelling in the line that is not the user's."""

BODY_METHODS = ("POST", "PUT", "PATCH")
"""Without a body, a request with one of these says so."""

BLOCK = 4096
"""Bytes of a chunk."""


class Body(NamedTuple):
    """The body of a request, and the headers that it needs."""

    data: bytes | None
    about: dict[str, str]
    """Header lines about the body, by name."""
    payload: Any
    """The value of `response.request.body`: text and files as in the call, forms encoded."""


def encode_body(data: Any, files: Any, lines: Mapping[str, Any], defaults: Mapping[str, Any]) -> Body:
    """lines: the headers of the call. defaults: those of the session."""
    given = {name.lower(): value for name, value in (*defaults.items(), *lines.items())}
    if "chunked" in str(given.get("transfer-encoding", "")).lower():
        body = _encode(data, files, given)
        about = {name: value for name, value in body.about.items() if name != "content-length"}
        return Body(chunked(_pieces(body.data or b""), BLOCK), about, body.payload)
    return _encode(data, files, given)


def _encode(data: Any, files: Any, given: Mapping[str, Any]) -> Body:
    if files:
        body, kind = PreparedRequest._encode_files(files, data)
        return Body(body, {"content-type": str(kind), "content-length": str(len(body))}, body)
    if not data:
        return Body(None, {}, data)
    has_type = bool(given.get("content-type"))
    if isinstance(data, dict):
        form = urlencode(data).encode()
        about = {} if has_type else {"content-type": f"{FORM}; charset=utf-8"}
        return Body(form, {**about, "content-length": str(len(form))}, form)
    if isinstance(data, str) and not has_type:
        text = data.encode()
        return Body(text, {"content-type": "text/plain; charset=utf-8", "content-length": str(len(text))}, text)
    about = {} if has_type else {"content-type": "application/octet-stream"}
    if _has_length(data):
        # The engine sends the length, after Host.
        return Body(body_bytes(data), about, data)
    return Body(chunked(data, BLOCK), {**about, CHUNKED_NAME: "chunked"}, data)


def _has_length(data: Any) -> bool:
    if hasattr(data, "__len__"):
        return True
    try:
        os.fstat(data.fileno())
    except (AttributeError, OSError):
        return False
    return True


def _pieces(data: bytes) -> list[bytes]:
    return [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
