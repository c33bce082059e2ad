"""hey and oha: the summary that both print, oha's JSON, and the requests that both write as CSV.

Neither CSV contains requests without a response. oha measures from the intended start only with --latency-correction,
which its files do not record.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from plimsoll.importers import ghz
from plimsoll.importers.cells import MS
from plimsoll.importers.one_result import OneHeader, check_printed
from plimsoll.importers.plausible import contradiction, slack_of
from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number, q, study_of_run, whole
from plimsoll.stats.study import FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_HEY_TITLES = ["response-time", "DNS+dialup", "DNS", "Request-write", "Response-delay", "Response-read", "status-code"]
_EARLY_TITLES = _HEY_TITLES[:-1]
"""Those of release 0.1.0."""
_OHA_TITLES = ["request-start", "DNS", "DNS+dialup", "Response-delay", "request-duration", "bytes", "status"]
_MOST_OF_HEY = 1_000_000
_SUMMED = re.compile(
    r"\s*(Total|Slowest|Fastest|Average|Requests/sec|Success rate|Size/request):\s+(\S+)(?:\s+(\S+))?\s*"
)
_QUANTILE = re.compile(r"\s*(\d+(?:\.\d+)?)%+ in (\d+(?:\.\d+)?) ?(secs?|ms|us|µs|ns|m|h)?\s*")
_STATUS = re.compile(r"\s*\[(\d{3})\]\s+(\d+) responses\s*")
_ERROR = re.compile(r"\s*\[(\d{1,18})\]\s+(\D.*)")
DEADLINE = "aborted due to deadline"
"""oha's name for requests cut off by the end of the run; they are no failures of the target."""
_NO_ANSWERS = "requests without an answer are not in this file"


def is_csv(source: ResultFile) -> bool:
    titles = source.beginning.partition("\n")[0].strip().split(",")
    return titles[: len(_EARLY_TITLES)] == _EARLY_TITLES or titles[: len(_OHA_TITLES)] == _OHA_TITLES


def is_json(source: ResultFile) -> bool:
    head = source.beginning
    return head.lstrip().startswith("{") and '"summary"' in head and '"successRate"' in head


def is_text(source: ResultFile) -> bool:
    head = source.beginning
    return not ghz.is_text(source) and "Summary:" in head and "Requests/sec:" in head and "Slowest:" in head


def read_csv(source: ResultFile, options: ImportOptions) -> Study:
    rows = source.rows()
    _, titles = next(rows)
    is_hey = titles[0] == "response-time"
    if is_hey and not {"status-code", "offset"} <= set(titles):
        raise source.error(
            1, "is of an early release of hey, which wrote neither statuses nor moments: use its summary"
        )
    time, start = ("response-time", "offset") if is_hey else ("request-duration", "request-start")
    samples, header = Samples(source), OneHeader(source, "hey" if is_hey else "oha", first=1)
    for line, cells in rows:
        if cells == titles:
            header.seen(line)
        row = dict(zip(titles, cells, strict=False))
        seconds = number(source, line, row.get(time), time)
        status = whole(source, line, row.get("status-code" if is_hey else "status"), "status")
        samples.add(
            line,
            ("", "all"),
            number(source, line, row.get(start), start) + seconds,
            seconds * 1000,
            failed=status >= 400,
            status=status,
            size=number(source, line, row["bytes"], "bytes") if "bytes" in row else None,
        )
    warnings = [_NO_ANSWERS]
    if is_hey and len(samples) == _MOST_OF_HEY:
        warnings.append(f"hey writes the first {_MOST_OF_HEY} requests only")
    precision = sampled("hey", floor=0.1) if is_hey else sampled("oha", floor=1e-3, clock="unknown")
    return samples.study(options, precision, notes=tuple(warnings))


def read_json(source: ResultFile, options: ImportOptions) -> Study:
    with source.document("oha") as document:
        return _oha(source, options, document)


def _oha(source: ResultFile, options: ImportOptions, document: Any) -> Study:
    summary: Mapping[str, Any] = document["summary"]

    def seconds(value: Any, what: str) -> float | None:
        return None if value is None else number(source, None, value, what) * 1000

    statuses = {
        whole(source, None, code, "statusCodeDistribution"): whole(source, None, count, f"responses of status {code}")
        for code, count in (document.get("statusCodeDistribution") or {}).items()
    }
    errors = {
        text: whole(source, None, count, f"errorDistribution[{text!r}]")
        for text, count in (document.get("errorDistribution") or {}).items()
    }
    percentiles = document.get("latencyPercentiles") or {}
    quantiles = {
        q(name[1:]): value
        for name, found in percentiles.items()
        if (value := seconds(found, f"latencyPercentiles.{name}")) is not None
    }
    return _summed(
        source,
        options,
        tool="oha",
        seconds=number(source, None, summary.get("total"), "summary.total"),
        times={name: seconds(summary.get(name), f"summary.{name}") for name in ("average", "fastest", "slowest")},
        quantiles=quantiles,
        statuses=statuses,
        errors=errors,
        size=summary.get("sizePerRequest"),
        rate=number(source, None, summary.get("requestsPerSec") or 0, "summary.requestsPerSec"),
        slack=slack_of(),
        floor=1e-6,
    )


def read_text(source: ResultFile, options: ImportOptions) -> Study:
    check_printed(source, "oha" if "Success rate:" in source.beginning else "hey")
    values: dict[str, tuple[str, str | None]] = {}
    quantiles: dict[float, float] = {}
    statuses: dict[int, int] = {}
    errors: dict[str, int] = {}
    in_errors = False
    for line, text in source.lines():
        in_errors = (in_errors or "Error distribution" in text) and not text.startswith("Status code")
        if match := _SUMMED.fullmatch(text):
            values.setdefault(match[1], (match[2], match[3]))
        elif match := _QUANTILE.fullmatch(text):
            # oha prints a second list, of DNS and first bytes, in another format.
            quantiles.setdefault(q(match[1]), float(match[2]) * (_scale(match[3]) or 0.0))
        elif match := _STATUS.fullmatch(text):
            statuses[int(match[1])] = whole(source, line, match[2], "responses")
        elif in_errors and (match := _ERROR.fullmatch(text)):
            errors[match[2].strip()] = int(match[1])

    def time(name: str) -> float | None:
        if name not in values:
            return None
        text, unit = values[name]
        scale = _scale(unit)
        if scale is None:
            raise source.error(None, f"{name}: {unit!r} is no unit of time")
        return number(source, None, text, name) * scale

    total = time("Total")
    if total is None:
        raise source.error(None, "has no line `Total:`")
    rate = values.get("Requests/sec", ("0", None))[0]
    size = values.get("Size/request")
    in_bytes = size is not None and size[1] in (None, "bytes", "B") and size[0].replace(".", "").isdigit()
    return _summed(
        source,
        options,
        tool="oha" if "Success rate" in values else "hey",
        seconds=total / 1000,
        times={"average": time("Average"), "fastest": time("Fastest"), "slowest": time("Slowest")},
        quantiles=quantiles,
        statuses=statuses,
        errors=errors,
        size=number(source, None, size[0], "Size/request") if size and in_bytes else None,
        rate=number(source, None, rate, "Requests/sec"),
        slack=slack_of(values["Total"][0], rate),
        floor=0.1,
    )


def _scale(unit: str | None) -> float | None:
    """ms of a unit; both print seconds without a unit."""
    return MS.get(unit or "s")


def _summed(
    source: ResultFile,
    options: ImportOptions,
    *,
    tool: str,
    seconds: float,
    times: Mapping[str, float | None],
    quantiles: Mapping[float, float],
    statuses: Mapping[int, int],
    errors: Mapping[str, int],
    size: float | None,
    rate: float,
    slack: float,
    floor: float,
) -> Study:
    """oha's own success rate leaves out requests cut off by its deadline, so counts are used. rate: as printed, 0 if
    it is not there."""
    cut_off = sum(count for text, count in errors.items() if text == DEADLINE)
    refused = {code: count for code, count in statuses.items() if code >= 400}
    broken = {text: count for text, count in errors.items() if text != DEADLINE}
    requests = sum(statuses.values()) + sum(broken.values())
    failures: int | None = sum(refused.values()) + sum(broken.values())
    notes = [f"{cut_off} requests were cut off at the end and are not counted"] if cut_off else []
    if tool == "hey" and sum(statuses.values()) == _MOST_OF_HEY < rate * seconds / (1 + slack):
        counted = f"{failures} of the {requests} that it counts failed"
        notes.append(f"hey counts the status codes of the first {_MOST_OF_HEY} requests only: {counted}")
        requests, failures, refused, broken = round(rate * seconds), None, {}, {}
    elif rate and not statuses and not errors:
        notes.append("the file has no status codes: its requests are Requests/sec × Total")
        requests, failures = round(rate * seconds), None
    elif rate:
        _check_count(source, requests, cut_off, rate * seconds, slack)
    total = Measured(
        "",
        "Aggregated",
        requests=requests,
        failures=failures,
        rate=requests / seconds if seconds else None,
        mean=times["average"],
        min=times["fastest"],
        max=times["slowest"],
        quantiles={rank: value for rank, value in quantiles.items() if 0 < rank < 1},
        size=size,
        kinds=(
            *(FailureKind("http", f"HTTP {code}", count, code) for code, count in refused.items()),
            *(FailureKind("other", text, count) for text, count in broken.items()),
        ),
    )
    if tool == "oha":
        notes.append("the file does not say whether oha corrected latency")
    precision = Precision(
        tool, digits=None, floor=floor, clock="sent" if tool == "hey" else "unknown",
        times_of="unknown" if tool == "hey" else "successes",
    )  # fmt: skip
    return study_of_run(source, options, seconds=seconds, total=total, precision=precision, notes=tuple(notes))


def _check_count(source: ResultFile, requests: int, cut_off: int, product: float, slack: float) -> None:
    """Raises UsageError if the file contradicts itself. Releases of oha differ in whether their rate has requests that
    the end of the run cut off."""
    name = "the sum of status codes and errors"
    why = contradiction((name, requests), ("Requests/sec × Total", product), slack)
    if why and contradiction((name, requests + cut_off), ("Requests/sec × Total", product), slack):
        raise source.error(None, why)
