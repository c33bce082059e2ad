"""Bodies of requests that are made of several values: forms with files, and operations of GraphQL."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, model_validator

from plimsoll.load.bodies import header_value
from plimsoll.load.file_access import checked, read_text
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.table import ExistingFile, TomlTable, one_or_more

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_BOUNDARY = "----PlimsollBoundary7d3f9a"
"""Always the same, so that the same plan sends the same bytes."""
_TEXT, _FILE = "text", "base64"
ERRORS = "/errors"
"""Where a reply with the status 200 says what failed."""
_ENDINGS = (".graphql", ".gql")
_NAMED = re.compile(r"^\s*(query|mutation|subscription)\s+(\w+)", re.MULTILINE)


class PartTable(TomlTable):
    """multipart = { title = "x", picture = { file = "a.png", type = "image/png", name = "b.png" } }"""

    text: str | None = None
    """Text with variables; a text in place of the table is short for it."""
    file: ExistingFile | None = None
    """A file that is sent unchanged."""
    type: str | None = None
    """Its Content-Type; of a file `application/octet-stream` by default."""
    name: str | None = None
    """The name of the file for the server; by default that of `file`. With `text`: the text is sent as a file."""

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> PartTable:
        if (self.text is None) == (self.file is None):
            raise BadValueError("needs text or file, and only one of them")
        if self.type is not None:
            header_value(self.type)
        return self

    @property
    def file_name(self) -> str | None:
        return self.file.name if self.name is None and self.file is not None else self.name

    @property
    def content_type(self) -> str | None:
        return "application/octet-stream" if self.type is None and self.file is not None else self.type


Parts = dict[str, Annotated[list[PartTable], BeforeValidator(one_or_more)]]


def multipart_body(parts: Mapping[str, Sequence[PartTable]]) -> tuple[str, dict[str, Any]]:
    """The Content-Type and the body in the format for native users. Raises BadValueError for a file that cannot be
    read."""
    contents = [(name, part, _content(part)) for name, group in parts.items() for part in group]
    boundary = _BOUNDARY
    while any(boundary.encode() in content for _, _, content in contents):
        boundary += "x"
    pieces: list[tuple[str, bytes]] = []
    for name, part, content in contents:
        file_name = "" if part.file_name is None else f'; filename="{_quoted(part.file_name)}"'
        kind = "" if part.content_type is None else f"Content-Type: {part.content_type}\r\n"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"{file_name}\r\n{kind}\r\n'
        pieces += [(_TEXT, head.encode()), (_TEXT if part.file is None else _FILE, content), (_TEXT, b"\r\n")]
    pieces.append((_TEXT, f"--{boundary}--\r\n".encode()))
    return f"multipart/form-data; boundary={boundary}", {"parts": _merged(pieces)}


def _content(part: PartTable) -> bytes:
    return _read(part.file) if part.file is not None else (part.text or "").encode()


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadValueError(f"cannot read {file}: {error.strerror}") from error


def _merged(pieces: Sequence[tuple[str, bytes]]) -> list[dict[str, str]]:
    """As native users are given them; neighbours of a kind are one piece."""
    merged: list[tuple[str, bytes]] = []
    for kind, content in pieces:
        if merged and merged[-1][0] == kind:
            kind, content = kind, merged.pop()[1] + content
        merged.append((kind, content))
    return [
        {kind: base64.b64encode(content).decode("ascii") if kind == _FILE else content.decode()}
        for kind, content in merged
    ]


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def document_of(text: str, folder: Path) -> str:
    """The document itself, or that of a file with such a name. Raises UsageError for a file that cannot be read."""
    return read_text(checked(folder / text)) if text.endswith(_ENDINGS) and "\n" not in text else text


def operations_of(document: str) -> dict[str, str]:
    """The kinds of its named operations (query, mutation or subscription), by name, in their order."""
    return {name: kind for kind, name in _NAMED.findall(document)}


def graphql_body(document: str, variables: str | None, operation: str | None) -> str:
    """The JSON of a request. variables: JSON with variables of the plan."""
    fields = [f'"query": {json.dumps(document, ensure_ascii=False)}']
    fields += [] if variables is None else [f'"variables": {variables}']
    fields += [] if operation is None else [f'"operationName": {json.dumps(operation, ensure_ascii=False)}']
    return f"{{{', '.join(fields)}}}"
