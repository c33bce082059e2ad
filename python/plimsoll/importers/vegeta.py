"""vegeta: its text and JSON reports, and results in CSV (without a header) or JSON lines.

Percentiles of a report come from a t-digest: their error has no known bound, and they cannot be merged. Times count
from sending. Success is a status of 200 to 399; status 0 is a request without a response.
"""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from plimsoll.importers.one_result import check_printed, several
from plimsoll.importers.plausible import agree, slack_of
from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number, q, study_of_run, whole
from plimsoll.stats.study import FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_REPORT = Precision("vegeta", digits=None, floor=1e-6, clock="sent", times_of="all")
_RESULTS = sampled("vegeta", floor=1e-3)
_DIGEST = "percentiles of vegeta's reports come from a t-digest, whose error has no bound"
_WIDTHS = (6, 7, 9, 12)
"""Columns of the results as CSV: of releases 6, 7, 8 to 12.7, and later ones. Each adds columns at the end."""
_LINE = re.compile(r"(?P<title>[A-Z][A-Za-z]*(?: [A-Za-z]+)*)\s+\[(?P<names>[^\]]*)\]\s+(?P<values>.*)")
_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
_ROUND = 0.01
"""Maximum relative difference between a report's rate and the whole number that was requested."""


def is_text_report(source: ResultFile) -> bool:
    # Until release 5 there was no rate.
    return bool(re.match(r"\s*Requests\s+\[total[,\]]", source.beginning))


def is_json_report(source: ResultFile) -> bool:
    head = source.beginning.lstrip()
    return head.startswith("{") and '"latencies"' in head and '"bytes_in"' in head and '"50th"' in head


def is_results(source: ResultFile) -> bool:
    line = source.beginning.partition("\n")[0]
    if line.startswith("{"):
        # Until release 7 an attack had no name.
        return all(f'"{name}"' in line for name in ("code", "latency", "timestamp", "bytes_in"))
    cells = _cells(line)
    return len(cells) in _WIDTHS and len(cells[0]) >= 18 and all(cell.isdigit() for cell in cells[:5])


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def read_text_report(source: ResultFile, options: ImportOptions) -> Study:
    check_printed(source, "vegeta")
    found: dict[str, dict[str, str]] = {}
    statuses: dict[str, int] = {}
    for line_number, line in source.lines():
        match = _LINE.match(line)
        if match is None:
            continue
        values = re.split(r",\s*", match["values"].strip())
        if match["title"] == "Status Codes":
            for pair in match["values"].split():
                code, _, count = pair.partition(":")
                status = str(whole(source, line_number, code, "status"))
                statuses[status] = whole(source, line_number, count, f"count of status {code}")
        else:
            found[match["title"]] = dict(zip(re.split(r",\s*", match["names"]), values, strict=False))
    requests, times, received = (found.get(title, {}) for title in ("Requests", "Latencies", "Bytes In"))
    return _report(
        source,
        options,
        total=whole(source, 1, requests.get("total"), "Requests [total]"),
        rate=number(source, 1, requests["rate"], "Requests [rate]") if "rate" in requests else None,
        seconds=_go_ms(source, found.get("Duration", {}).get("total", "")) / 1000,
        attack=_go_ms(source, found["Duration"].get("attack", "0s")) / 1000,
        statuses=statuses,
        times={name: _go_ms(source, times[name]) for name in ("min", "mean", "max") if name in times},
        quantiles={
            q(name): _go_ms(source, value) for name, value in times.items() if re.fullmatch(r"\d+(?:\.\d+)?", name)
        },
        size=number(source, None, received["mean"], "Bytes In [mean]") if "mean" in received else None,
    )


def read_json_report(source: ResultFile, options: ImportOptions) -> Study:
    with source.document("vegeta") as document:
        return _json_report(source, options, document)


def _json_report(source: ResultFile, options: ImportOptions, document: Any) -> Study:
    latencies = document.get("latencies", {})
    ms = {name: number(source, None, value, f"latencies.{name}") / 1e6 for name, value in latencies.items()}
    wait = number(source, None, document.get("wait", 0), "wait")
    return _report(
        source,
        options,
        total=whole(source, None, document.get("requests"), "requests"),
        rate=number(source, None, document.get("rate", 0), "rate") or None,
        seconds=(number(source, None, document.get("duration"), "duration") + wait) / 1e9,
        attack=number(source, None, document["duration"], "duration") / 1e9,
        statuses={code: whole(source, None, count, "status_codes") for code, count in document["status_codes"].items()},
        times={name: ms[name] for name in ("min", "mean", "max") if name in ms},
        quantiles={q(name[:-2]): value for name, value in ms.items() if name.endswith("th")},
        size=number(source, None, document.get("bytes_in", {}).get("mean", 0), "bytes_in.mean"),
    )


def _report(
    source: ResultFile,
    options: ImportOptions,
    *,
    total: int,
    rate: float | None,
    seconds: float,
    attack: float,
    statuses: Mapping[str, int],
    times: Mapping[str, float],
    quantiles: Mapping[float, float],
    size: float | None,
) -> Study:
    """attack: the seconds in which requests were sent. seconds: these, and the wait for the last reply."""
    if statuses:
        agree(source, ("the number of requests", total), ("the sum of the status codes", sum(statuses.values())))
    if rate and attack:
        agree(source, ("the number of requests", total), ("rate × duration of the attack", rate * attack), slack_of())
    failed = {code: count for code, count in statuses.items() if not 200 <= int(code) < 400}
    measured = Measured(
        "",
        "Aggregated",
        requests=total,
        failures=sum(failed.values()),
        rate=total / seconds if seconds > 0 else None,
        mean=times.get("mean"),
        min=times.get("min"),
        max=times.get("max"),
        quantiles={rank: value for rank, value in quantiles.items() if 0 < rank < 1},
        size=size,
        kinds=tuple(_kind(int(code), count) for code, count in failed.items()),
    )
    return study_of_run(
        source, options, rate=_whole_rate(rate), seconds=seconds or None, total=measured, precision=_REPORT,
        notes=(_DIGEST,),
    )  # fmt: skip


def _kind(status: int, count: int) -> FailureKind:
    return FailureKind("http", f"HTTP {status}", count, status) if status else FailureKind("other", "no answer", count)


def _whole_rate(rate: float | None) -> float | None:
    """vegeta prints the achieved rate: one close to a whole number is taken as that number."""
    is_whole = rate and round(rate) and abs(rate - round(rate)) <= _ROUND * rate
    return float(round(rate)) if rate and is_whole else rate


def _go_ms(source: ResultFile, text: str) -> float:
    """A duration in Go's notation: 1m2.5s, 90.438129ms."""
    parts = _PART.findall(text)
    if text == "0s" or (parts and "".join(digits + unit for digits, unit in parts) == text):
        return sum(float(digits) * _SECONDS[unit] for digits, unit in parts) * 1000
    raise source.error(None, f"{text!r} is no duration")


def read_results(source: ResultFile, options: ImportOptions) -> Study:
    samples = Samples(source)
    highest, last_end = 0, 0
    for line, at, status, ns, size, error, method, url, place in _results(source):
        # Those of several generators at the same time are one attack: vegeta reports them together, too.
        if place == 0 and highest and at > last_end:
            raise several(source, "vegeta", [1, line])
        highest, last_end = max(highest, place), max(last_end, at + ns)
        samples.add(
            line,
            (method, url.partition("?")[0]),
            (at + ns) / 1e9,
            ns / 1e6,
            failed=not 200 <= status < 400,
            kind=error or f"HTTP {status}",
            status=status or None,
            size=size,
        )
    return samples.study(options, _RESULTS)


def _results(source: ResultFile) -> Iterator[tuple[int, int, int, int, float, str, str, str, int]]:
    """(line, start in Unix ns, status, ns, bytes, error, method, URL, number within its attack from 0)."""
    for line, text in source.lines():
        if not text:
            continue
        if text.startswith("{"):
            try:
                each = json.loads(text)
                at = _nanoseconds(each["timestamp"])
                yield (
                    line, at, whole(source, line, each["code"], "code"),
                    whole(source, line, each["latency"], "latency"),
                    number(source, line, each.get("bytes_in", 0), "bytes_in"),
                    str(each.get("error", "")), str(each.get("method", "")), str(each.get("url", "")),
                    whole(source, line, each.get("seq", 0), "seq"),
                )  # fmt: skip
            except (RecursionError, KeyError, TypeError, ValueError) as error:
                raise source.error(line, f"is no result of vegeta: {error}") from None
            continue
        try:
            cells = next(csv.reader([text]))
        except csv.Error as error:
            raise source.error(line, f"is no CSV: {error}") from None
        if len(cells) not in _WIDTHS:
            raise source.error(line, f"{len(cells)} columns where vegeta's results have {_WIDTHS[-1]}")
        seq, method, url = (cells[index] if index < len(cells) else "" for index in (8, 9, 10))
        yield (
            line, whole(source, line, cells[0], "timestamp"), whole(source, line, cells[1], "code"),
            whole(source, line, cells[2], "latency"), number(source, line, cells[4], "bytes in"), cells[5], method,
            url, whole(source, line, seq or "0", "seq"),
        )  # fmt: skip


def _nanoseconds(text: str) -> int:
    """Unix ns of an RFC 3339 time with up to nine decimals."""
    match = re.fullmatch(r"(.*?:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", text)
    if match is None:
        raise ValueError(f"{text!r} is no time")
    seconds = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).timestamp()
    return int(seconds) * 1_000_000_000 + int((match[2] or "").ljust(9, "0"))
