"""JMeter's results as CSV (JTL). Columns are found by their titles; without a header, by JMeter's default order.

Samples of transaction controllers include the time of their children: they are left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number

if TYPE_CHECKING:
    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_DEFAULT = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
    "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect",
)  # fmt: skip
_DELIMITERS = (",", "\t", ";", "|")
_FORMATS = ("%Y/%m/%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M:%S")
_TRANSACTION = "Number of samples in transaction"
_PRECISION = sampled("jmeter", floor=1.0, size_of="replies")


def is_jtl(source: ResultFile) -> bool:
    return _titles(source) is not None or source.beginning.lstrip().startswith("<testResults")


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
        raise source.error(1, "is JMeter's XML; save it as CSV (jmeter.save.saveservice.output_format=csv)")
    delimiter, titles, has_header = found
    samples = Samples(source)
    most_users, transactions = 0.0, 0
    rows = source.rows(delimiter)
    if has_header:
        next(rows)
    for line, cells in rows:
        if len(cells) < 3:
            raise source.error(line, f"{len(cells)} cells where there should be {len(titles)}")
        row = dict(zip(titles, cells, strict=False))
        if row.get("responseMessage", "").startswith(_TRANSACTION):
            transactions += 1
            continue
        elapsed = number(source, line, row.get("elapsed"), "elapsed")
        code = row.get("responseCode", "")
        most_users = max(most_users, number(source, line, row.get("allThreads") or 0, "allThreads"))
        samples.add(
            line,
            ("", row.get("label", "")),
            _seconds(source, line, row.get("timeStamp", "")) + elapsed / 1000,
            elapsed,
            failed=row.get("success", "true").lower() != "true",
            kind=row.get("failureMessage") or f"{code} {row.get('responseMessage', '')}".strip(),
            status=int(code) if code.isdecimal() and len(code) == 3 else None,
            size=number(source, line, row["bytes"], "bytes") if row.get("bytes") else None,
        )
    notes = [f"{transactions} samples of transaction controllers are left out"] if transactions else []
    return samples.study(options, _PRECISION, users=most_users or None, notes=tuple(notes))


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
