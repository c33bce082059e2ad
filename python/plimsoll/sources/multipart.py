"""A multipart/form-data body as text or bytes, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.sources.exchange import FormPart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.sources.draft import DraftPart, Text

BOUNDARY = "----PlimsollBoundary7d3f9a"
"""Always the same, so that the same input gives the same plan."""
_DISPOSITION = re.compile(rb'\b(name|filename)="((?:[^"\\]|\\.)*)"')
_TYPE = re.compile(rb"^content-type:\s*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)


def multipart(parts: Sequence[DraftPart], said: Callable[[Text], str]) -> str | bytes:
    """The body of these parts; bytes if one of them is no text. said: how texts with variables are written."""
    pieces: list[str | bytes] = []
    for part in parts:
        filename = f'; filename="{_quoted(part.filename)}"' if part.filename is not None else ""
        content_type = f"Content-Type: {part.content_type}\r\n" if part.content_type else ""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{_quoted(part.name)}"{filename}\r\n'
        pieces += [f"{head}{content_type}\r\n", part.content if part.content is not None else said(part.text), "\r\n"]
    pieces.append(f"--{BOUNDARY}--\r\n")
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces))
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


def parts_of(body: bytes, content_type: str) -> tuple[FormPart, ...]:
    """The parts of a body with this Content-Type; none if it is not multipart/form-data."""
    match = re.search(r'boundary="?([^";,\s]+)', content_type)
    if match is None or "form-data" not in content_type:
        return ()
    parts = []
    for piece in body.split(b"--" + match[1].encode())[1:-1]:
        head, _, content = piece.lstrip(b"\r\n").partition(b"\r\n\r\n")
        names = {name.decode(): value.decode("utf-8", "replace") for name, value in _DISPOSITION.findall(head)}
        kind = _TYPE.search(head)
        parts.append(
            FormPart(
                names.get("name", ""), content.removesuffix(b"\r\n"), names.get("filename"),
                kind[1].decode("latin-1").strip() if kind else None,
            )
        )  # fmt: skip
    return tuple(parts)


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
