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
    return _is_log(first, _line_reader(first, None))


def read_mix(words: Sequence[str], log_format: str | None, *, assets: bool) -> LogMix:
    """The mix of all requests in these logs. words: paths, or "-" for the standard input. log_format: of nginx or
    Apache; None: detected. Raises UsageError for what cannot be read, and for a file that is no access log."""
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
    for word in words:
        lines = _lines(word)
        first = list(islice(lines, _FIRST_LINES))
        read = _line_reader(first, log_format)
        if not _is_log(first, read):
            shown = next((line for line in first if line.strip() and not line.startswith("#")), "")
            hint = "write its format as your server has it: --log-format '$remote_addr … \"$request\" $status'"
            raise UsageError(
                f"{word}:1: no request is recognized in {shown[:80]!r}; {hint}" if shown else f"{word}: is empty"
            )
        for line in chain(first, lines):
            if line.startswith(_COLUMNS):
                read = column_reader(line.removeprefix(_COLUMNS).strip())
            elif line.strip() and not line.startswith("#"):
                yield read(line)


def _reason(line: AccessLine, *, assets: bool) -> str:
    """Why a plan cannot send it; "" if it can."""
    if line.status is not None and line.status >= 400:
        return "that failed"
    if line.method not in _SAFE:
        return "that delete" if line.method == "DELETE" else NO_BODY
    if not assets and ASSET_PATHS.search(line.target.partition("?")[0]):
        return "of assets"
    return ""


def _line_reader(first: Sequence[str], log_format: str | None) -> LineReader:
    if log_format is not None:
        return format_reader(log_format)
    columns = next((line for line in first if line.startswith(_COLUMNS)), None)
    if columns is not None:
        return column_reader(columns.removeprefix(_COLUMNS).strip())
    begins = next((line for line in first if line.strip()), "")
    return json_line if begins.startswith("{") else text_line


def _is_log(first: Sequence[str], read: LineReader) -> bool:
    lines = [line for line in first if line.strip() and not line.startswith("#")]
    return sum(read(line) is not None for line in lines) >= max(1, _KNOWN_SHARE * len(lines))


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
