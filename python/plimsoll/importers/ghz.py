"""ghz, a load generator for gRPC: the summary that it prints, and its JSON, with each call if the file has all.

Its times begin when the call does and end with its status. The average is that of all calls; the fastest, the slowest
and the percentiles are those of the calls with status OK.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from plimsoll.importers.cells import MS
from plimsoll.importers.one_result import check_printed
from plimsoll.importers.plausible import agree, slack_of
from plimsoll.importers.samples import Samples, sampled
from plimsoll.importers.single import number, q, study_of_run, whole
from plimsoll.stats.study import FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_FACT = re.compile(
    r"\s*(Count|Total|Slowest|Fastest|Average|Requests/sec):\s+(\d+(?:\.\d+)?)(?:\s+(ns|us|µs|ms|s))?\s*"
)
_QUANTILE = re.compile(r"\s*(\d{1,2}(?:\.\d{1,9})?)\s?% in (\d+(?:\.\d+)?)\s(ns|us|µs|ms|s)\s*")
_STATUS = re.compile(r"\s*\[([A-Za-z]{2,30})\]\s+(\d{1,18}) responses\s*")
_ERROR = re.compile(r"\s*\[(\d{1,18})\]\s+([^\d\s].*)")
_OK = "OK"
_CUT_OFF = frozenset({"Unavailable", "Canceled"})
"""Statuses of calls that were in flight when the run ended, unless ghz had an option to wait for them."""
_AVERAGE = "the average is that of all calls, the percentiles and the slowest those with status OK"


def is_text(source: ResultFile) -> bool:
    head = source.beginning
    return "Summary:" in head and "Requests/sec:" in head and bool(re.search(r"^\s{0,9}Count:\s", head, re.MULTILINE))


def is_json(source: ResultFile) -> bool:
    return {"count", "total", "rps", "statusCodeDistribution"} <= source.keys.keys()


def read_text(source: ResultFile, options: ImportOptions) -> Study:
    check_printed(source, "ghz")
    facts: dict[str, tuple[str, str]] = {}
    quantiles: dict[float, float] = {}
    statuses: dict[str, int] = {}
    errors: dict[str, int] = {}
    for line, text in source.lines():
        if match := _FACT.fullmatch(text):
            facts.setdefault(match[1], (match[2], match[3] or ""))
        elif match := _QUANTILE.fullmatch(text):
            quantiles[q(match[1])] = float(match[2]) * MS[match[3]]
        elif match := _STATUS.fullmatch(text):
            statuses[match[1]] = whole(source, line, match[2], "responses")
        elif match := _ERROR.fullmatch(text):
            errors[match[2].strip()] = int(match[1])
    missing = next((name for name in ("Count", "Total", "Requests/sec") if name not in facts), None)
    if missing:
        raise source.error(None, f"has no line `{missing}:` of ghz")
    total, rate = facts["Total"][0], facts["Requests/sec"][0]
    times = {
        name: float(facts[title][0]) * MS[facts[title][1] or "ms"]
        for name, title in (("mean", "Average"), ("min", "Fastest"), ("max", "Slowest"))
        if title in facts
    }
    return _summed(
        source,
        options,
        count=whole(source, None, facts["Count"][0], "Count"),
        seconds=float(total) * MS[facts["Total"][1] or "ms"] / 1000,
        printed_rate=float(rate),
        slack=slack_of(total, rate),
        times=times,
        quantiles=quantiles,
        statuses=statuses,
        errors=errors,
    )


def read_json(source: ResultFile, options: ImportOptions) -> Study:
    with source.document("ghz") as document:
        return _document(source, options, document)


def _document(source: ResultFile, options: ImportOptions, document: Mapping[str, Any]) -> Study:
    def ms(value: Any, what: str) -> float:
        return number(source, None, value, what) / 1e6

    def counts(name: str) -> dict[str, int]:
        return {key: whole(source, None, count, f"{name}[{key!r}]") for key, count in (document[name] or {}).items()}

    given = document.get("options") or {}
    count = whole(source, None, document["count"], "count")
    load = _load(source, given)
    about = {name: str(given[name]) for name in ("host", "call") if given.get(name)}
    statuses = counts("statusCodeDistribution")
    details = document.get("details") or []
    if len(details) == count and count:
        notes = _notes(statuses, is_summed=False, end=document.get("endReason"))
        return _detailed(source, options, details, str(given.get("call") or ""), about=about, notes=notes, **load)
    quantiles = {
        q(str(each["percentage"])): ms(each["latency"], "latencyDistribution")
        for each in document.get("latencyDistribution") or ()
        if each["percentage"]
    }
    names = {"mean": "average", "min": "fastest", "max": "slowest"}
    return _summed(
        source, options,
        count=count, seconds=ms(document["total"], "total") / 1000,
        printed_rate=number(source, None, document["rps"], "rps"), slack=slack_of(),
        times={name: ms(document[title], title) for name, title in names.items()},
        quantiles=quantiles, statuses=statuses, errors=counts("errorDistribution"), end=document.get("endReason"),
        about=about, **load,
    )  # fmt: skip


def _load(source: ResultFile, given: Mapping[str, Any]) -> dict[str, float | None]:
    rate = given.get("rps") or given.get("qps")
    users = given.get("concurrency")
    if rate and given.get("load-schedule") in (None, "", "const"):
        return {"users": None, "rate": number(source, None, rate, "options.rps")}
    return {"users": None if rate or not users else number(source, None, users, "options.concurrency"), "rate": None}


def _detailed(source: ResultFile, options: ImportOptions, details: list[Any], call: str, **found: Any) -> Study:
    # As in rows of our own calls: gRPC package.Service/Method.
    service, dot, method = call.strip("/").rpartition("." if "/" not in call.strip("/") else "/")
    key = ("gRPC", f"{service}/{method}" if dot else call) if call else ("", "all")
    samples = Samples(source)
    for index, each in enumerate(details):
        end = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", str(each["timestamp"]))).timestamp()
        is_bad = each["status"] != _OK
        samples.add(
            None,
            key,
            end,
            number(source, None, each["latency"], f"details[{index}].latency") / 1e6,
            failed=is_bad,
            kind=str(each.get("error") or each["status"]).partition("\n")[0] if is_bad else "",
        )
    return samples.study(options, sampled("ghz", floor=1e-3), **found)


def _summed(
    source: ResultFile,
    options: ImportOptions,
    *,
    count: int,
    seconds: float,
    printed_rate: float,
    slack: float,
    times: Mapping[str, float],
    quantiles: Mapping[float, float],
    statuses: Mapping[str, int],
    errors: Mapping[str, int],
    end: Any = None,
    **found: Any,
) -> Study:
    if printed_rate:
        agree(source, ("Count", count), ("Requests/sec × Total", printed_rate * seconds), slack)
    if statuses:
        agree(source, ("Count", count), ("the sum of the status codes", sum(statuses.values())))
    bad = {status: number_of for status, number_of in statuses.items() if status != _OK}
    failures = sum(bad.values())
    # Messages name the status, too; the list of some versions is not complete.
    kinds = errors if sum(errors.values()) == failures else bad
    total = Measured(
        "",
        "Aggregated",
        requests=count,
        failures=failures if statuses else None,
        rate=count / seconds if seconds else None,
        quantiles={rank: value for rank, value in quantiles.items() if 0 < rank < 1},
        kinds=tuple(FailureKind("other", text, number_of) for text, number_of in kinds.items()),
        mean=times.get("mean"),
        min=times.get("min"),
        max=times.get("max"),
    )
    precision = Precision("ghz", digits=None, floor=0.01, clock="sent", times_of="successes")
    notes = _notes(statuses, is_summed=True, end=end)
    return study_of_run(source, options, seconds=seconds, total=total, precision=precision, notes=notes, **found)


def _notes(statuses: Mapping[str, int], *, is_summed: bool, end: Any) -> tuple[str, ...]:
    notes = [_AVERAGE] if is_summed and any(status != _OK for status in statuses) else []
    cut_off = sum(count for status, count in statuses.items() if status in _CUT_OFF)
    if end == "timeout" and cut_off:
        notes.append(f"ghz cuts off calls at its end: they are among {cut_off} failures Unavailable and Canceled")
    return tuple(notes)
