"""Reports of GuideLLM before 0.4, in the form that later releases write.

Releases 0.2 and 0.3 have the totals beside the metrics, and other names for the times of a request. Release 0.1 has
each request only, without the moments of those that failed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from plimsoll.importers.single import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.result_file import ResultFile

_FIRST = re.compile(r'\s*\{\s*"benchmarks"\s*:\s*\[\s*\{\s*"benchmarks"\s*:')
_STRATEGIES = {"synchronous": "synchronous", "asynchronous": "constant", "throughput": "throughput"}
"""By the modes of release 0.1."""


def is_first(source: ResultFile) -> bool:
    """Whether release 0.1 wrote it."""
    return bool(_FIRST.match(source.beginning))


def of_first_release(source: ResultFile, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The benchmarks of a file of release 0.1."""
    return [_of_results(source, each) for report in document["benchmarks"] for each in report["benchmarks"]]


def is_second(benchmark: Mapping[str, Any]) -> bool:
    """Whether release 0.2 or 0.3 wrote this benchmark."""
    return "request_totals" in benchmark and "config" not in benchmark


def of_second_release(benchmark: Mapping[str, Any]) -> dict[str, Any]:
    """A benchmark of release 0.2 or 0.3."""
    requests = benchmark.get("requests") or {}
    return {
        **benchmark,
        "config": {"strategy": benchmark["args"]["strategy"]},
        "metrics": {**benchmark["metrics"], "request_totals": benchmark["request_totals"]},
        "requests": {name: [_renamed(each) for each in requests.get(name) or ()] for name in ("successful", "errored")},
    }


def _renamed(request: Mapping[str, Any]) -> dict[str, Any]:
    # Texts of one token have 0 as the time between tokens.
    single = (request.get("output_tokens") or 0) <= 1
    return {
        **request,
        "request_start_time": request["start_time"],
        "request_end_time": request["end_time"],
        "inter_token_latency_ms": None if single else request.get("inter_token_latency_ms"),
        "info": {"error": request.get("error")},
    }


def _of_results(source: ResultFile, benchmark: Mapping[str, Any]) -> dict[str, Any]:
    results = [_of_result(source, each) for each in benchmark["results"]]
    if not results:
        raise source.error(None, "has a benchmark in which all requests failed: GuideLLM 0.1 wrote no times of them")
    start = min(each["request_start_time"] for each in results)
    end = max(each["request_end_time"] for each in results)
    errors = [
        {"request_end_time": end, "request_latency": None, "info": {"error": each["message"]}}
        for each in benchmark["errors"]
    ]
    totals = {"successful": len(results), "errored": len(errors), "incomplete": 0}
    return {
        "config": {"strategy": {"type_": _STRATEGIES[benchmark["mode"]], "rate": benchmark.get("rate")}},
        "metrics": {"request_totals": totals},
        "requests": {"successful": results, "errored": errors},
        "duration": end - start,
    }


def _of_result(source: ResultFile, result: Mapping[str, Any]) -> dict[str, Any]:
    start, end = (number(source, None, result[name], name) for name in ("start_time", "end_time"))
    first = result.get("first_token_time")
    gaps = [number(source, None, each, "decode_times") for each in result["decode_times"]["data"]]
    return {
        "request_start_time": start,
        "request_end_time": end,
        "request_latency": end - start,
        "output_tokens": result["output_token_count"],
        "time_to_first_token_ms": None if first is None else number(source, None, first, "first_token_time") * 1000,
        "inter_token_latency_ms": sum(gaps) / len(gaps) * 1000 if gaps else None,
    }
