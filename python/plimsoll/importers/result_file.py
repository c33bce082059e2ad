"""The file to import: its decompressed and decoded content, and errors that name a place in it."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 64 * 1024
"""Bytes at the start of a file from which its format is detected."""
MOST_TEXT = 64 * 1024 * 1024
"""Maximum bytes of a file that is read as a whole."""
MOST_BYTES = 8 * 1024**3
"""Maximum decompressed bytes of a file that is read line by line."""
LONGEST_MESSAGE = 500
"""Characters of an error message, which may quote the file."""
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes."""

_JSON_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"(?P<colon>\s*+:)?|\\?\Z)|[{}\[\]]', re.DOTALL)
"""An open string extends to the end: trying each quote in it as a beginning would take quadratic time."""

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class ResultFile:
    """A file, plain or gzipped, in UTF-8 or with another byte order mark. All methods raise UsageError."""

    path: Path
    most_text: int = field(default=MOST_TEXT, kw_only=True)
    most_bytes: int = field(default=MOST_BYTES, kw_only=True)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        with self.opened() as file:
            return file.read(HEAD)

    @cached_property
    def encoding(self) -> str:
        return next((name for mark, name in _MARKS if self.head.startswith(mark)), "utf-8")

    @cached_property
    def beginning(self) -> str:
        """The first bytes as text; invalid characters are replaced."""
        return self.head.decode(self.encoding, "replace")

    @cached_property
    def keys(self) -> dict[str, None]:
        """The keys of the JSON object that its first bytes begin, in their order; empty for anything else."""
        found: list[str] = []
        depth = 0
        if not self.beginning.lstrip().startswith("{"):
            return {}
        for token in _JSON_TOKEN.finditer(self.beginning):
            if token[0] in "{[":
                depth += 1
            elif token[0] in "}]":
                depth -= 1
                if depth == 0:
                    break
            elif depth == 1 and token["colon"]:
                found.append(token[1])
        return dict.fromkeys(found)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Its bytes, decompressed."""
        try:
            with self.path.open("rb") as raw:
                packed = raw.read(2) == b"\x1f\x8b"
                raw.seek(0)
                yield cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw
        except IsADirectoryError:
            raise UsageError(f"{self.path}: is a folder; name the result file in it") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UsageError(f"{self.path}: is gzipped, and damaged: {error}") from error
        except OSError as error:
            raise UsageError(f"{self.path}: {error.strerror or error}") from error

    @contextmanager
    def document(self, tool: str) -> Iterator[Any]:
        """The JSON in it, as written by this tool. Errors name missing values and those of another type."""
        try:
            yield json.loads(self.text())
        except json.JSONDecodeError as error:
            why = f"is no JSON: {error.msg}"
            if error.msg == "Extra data":
                why = "has more than one result; split it into a file for each"
            raise self.error(error.lineno, why) from None
        except RecursionError:
            raise self.error(None, f"is not what {tool} writes: its JSON is nested too deeply") from None
        except KeyError as error:
            raise self.error(None, f"is not what {tool} writes: {error} is missing") from None
        except (TypeError, AttributeError, ValueError) as error:
            raise self.error(None, f"is not what {tool} writes: {error}") from None

    def content(self) -> bytes:
        with self.opened() as file:
            data = file.read(self.most_text + 1)
        if len(data) > self.most_text:
            raise self.error(None, f"is larger than {self.most_text >> 20} MiB, the most that is read of such a file")
        return data

    def text(self) -> str:
        data = self.content()
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self.error(line, f"is not {self.encoding.upper()} text (byte {error.start})") from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number from 1, text without line end) one by one: for files of any size."""
        if self.encoding == "utf-16":
            yield from enumerate(self.text().splitlines(), 1)
            return
        seen = 0
        with self.opened() as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                seen += len(line)
                if len(line) == LONGEST_LINE:
                    raise self.error(number, f"the line is longer than {LONGEST_LINE >> 20} MiB")
                if seen > self.most_bytes:
                    most = f"{self.most_bytes >> 30} GiB"
                    raise self.error(number, f"the file is larger than {most}, the most that is read")
                yield number, self._decoded(line, number).rstrip("\r\n")

    def rows(self, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
        """(number of its last line, cells) of each row of a CSV file. A cell in quotes may span several lines."""
        reader = csv.reader((f"{text}\n" for _, text in self.lines()), delimiter=delimiter)
        try:
            for cells in reader:
                if cells:
                    yield reader.line_num, cells
        except csv.Error as error:
            raise self.error(reader.line_num, f"is no CSV: {error}") from None

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            return line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise self.error(number, "is not UTF-8 text") from None

    def place(self, line: int) -> str:
        """As file:line, the notation of editors."""
        return f"{self.path.name}:{line}"

    def error(self, line: int | None, message: str) -> UsageError:
        shown = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"
        return UsageError(f"{self.path}:{line}: {shown}" if line else f"{self.path}: {shown}")
