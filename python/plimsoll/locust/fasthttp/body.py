"""The body of a FastHttpSession's request and the header lines about it, as made by geventhttpclient."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from requests import PreparedRequest
from requests.utils import super_len

from plimsoll.users.http.multipart import large_form
from plimsoll.users.http.plain import FORM
from plimsoll.users.http.prepared import blocks, sent_body
from plimsoll.users.http.stream import sliced
from plimsoll.users.http.upload import Upload

if TYPE_CHECKING:
    from collections.abc import Mapping

CHUNKED_NAME, LENGTH_NAME = "Transfer-Encoding", "Content-Length"
"""Their spelling in lines that are not the user's."""

BODY_METHODS = ("POST", "PUT", "PATCH")
"""Without a body, a request with one of these says so."""

BLOCK = 4096
"""Bytes of a chunk."""


class Body(NamedTuple):
    """The body of a request, and the headers that it needs."""

    data: bytes | Upload | None
    about: dict[str, str]
    """Header lines about the body, by name."""
    payload: Any
    """The value of `response.request.body`: text and files as in the call, forms encoded."""


def encode_body(data: Any, files: Any, lines: Mapping[str, Any], defaults: Mapping[str, Any]) -> Body:
    """lines: the headers of the call. defaults: those of the session."""
    given = {name.lower(): value for name, value in (*defaults.items(), *lines.items())}
    body = _encode(data, files, given)
    if "chunked" not in str(given.get("transfer-encoding", "")).lower():
        return body
    framing = (CHUNKED_NAME.lower(), LENGTH_NAME.lower())
    about = {name: value for name, value in body.about.items() if name.lower() not in framing}
    if isinstance(body.data, Upload) and not files:
        return Body(Upload(partial(blocks, data, BLOCK), None, data), about, body.payload)
    whole = body.payload if isinstance(body.data, Upload) else [body.data or b""]
    return Body(Upload(lambda: sliced(iter(whole), BLOCK, fill=True), None, whole), about, body.payload)


def _encode(data: Any, files: Any, given: Mapping[str, Any]) -> Body:
    if files:
        return _encode_files(files, data)
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
    if isinstance(data, (list, tuple)):
        # Their length is not that of the body.
        return Body(b"".join(blocks(data)), about, data)
    if not _has_length(data):
        return Body(Upload(partial(blocks, data, BLOCK), None, data), {**about, CHUNKED_NAME: "chunked"}, data)
    length = str(given.get("content-length") or super_len(data))
    body = sent_body(data, length)
    if isinstance(body, Upload) and "content-length" not in given:
        about[LENGTH_NAME] = length
    # The engine sends the length of bytes, after Host.
    return Body(body, about, data)


def _encode_files(files: Any, data: Any) -> Body:
    form = large_form(files)
    encoded, kind = PreparedRequest._encode_files(files if form is None else form.files, data)
    body: Any = encoded if form is None else form.filled(encoded)
    about = {"content-type": str(kind), "content-length": str(len(body))}
    return Body(sent_body(body, about["content-length"]), about, body)


def _has_length(data: Any) -> bool:
    if hasattr(data, "__len__"):
        return True
    try:
        os.fstat(data.fileno())
    except (AttributeError, OSError):
        return False
    return True
