"""Reads access logs line by line: files of any size, also compressed by gzip, and the standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from plimsoll.errors import UsageError
from plimsoll.sources.access_logs.formats import column_reader, format_reader, json_line, text_line
from plimsoll.sources.access_logs.json_columns import EXAMPLE, JsonColumns, json_columns, suggestion
from plimsoll.sources.access_logs.mix import NO_BODY, LogMix, reasons_in_words
from plimsoll.sources.selection import ASSET_PATHS
from plimsoll.sources.source_input import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.sources.access_logs.formats import LineReader
    from plimsoll.sources.access_logs.line import AccessLine

LONGEST_LINE = 64 << 10
"""Bytes; the rest of a longer line is left out."""
_FIRST_LINES = 50
"""By which a log is recognized."""
_KNOWN_SHARE = 0.5
"""Of the first lines must be requests."""
_COLUMNS = "#Fields:"
_SAFE = ("GET", "HEAD", "OPTIONS")


def is_access_log(word: str) -> bool:
    """Whether at least half of the first lines of a file are requests. It never raises."""
    if not Path(word).is_file():
        # A pipe can be read only once.
        return False
    try:
        first = list(islice(_lines(word), _FIRST_LINES))
    except UsageError:
        return False
    return _is_log(first, _line_reader(first))


def check_kinds(words: Sequence[str]) -> None:
    """Raises UsageError if some of these files are access logs and others are not."""
    files = [word for word in words if Path(word).is_file()] if len(words) > 1 else []
    logs = [word for word in files if is_access_log(word)]
    if logs and (others := [word for word in files if word not in logs]):
        raise UsageError(f"{logs[0]} is an access log, and {others[0]} is none: name files of one kind")


def log_hint(word: str) -> str:
    """Why a file is no access log of a known form, if it has JSON lines or is a broken gzip file, and what to do; ""
    for another file. It never raises."""
    if not Path(word).is_file():
        return ""
    try:
        first = [line for line in islice(_lines(word), _FIRST_LINES) if line.strip()]
    except UsageError as error:
        return str(error) if "gzip" in str(error) else ""
    hint = _json_hint(first) if len(first) > 1 else ""
    return f"{word}: of these JSON lines no request is recognized; {hint}" if hint else ""


def _json_hint(lines: Sequence[str]) -> str:
    """What to do with JSON lines that are not recognized; "" for other lines."""
    if not lines[0].startswith("{") or not lines[0].rstrip().endswith("}"):
        return ""
    columns = next(filter(None, map(suggestion, lines)), EXAMPLE)
    return f"name the keys that requests have: --log-format '{columns}'"


def read_mix(words: Sequence[str], log_format: str | None, *, assets: bool) -> LogMix:
    """The mix of all requests in these logs. words: paths, or "-" for the standard input. log_format: of nginx or
    Apache, or the keys of JSON lines; None: detected. Raises UsageError for what cannot be read, and for a file that is
    no access log."""
    mix = LogMix()
    for line in _all_lines(words, log_format):
        if line is None:
            mix.left_out["in lines of another form"] += 1
        elif reason := _reason(line, assets=assets):
            mix.leave_out(line, reason)
        else:
            mix.add(line)
    if not mix.endpoints:
        raise UsageError(f"{words[0]}: has no request that a plan could send: {reasons_in_words(mix)}")
    return mix


def read_lines(words: Sequence[str], log_format: str | None, *, assets: bool) -> Iterator[AccessLine]:
    """The requests that a plan can send. Raises UsageError as `read_mix` does."""
    return (line for line in _all_lines(words, log_format) if line is not None and not _reason(line, assets=assets))


def _all_lines(words: Sequence[str], log_format: str | None) -> Iterator[AccessLine | None]:
    """None for a line that is no request. Raises UsageError."""
    given = None if log_format is None else json_columns(log_format) or format_reader(log_format)
    last = ""
    for word in words:
        lines = _lines(word)
        first = list(islice(lines, _FIRST_LINES))
        read = given or _line_reader(first)
        if not _is_log(first, read):
            raise UsageError(_refusal(word, first, read))
        last = _request_in(first)[1]
        for line in chain(first, lines):
            if line.startswith(_COLUMNS):
                read = column_reader(line.removeprefix(_COLUMNS).strip())
            elif line.strip() and not line.startswith("#"):
                yield read(line)
    if isinstance(given, JsonColumns) and (unseen := given.unseen_in(last)):
        raise UsageError(f"{', '.join(words)}: {unseen}")


def _request_in(first: Sequence[str]) -> tuple[int, str]:
    """The first of these lines that says something, with its number."""
    lines = ((number, line) for number, line in enumerate(first, 1) if line.strip() and not line.startswith("#"))
    return next(lines, (0, ""))


def _refusal(word: str, first: Sequence[str], read: LineReader) -> str:
    """Why a file is no access log in this format, and what to do."""
    number, shown = _request_in(first)
    if not shown:
        return f"{word}: is empty"
    if isinstance(read, JsonColumns):
        refused = [(number, line) for number, line in enumerate(first, 1) if line.strip() and read.complaint(line)]
        # The line that looks most like a request: an application also writes other lines.
        number, shown = max(refused, key=lambda item: read.known_in(item[1]))
        return f"{word}:{number}: {read.complaint(shown)}"
    if hint := _json_hint([line for line in first if line.strip()]):
        return f"{word}:{number}: no request is recognized; {hint}"
    hint = "write its format as your server has it: --log-format '$remote_addr … \"$request\" $status'"
    return f"{word}:{number}: no request is recognized in {shown[:80]!r}; {hint}"


def _reason(line: AccessLine, *, assets: bool) -> str:
    """Why a plan cannot send it; "" if it can."""
    if line.status is not None and line.status >= 400:
        return "that failed"
    if line.method not in _SAFE:
        return "that delete" if line.method == "DELETE" else NO_BODY
    if not assets and ASSET_PATHS.search(line.target.partition("?")[0]):
        return "of assets"
    return ""


def _line_reader(first: Sequence[str]) -> LineReader:
    columns = next((line for line in first if line.startswith(_COLUMNS)), None)
    if columns is not None:
        return column_reader(columns.removeprefix(_COLUMNS).strip())
    begins = next((line for line in first if line.strip()), "")
    return json_line if begins.startswith("{") else text_line


def _is_log(first: Sequence[str], read: LineReader) -> bool:
    lines = [line for line in first if line.strip() and not line.startswith("#")]
    known = sum(not read.complaint(line) if isinstance(read, JsonColumns) else read(line) is not None for line in lines)
    return known >= max(1, _KNOWN_SHARE * len(lines))


def _lines(word: str) -> Iterator[str]:
    """Raises UsageError for a file that cannot be read, or is broken."""
    try:
        with _opened(word) as file:
            while line := file.readline(LONGEST_LINE):
                yield line.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
                while not line.endswith(b"\n") and line:
                    line = file.readline(LONGEST_LINE)
    except IsADirectoryError as error:
        raise UsageError(f"{word} is a folder; name the files in it") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{word}: not a whole gzip file: {error}") from error
    except OSError as error:
        raise UsageError(f"cannot read {word}: {error.strerror}") from error


@contextmanager
def _opened(word: str) -> Iterator[BinaryIO | gzip.GzipFile]:
    if word == STDIN:
        yield sys.stdin.buffer
        return
    with Path(word).open("rb") as file:
        if file.peek(2)[:2] != b"\x1f\x8b":
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked
