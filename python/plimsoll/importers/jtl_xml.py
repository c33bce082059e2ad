"""The samples in JMeter's XML, with the titles that its CSV has for their attributes.

A sample within another one is a part of it (a redirect, an image of a page), and its time is in the other's. Samples
within that of a transaction controller are samples of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.parsers import expat

from plimsoll.importers.one_result import several

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.importers.result_file import ResultFile

TRANSACTION = "Number of samples in transaction"
"""The message of a transaction controller begins so."""
_ATTRIBUTES = {
    "ts": "timeStamp", "t": "elapsed", "lb": "label", "rc": "responseCode", "rm": "responseMessage", "s": "success",
    "by": "bytes", "na": "allThreads",
}  # fmt: skip
_BEGINS = re.compile(r"\s*(?:<\?xml[^>]{0,200}\?>)?\s*<testResults\b")
_CHUNK = 1 << 20
_LONGEST_TOKEN = 16 * 1024 * 1024
"""Bytes of a tag, which expat keeps in memory."""
_DEEPEST = 200
_LONGEST_REASON = 500
"""Characters of an assertion's message."""
_SECOND_ROOT = frozenset({9, 30})
"""Codes of expat for content after the end of the results: text, or another `<?xml`."""
_ENDS_EARLY = frozenset({3, 5})


@dataclass(slots=True)
class _Sample:
    line: int
    depth: int
    row: dict[str, str]
    is_transaction: bool


def is_xml(source: ResultFile) -> bool:
    return bool(_BEGINS.match(source.beginning))


class XmlSamples:
    """Reads a file in pieces: its size does not matter."""

    def __init__(self, source: ResultFile) -> None:
        self.is_cut_off = False
        """Whether the file has no end: JMeter writes it when it stops."""
        self._source = source
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._depth = 0
        self._open: list[_Sample] = []
        self._reason: str | None = None
        """The message of a failed assertion, while it is read."""
        self._done: list[tuple[int, dict[str, str]]] = []

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """(line, sample) one by one. Raises UsageError for XML that is damaged or has a DOCTYPE."""
        seen = 0
        with self._source.opened() as file:
            while chunk := file.read(_CHUNK):
                seen += len(chunk)
                if seen > self._source.most_bytes:
                    raise self._error(f"the file is larger than {self._source.most_bytes >> 30} GiB")
                self._feed(chunk, is_last=False)
                if seen - max(0, self._parser.CurrentByteIndex) > _LONGEST_TOKEN + _CHUNK:
                    raise self._error(f"a tag is longer than {_LONGEST_TOKEN >> 20} MiB")
                yield from self._done
                self._done.clear()
        self._feed(b"", is_last=True)

    def _feed(self, data: bytes, *, is_last: bool) -> None:
        try:
            self._parser.Parse(data, is_last)
        except expat.ExpatError as error:
            if is_last and error.code in _ENDS_EARLY:
                self.is_cut_off = True
            elif error.code in _SECOND_ROOT:
                raise several(self._source, "JMeter", [1, error.lineno]) from None
            else:
                raise self._source.error(error.lineno, f"is no XML: {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError) as error:
            raise self._error(f"is no XML: {error}") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error("is not what JMeter writes: its XML is nested too deeply")
        if name == "failureMessage":
            self._reason = ""
        elif "t" in attributes and "lb" in attributes:
            row = {title: attributes[key] for key, title in _ATTRIBUTES.items() if key in attributes}
            is_transaction = row.get("responseMessage", "").startswith(TRANSACTION)
            self._open.append(_Sample(self._parser.CurrentLineNumber, self._depth, row, is_transaction))

    def _end(self, name: str) -> None:
        if name == "failureMessage" and self._open and self._reason:
            self._open[-1].row.setdefault("failureMessage", self._reason.strip())
        self._reason = None
        if self._open and self._open[-1].depth == self._depth:
            sample = self._open.pop()
            if all(outer.is_transaction for outer in self._open):
                self._done.append((sample.line, sample.row))
        self._depth -= 1

    def _text(self, data: str) -> None:
        if self._reason is not None and len(self._reason) < _LONGEST_REASON:
            self._reason += data[:_LONGEST_REASON]

    def _refuse_doctype(self, *_: object) -> None:
        raise self._error("is not what JMeter writes: it has a DOCTYPE")

    def _error(self, message: str) -> Exception:
        return self._source.error(self._parser.CurrentLineNumber, message)
