"""The text output of wrk and wrk2.

wrk changes the times of every run afterwards without notice: it adds requests that its connections "would have sent",
so its percentiles are modelled. wrk2 measures from a request's due time, and leaves out timed-out ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.importers.one_result import check_printed
from plimsoll.importers.plausible import agree, slack_of
from plimsoll.importers.single import q, study_of_run
from plimsoll.stats.study import FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
_BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}
_COUNT = r"(\d{1,18})"
_TIME = r"(\d+(?:\.\d+)?)(us|ms|s|m|h)"
_RUNNING = re.compile(rf"Running {_TIME} test @ (\S+)")
_SHAPE = re.compile(rf"\s*{_COUNT} threads and {_COUNT} connections")
_LATENCY = re.compile(rf"\s*Latency\s+{_TIME}\s+{_TIME}\s+{_TIME}")
_QUANTILE = re.compile(rf"\s*(\d+(?:\.\d+)?)%\s+{_TIME}\s*")
_DONE = re.compile(rf"\s*{_COUNT} requests in {_TIME}, (\d+(?:\.\d+)?)([KMGT]?B) read")
_ERRORS = re.compile(rf"\s*Socket errors: connect {_COUNT}, read {_COUNT}, write {_COUNT}, timeout {_COUNT}")
_STATUS = re.compile(rf"\s*Non-2xx or 3xx responses: {_COUNT}")
_RATE = re.compile(r"Requests/sec:\s+(\d+(?:\.\d+)?)")


def is_wrk(source: ResultFile) -> bool:
    return bool(_RUNNING.search(source.beginning[:2000])) and "connections" in source.beginning[:4000]


def read_wrk(source: ResultFile, options: ImportOptions) -> Study:
    text = source.text()
    lines = text.splitlines()
    done = _find(_DONE, lines)
    if done is None:
        raise source.error(None, "has no line `N requests in T`: the run did not end")
    check_printed(source, "wrk")
    is_wrk2 = "HdrHistogram" in text or "Thread calibration" in text
    shape = _find(_SHAPE, lines)
    connections = float(shape[2]) if shape else None
    seconds = _ms(done[2], done[3]) / 1000
    if not seconds:
        raise source.error(None, f"has `{done[0].strip()}`: a run takes time")
    if rate := _find(_RATE, lines):
        product = ("Requests/sec × time", float(rate[1]) * seconds)
        agree(source, ("the number of requests", int(done[1])), product, slack_of(rate[1], done[2]))
    total = _total(lines, done, seconds)
    precision = Precision(
        "wrk2" if is_wrk2 else "wrk", digits=3, floor=1e-5, clock="due" if is_wrk2 else "corrected", times_of="all",
        size_of="replies",
    )  # fmt: skip
    url = _find(_RUNNING, lines)
    return study_of_run(
        source,
        options,
        users=None if is_wrk2 else connections,
        seconds=seconds,
        total=total,
        precision=precision,
        notes=tuple(_notes(options, is_wrk2, total.censored)),
        facts={"connections": connections} if connections else {},
        about={"target": url[3]} if url else {},
    )


def _find(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    """At the start of a line: searching at every position of a long line takes quadratic time."""
    return next((found for line in lines if (found := pattern.match(line))), None)


def _total(lines: Sequence[str], done: re.Match[str], seconds: float) -> Measured:
    """done: the line with the number of requests and seconds."""
    latency, rate = _find(_LATENCY, lines), _find(_RATE, lines)
    quantiles = _quantiles(lines)
    highest = quantiles.pop(1.0, None)
    connect, read, write, timeout = map(int, errors.groups() if (errors := _find(_ERRORS, lines)) else (0, 0, 0, 0))
    statuses = int(found[1]) if (found := _find(_STATUS, lines)) else 0
    answered, broken = int(done[1]), connect + read + write
    kinds = (
        ("http", "Non-2xx or 3xx responses", statuses), ("connect", "socket error: connect", connect),
        ("read", "socket error: read", read), ("write", "socket error: write", write),
    )  # fmt: skip
    if highest is None and latency:
        highest = _ms(latency[5], latency[6])
    return Measured(
        "",
        "Aggregated",
        requests=answered + broken,
        failures=statuses + broken,
        rate=(answered + broken) / seconds if broken or rate is None else float(rate[1]),
        mean=_ms(latency[1], latency[2]) if latency else None,
        max=highest,
        quantiles=quantiles,
        size=float(done[4]) * _BYTES[done[5]] / answered if answered else None,
        kinds=tuple(FailureKind(outcome, message, count) for outcome, message, count in kinds if count),
        censored=timeout,
    )


def _notes(options: ImportOptions, is_wrk2: bool, timeouts: int) -> list[str]:
    notes = [f"{timeouts} requests took longer than the time limit; their times are not printed"] if timeouts else []
    if not is_wrk2:
        return [*notes, "wrk fills in requests that it did not send: its percentiles are modelled"]
    notes.append("wrk2 begins to count after 10 s, so its percentiles rest on fewer requests")
    if options.rate is None and options.users is None:
        notes.append("wrk2 does not print the rate that was asked for; give it with --rate")
    return notes


def _quantiles(lines: Sequence[str]) -> dict[float, float]:
    """Of the first distribution: the second one of wrk2 -U measures from sending."""
    found: dict[float, float] = {}
    begun = False
    for line in lines:
        if "Latency Distribution" in line or "Uncorrected Latency" in line:
            if begun:
                break
            begun = True
        elif begun and (match := _QUANTILE.fullmatch(line)):
            found[q(match[1])] = _ms(match[2], match[3])
    return found


def _ms(number: str, unit: str) -> float:
    return float(number) * _MS[unit]
