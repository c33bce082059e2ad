"""A form with large files (`files=`) that is read while it is sent. Its bytes are those that requests makes of it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from requests.utils import guess_filename, super_len, to_key_val_list

from plimsoll.users.http.prepared import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = 1 << 20
"""Bytes of files. With less, requests reads them before it sends the form."""


@dataclass(frozen=True, slots=True)
class _Part:
    file: Any
    start: int
    length: int
    """Bytes from there on."""
    marker: bytes
    """What requests encodes in its place."""


class LargeForm:
    """A form in the place of whose files requests encodes markers: requests decides about all other bytes."""

    def __init__(self, files: list[tuple[Any, Any]], parts: list[_Part]) -> None:
        self.files = files
        """For requests."""
        self._parts = parts

    def filled(self, encoded: bytes) -> FilledForm:
        """What requests has encoded, with the files in it."""
        pieces: list[bytes | _Part] = []
        for part in self._parts:
            before, _, encoded = encoded.partition(part.marker)
            pieces += [before, part]
        return FilledForm([*pieces, encoded])


class FilledForm:
    """The body. It can be read any number of times, and always from its beginning."""

    def __init__(self, pieces: list[bytes | _Part]) -> None:
        self._pieces = pieces

    def __len__(self) -> int:
        return sum(len(piece) if isinstance(piece, bytes) else piece.length for piece in self._pieces)

    def tell(self) -> int:
        return 0

    def seek(self, _position: int) -> None:
        """Does nothing. Redirects and retries go back to the beginning."""

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                piece.file.seek(piece.start)
                yield from blocks(piece.file)


def large_form(files: Any) -> LargeForm | None:
    """None: requests encodes these files itself, because they are small, or none of them is an open binary file."""
    fields, parts, known = [], [], set()
    for field, value in to_key_val_list(files):
        is_tuple = isinstance(value, (tuple, list))
        file = value[1] if is_tuple and len(value) > 1 else value
        if id(file) in known:
            # requests has read it to its end.
            part, content = None, b""
        elif (part := _part_of(file)) is not None:
            known.add(id(file))
            parts.append(part)
            content = part.marker
        else:
            fields.append((field, value))
            continue
        name, *rest = (value[0], *value[2:]) if is_tuple else (guess_filename(file) or field,)
        fields.append((field, (name, content, *rest)))
    return LargeForm(fields, parts) if sum(part.length for part in parts) > LARGE else None


def _part_of(file: Any) -> _Part | None:
    if not isinstance(getattr(file, "file", file), (io.RawIOBase, io.BufferedIOBase)):
        return None
    try:
        return _Part(file, file.tell(), super_len(file), uuid4().hex.encode())
    except (OSError, ValueError, AttributeError):
        # It has no position, or is closed: requests reads it, or raises.
        return None
