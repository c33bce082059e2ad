"""Gatling's simulation.log: text up to 3.12, binary from 3.13 on.

The binary format has no version of its own and changes with Gatling, so only known releases are read.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from plimsoll.importers.one_result import OneHeader
from plimsoll.importers.samples import Samples, sampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

BINARY = ("3.13", "3.14", "3.15")
"""Releases with a known binary log."""
_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_LONGEST = 1 << 20
"""Bytes of a string; a longer one is invalid."""
_STATUS = re.compile(r"found (?:was )?([1-5]\d\d)\b")
_PRECISION = sampled("gatling", floor=1.0)


class _Log:
    """The result of reading either format."""

    def __init__(self, source: ResultFile) -> None:
        self.samples = Samples(source)
        self.users: list[tuple[int, int]] = []
        """(Unix ms, +1 or -1)."""
        self.version = ""
        self.notes: list[str] = []
        self.errors = 0

    def request(self, place: int, groups: list[str], name: str, start: int, end: int, ok: bool, message: str) -> None:
        """start, end: Unix ms."""
        status = _STATUS.search(message)
        self.samples.add(
            place,
            ("", " / ".join([*groups, name])),
            end / 1000,
            end - start,
            failed=not ok,
            kind=message.strip() or "KO",
            status=int(status[1]) if status else None,
        )

    def study(self, options: ImportOptions) -> Study:
        most = now = 0
        for _, change in sorted(self.users):
            now += change
            most = max(most, now)
        if self.errors:
            self.notes.append(f"{self.errors} errors of the simulation itself")
        about = {"gatling": self.version} if self.version else {}
        users = float(most) or None
        return self.samples.study(options, _PRECISION, users=users, notes=tuple(self.notes), about=about)


def is_text_log(source: ResultFile) -> bool:
    return bool(re.match(r"(?:ASSERTION\t[^\n]*\n)*RUN\t", source.beginning))


def is_binary_log(source: ResultFile) -> bool:
    head = source.head
    if len(head) < 16 or head[0] != _RUN:
        return False
    (length,) = struct.unpack_from(">i", head, 1)
    return 0 < length < 32 and head[5 : 5 + length].replace(b".", b"").isalnum() and head[5 + length] in (0, 1)


def read_text_log(source: ResultFile, options: ImportOptions) -> Study:
    log, header = _Log(source), OneHeader(source, "Gatling")
    for line, text in source.lines():
        cells = text.split("\t")
        if cells[0] == "RUN":
            header.seen(line)
            log.version = cells[-1].strip()
        elif cells[0] == "REQUEST":
            log.request(line, *_request(source, line, cells))
        elif cells[0] == "USER":
            event = next((index for index, cell in enumerate(cells) if cell in ("START", "END")), None)
            # Until 3.3 the start of the user stands before the moment of its record.
            moment = cells[-1].strip()
            if event is None or event + 1 >= len(cells) or not _is_stamp(moment):
                raise source.error(line, "is no USER record")
            log.users.append((int(moment), 1 if cells[event] == "START" else -1))
        elif cells[0] == "ERROR":
            log.errors += 1
    return log.study(options)


def _request(source: ResultFile, line: int, cells: list[str]) -> tuple[list[str], str, int, int, bool, str]:
    """Releases differ in the preceding columns: groups, name, start, end and state are adjacent in all."""
    for index in range(4, len(cells)):
        if cells[index] in ("OK", "KO") and _is_stamp(cells[index - 1]) and _is_stamp(cells[index - 2]):
            groups = [group for group in cells[index - 4].split(",") if group] if index > 4 else []
            message = cells[index + 1] if len(cells) > index + 1 else ""
            return groups, cells[index - 3], int(cells[index - 2]), int(cells[index - 1]), cells[index] == "OK", message
    raise source.error(line, "is no REQUEST record: no start, end and OK or KO")


def _is_stamp(text: str) -> bool:
    """Whether it may be a time in ms."""
    return text.isdecimal() and len(text) <= 18


def read_binary_log(source: ResultFile, options: ImportOptions) -> Study:
    log = _Log(source)
    reader = _Binary(source)
    log.version = reader.version
    if not reader.version.startswith(tuple(f"{each}." for each in BINARY)) and reader.version not in BINARY:
        raise source.error(
            None,
            f"is a binary log of Gatling {reader.version}; those of {', '.join(BINARY)} can be read. Other releases: "
            "export its requests as CSV or text",
        )
    for place, record in enumerate(reader.records(log), 2):
        log.request(place, *record)
    return log.study(options)


class _Binary:
    """Big-endian; repeated strings are numbered. "Lines" of error messages are records."""

    def __init__(self, source: ResultFile) -> None:
        self._source = source
        self._data = source.content()
        self._at = 1
        self._cache: dict[int, str] = {}
        self._record = 1
        try:
            self.version = self._string()
            self._string()  # the class
            (self._start,) = self._unpack(">q")
            self._string()  # the description
            for _ in range(self._count()):
                self._string()
            for _ in range(self._count()):
                length = self._count()
                self._at += length
        except (struct.error, IndexError):
            raise source.error(1, "its first record is damaged") from None

    def records(self, log: _Log) -> Iterator[tuple[list[str], str, int, int, bool, str]]:
        """The requests; users and errors are recorded in log."""
        while self._at < len(self._data):
            self._record += 1
            kind = self._data[self._at]
            self._at += 1
            try:
                if kind == _REQUEST:
                    groups = [self._cached() for _ in range(self._count())]
                    name = self._cached()
                    start, end, ok = self._unpack(">ii?")
                    yield groups, name, self._start + start, self._start + end, bool(ok), self._cached()
                elif kind == _USER:
                    _, begins, at = self._unpack(">i?i")
                    log.users.append((self._start + at, 1 if begins else -1))
                elif kind == _GROUP:
                    for _ in range(self._count()):
                        self._cached()
                    self._unpack(">iii?")
                elif kind == _ERROR:
                    self._cached()
                    self._unpack(">i")
                    log.errors += 1
                else:
                    raise self._source.error(self._record, f"record {self._record} is of unknown kind {kind}")
            except (struct.error, IndexError):
                log.notes.append(f"the file ends within record {self._record}: the run was cut off")
                return

    def _unpack(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _count(self) -> int:
        (count,) = self._unpack(">i")
        if not 0 <= count <= _LONGEST:
            raise self._source.error(self._record, f"record {self._record} is damaged: a length of {count}")
        return count

    def _string(self) -> str:
        length = self._count()
        if not length:
            return ""
        raw, coder = self._data[self._at : self._at + length], self._data[self._at + length]
        self._at += length + 1
        # Java stores strings as Latin-1, or as UTF-16 in the byte order of the machine.
        try:
            return raw.decode("latin-1" if coder == 0 else "utf-16-le")
        except UnicodeDecodeError:
            raise self._source.error(self._record, f"record {self._record} is damaged: its text is none") from None

    def _cached(self) -> str:
        (index,) = self._unpack(">i")
        if index >= 0:
            self._cache[index] = self._string()
            return self._cache[index]
        if -index not in self._cache:
            raise self._source.error(self._record, f"record {self._record} names string {-index}, which is not there")
        return self._cache[-index]
