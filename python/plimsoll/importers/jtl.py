"""JMeter's results (JTL), as CSV or XML. Columns of CSV are found by their titles; without a header, by JMeter's
default order.

Samples of transaction controllers include the time of their children: they are left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.importers.jtl_xml import TRANSACTION, XmlSamples
from plimsoll.importers.one_result import OneHeader
from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_DEFAULT = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
    "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect",
)  # fmt: skip
_DELIMITERS = (",", "\t", ";", "|")
_FORMATS = ("%Y/%m/%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M:%S")
_PRECISION = sampled("jmeter", floor=1.0, size_of="replies")


def is_jtl(source: ResultFile) -> bool:
    return _titles(source) is not None


def _titles(source: ResultFile) -> tuple[str, list[str], bool] | None:
    """(delimiter, titles, whether they are in the file)."""
    line = source.beginning.partition("\n")[0].strip("\r")
    for delimiter in _DELIMITERS:
        cells = line.split(delimiter)
        if {"timeStamp", "elapsed", "label"} <= set(cells):
            return delimiter, cells, True
        if len(cells) >= len(_DEFAULT) and cells[0].isdigit() and len(cells[0]) == 13 and cells[1].isdigit():
            return delimiter, list(_DEFAULT), False
    return None


def read_jtl(source: ResultFile, options: ImportOptions) -> Study:
    found = _titles(source)
    if found is None:
        raise source.error(1, "has no header of JMeter's CSV")
    delimiter, titles, has_header = found
    log = _Log(source)
    header = OneHeader(source, "JMeter")
    for line, cells in source.rows(delimiter):
        if has_header and cells == titles:
            header.seen(line)
            continue
        if len(cells) < 3:
            raise source.error(line, f"{len(cells)} cells where there should be {len(titles)}")
        log.add(line, dict(zip(titles, cells, strict=False)))
    return log.study(options)


def read_xml(source: ResultFile, options: ImportOptions) -> Study:
    log = _Log(source)
    samples = XmlSamples(source)
    for line, row in samples.rows():
        log.add(line, row)
    return log.study(options, *(["the file has no end: the run was cut off"] if samples.is_cut_off else []))


class _Log:
    """The result of reading either format."""

    def __init__(self, source: ResultFile) -> None:
        self._source = source
        self._samples = Samples(source)
        self._most_users = 0.0
        self._transactions = 0

    def add(self, line: int, row: Mapping[str, str]) -> None:
        if row.get("responseMessage", "").startswith(TRANSACTION):
            self._transactions += 1
            return
        elapsed = number(self._source, line, row.get("elapsed"), "elapsed")
        users = number(self._source, line, row.get("allThreads") or 0, "allThreads")
        self._most_users = max(self._most_users, users)
        code = row.get("responseCode", "")
        self._samples.add(
            line,
            ("", row.get("label", "")),
            _seconds(self._source, line, row.get("timeStamp", "")) + elapsed / 1000,
            elapsed,
            failed=row.get("success", "true").lower() != "true",
            kind=row.get("failureMessage") or f"{code} {row.get('responseMessage', '')}".strip(),
            status=int(code) if code.isdecimal() and len(code) == 3 else None,
            size=number(self._source, line, row["bytes"], "bytes") if row.get("bytes") else None,
        )

    def study(self, options: ImportOptions, *notes: str) -> Study:
        if self._transactions:
            notes = (f"{self._transactions} samples of transaction controllers are left out", *notes)
        return self._samples.study(options, _PRECISION, users=self._most_users or None, notes=notes)


def _seconds(source: ResultFile, line: int, text: str) -> float:
    """timeStamp is the start of the sample, in Unix ms unless JMeter is set to another format."""
    if text.isdecimal() and len(text) <= 18:
        return int(text) / 1000
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).timestamp()
        except ValueError:
            continue
    raise source.error(line, f"timeStamp: {text!r} is neither Unix ms nor a time as 2026/11/22 13:00:00.123")
