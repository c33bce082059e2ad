"""k6: summaries (--summary-export, handleSummary, the machine-readable one) and points (--out json, --out csv).

Traps: in --summary-export a threshold's boolean is true if it FAILED; a rate is called `value` there; and `passes` of
http_req_failed are the requests that failed. http_req_duration is sending, waiting and receiving, without connecting.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from plimsoll.importers.one_result import OneHeader, several
from plimsoll.importers.plausible import contradiction
from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number, q, study_of_run
from plimsoll.stats.study import TOTAL, GeneratorHealth, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_SUMMARY = Precision("k6", digits=None, floor=1e-6, clock="sent", times_of="all")
_POINTS = sampled("k6", floor=1e-3)
_SUBMETRIC = re.compile(r"http_req_duration\{(?P<tags>.*)\}")
_QUANTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")
_USERS, _DURATION = "vus", "http_req_duration"


def is_summary(source: ResultFile) -> bool:
    head = source.beginning
    has_metrics = bool(source.keys.keys() & {"metrics", "root_group", "results"}) or '"k6Version"' in head
    return (
        has_metrics
        and ('"http_req_duration' in head or '"root_group"' in head or '"k6Version"' in head)
        and '"type":"Point"' not in head.replace(" ", "")
    )


def is_json_points(source: ResultFile) -> bool:
    first = source.beginning.partition("\n")[0].replace(" ", "")
    return first.startswith("{") and '"metric":' in first and ('"type":"Metric"' in first or '"type":"Point"' in first)


def is_csv_points(source: ResultFile) -> bool:
    return source.beginning.startswith("metric_name,timestamp,metric_value")


def read_summary(source: ResultFile, options: ImportOptions) -> Study:
    with source.document("k6") as document:
        return _summary(source, options, document)


def _summary(source: ResultFile, options: ImportOptions, document: Any) -> Study:
    metrics, checks = _metrics(source, document)
    if _DURATION not in metrics:
        raise source.error(None, "has no http_req_duration: no requests over HTTP")
    requests = metrics.get("http_reqs", {})
    count = requests.get("count")
    seconds = document.get("state", {}).get("testRunDurationMs", 0) / 1000 or None
    # The machine-readable summary has neither that nor rates.
    seconds = seconds or number(source, None, document.get("config", {}).get("duration", 0), "config.duration") or None
    seconds = seconds or (count / requests["rate"] if count and requests.get("rate") else None)
    failed = metrics.get("http_req_failed", {})
    total = _measured(
        TOTAL,
        metrics[_DURATION],
        int(count) if count is not None else None,
        _failures(failed),
        requests.get("rate") or (count / seconds if count and seconds else None),
    )
    endpoints = []
    for name, values in metrics.items():
        if (match := _SUBMETRIC.fullmatch(name)) and (key := _endpoint(_tags(match["tags"]))) is not None:
            endpoints.append(_measured(key, values, None, None, None))
    # vus_max counts those that k6 had ready: with an arrival rate, most of them may never have run.
    users = metrics.get("vus", {}).get("max")
    dropped = metrics.get("dropped_iterations", {}).get("count")
    return study_of_run(
        source,
        options,
        users=users,
        seconds=seconds,
        total=total,
        endpoints=tuple(endpoints),
        precision=_SUMMARY,
        generator=GeneratorHealth(dropped=int(dropped)) if dropped is not None else None,
        notes=tuple(f"threshold {text}: {'held' if held else 'FAILED'}" for text, held in checks.items()),
        warnings=tuple(_doubts(requests, failed, document.get("state", {}).get("testRunDurationMs"))),
    )


def _failures(failed: Mapping[str, float]) -> int | None:
    """A failed request is a "pass" of the question "did it fail?", and a match in the machine-readable summary."""
    count = failed.get("passes", failed.get("matches"))
    return None if count is None else int(count)


def _doubts(requests: Mapping[str, float], failed: Mapping[str, float], ms: float | None) -> Iterator[str]:
    """Contradictions between its numbers. A script can exclude requests from http_req_failed, so they are no
    reason to refuse the file."""
    count, rate = requests.get("count"), requests.get("rate")
    if count is None:
        return
    if rate and ms and (why := contradiction(("http_reqs.count", count), ("rate × duration", rate * ms / 1000), 0.02)):
        yield why
    if {"passes", "fails"} <= failed.keys():
        yield from filter(
            None,
            [
                contradiction(
                    ("http_reqs.count", count), ("http_req_failed's sum", failed["passes"] + failed["fails"]), 0.001
                )
            ],
        )


def _metrics(source: ResultFile, document: Any) -> tuple[dict[str, dict[str, float]], dict[str, bool]]:
    """(values by metric, whether each threshold passed) of any of the three formats."""
    found: Any
    if isinstance(document, dict) and isinstance(document.get("results"), dict):
        found = {each["name"]: each for each in document["results"].get("metrics", ())}
    else:
        found = document.get("metrics") if isinstance(document, dict) else None
    if not isinstance(found, dict):
        raise source.error(None, "has no metrics of k6")
    values: dict[str, dict[str, float]] = {}
    held: dict[str, bool] = {}
    for name, metric in found.items():
        inner = metric.get("values", metric)
        values[name] = {
            key: number(source, None, value, f"{name}.{key}")
            for key, value in inner.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        for expression, verdict in (metric.get("thresholds") or {}).items():
            # An object has `ok`; the bare boolean of --summary-export is true if the threshold was crossed.
            held[f"{name}: {expression}"] = bool(verdict["ok"]) if isinstance(verdict, dict) else not verdict
    return values, held


def _measured(
    key: tuple[str, str],
    values: Mapping[str, float],
    requests: int | None,
    failures: int | None,
    rate: float | None,
) -> Measured:
    quantiles = {q(match[1]): value for name, value in values.items() if (match := _QUANTILE.fullmatch(name))}
    if "med" in values:
        quantiles[0.5] = values["med"]
    return Measured(
        *key,
        requests=requests,
        failures=failures,
        rate=rate,
        mean=values.get("avg"),
        min=values.get("min"),
        max=values.get("max"),
        quantiles={rank: value for rank, value in sorted(quantiles.items()) if 0 < rank < 1},
    )


def _tags(text: str) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (pair.partition(":") for pair in text.split(","))}


def _endpoint(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """Method and name in the tags; None without an endpoint."""
    name = tags.get("name") or tags.get("url")
    return (tags.get("method", ""), name) if name else None


def read_points(source: ResultFile, options: ImportOptions) -> Study:
    samples = Samples(source)
    most_users = dropped = 0.0
    points = _json_points(source) if is_json_points(source) else _csv_points(source)
    for line, metric, at, value, tags in points:
        if metric == _USERS:
            most_users = max(most_users, value)
        elif metric == "dropped_iterations":
            dropped += value
        elif metric == _DURATION:
            status = int(tags["status"]) if tags.get("status", "").isdecimal() and len(tags["status"]) == 3 else 0
            expected = tags.get("expected_response")
            samples.add(
                line,
                _endpoint(tags) or ("", "all"),
                at,
                value,
                failed=expected == "false" if expected else not 200 <= status < 400,
                kind=tags.get("error") or f"HTTP {status}",
                status=status or None,
            )
    return samples.study(options, _POINTS, users=most_users or None, generator=GeneratorHealth(dropped=int(dropped)))


_Point = tuple[int, str, float, float, "Mapping[str, str]"]


def _json_points(source: ResultFile) -> Iterator[_Point]:
    """(line, metric, Unix seconds of the request's end, value, tags)."""
    declared: dict[str, int] = {}
    for line, text in source.lines():
        if not text:
            continue
        try:
            each = json.loads(text)
            if each["type"] != "Point":
                _declare(source, line, each, declared)
                continue
            data = each["data"]
            at = datetime.fromisoformat(_microseconds(data["time"])).timestamp()
            yield line, each["metric"], at, float(data["value"]), data.get("tags") or {}
        except (RecursionError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise source.error(line, f"is no point of k6: {error}") from None


def _declare(source: ResultFile, line: int, record: Any, declared: dict[str, int]) -> None:
    """declared: the line of each metric. k6 declares a metric once in each file."""
    if record["type"] != "Metric":
        return
    first = declared.setdefault(str(record["data"]["name"]), line)
    if first != line:
        raise several(source, "k6", [min(declared.values()), line])


def _microseconds(text: str) -> str:
    """Go writes nine decimals, Python reads six."""
    return re.sub(r"(\.\d{6})\d+", r"\1", text)


def _csv_points(source: ResultFile) -> Iterator[_Point]:
    """Columns by their titles: their number differs between releases."""
    rows = source.rows()
    _, titles = next(rows)
    header = OneHeader(source, "k6", first=1)
    for line, cells in rows:
        if cells == titles:
            header.seen(line)
        row = dict(zip(titles, cells, strict=False))
        tags = {key: value for key, value in row.items() if value} | dict(parse_qsl(row.get("extra_tags", "")))
        yield (
            line, row["metric_name"], _unix(source, line, row.get("timestamp", "")),
            number(source, line, row.get("metric_value"), "metric_value"), tags,
        )  # fmt: skip


def _unix(source: ResultFile, line: int, text: str) -> float:
    """Seconds, from any of k6's time formats: the number of digits determines the unit, until the year 5000."""
    if text.isdecimal() and len(text) <= 19:
        return int(text) / 10.0 ** (3 * max(0, round((len(text) - 10) / 3)))
    try:
        return datetime.fromisoformat(_microseconds(text)).timestamp()
    except ValueError:
        raise source.error(line, f"timestamp: {text!r} is no time") from None
