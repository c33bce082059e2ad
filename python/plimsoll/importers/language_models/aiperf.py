"""AIPerf: records of each request (profile_export.jsonl), and sums (profile_export_aiperf.json, also GenAI-Perf's).

Its times begin before sending and end with the last chunk that has content. Its ITL is the time per token of a
request, its ICL the gaps between chunks. Written by src/aiperf/metrics/types and docs/reference/json-export-schema.md.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.importers.cells import MS
from plimsoll.importers.language_models import generated
from plimsoll.importers.language_models.generated import CHUNK, FIRST_TOKEN, TOKEN, Texts
from plimsoll.importers.plausible import contradiction, slack_of
from plimsoll.importers.samples import sampled
from plimsoll.importers.single import number, q, study_of_run
from plimsoll.stats.study import FailureKind, Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)")
_CSV = "Metric,avg,min,max"
_EACH_REQUEST = "profile_export.jsonl or profile_export_aiperf.json"


def is_records(source: ResultFile) -> bool:
    first = source.beginning.partition("\n")[0]
    return first.startswith("{") and '"request_start_ns"' in first and '"metrics"' in first


def is_summary(source: ResultFile) -> bool:
    keys = source.keys.keys()
    # Its other files are recognised, too: the error names the one to import.
    others = {"aiperf_version", "per_combination_metrics", "timeslices"} & keys or source.beginning.startswith(_CSV)
    return {"request_latency", "request_throughput"} <= keys or _is_early(source) or bool(others)


def _is_early(source: ResultFile) -> bool:
    """Release 0.1 has its metrics one level deeper."""
    return {"records", "input_config"} <= source.keys.keys() and '"request_latency"' in source.beginning


def read_records(source: ResultFile, options: ImportOptions) -> Study:
    texts, cancelled, warmup = Texts(source), 0, 0
    for line, text in source.lines():
        if not text:
            continue
        try:
            record = json.loads(text)
            about = record["metadata"]
            if about.get("was_cancelled"):
                cancelled += 1
            elif about.get("benchmark_phase") == "warmup":
                warmup += 1
            else:
                _record(source, line, texts, record)
        except (RecursionError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise source.error(line, f"is no record of AIPerf: {error}") from None
    left_out = ((cancelled, "cancelled requests are not counted"), (warmup, "requests of the warm-up are left out"))
    notes = (f"{count} {what}" for count, what in left_out if count)
    return texts.study(options, sampled("aiperf", floor=1e-6), None, notes=tuple(notes))


def _record(source: ResultFile, line: int, texts: Texts, record: Mapping[str, Any]) -> None:
    about, metrics, error = record["metadata"], record.get("metrics") or {}, record.get("error")
    start, end = (number(source, line, about[name], name) / 1e9 for name in ("request_start_ns", "request_end_ns"))
    if error is not None:
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        kind = f"{error.get('type') or 'error'}: {error.get('message')}"
        texts.request(line, end, None, failed=True, kind=kind.partition("\n")[0], status=status)
        return

    def ms(name: str) -> float | None:
        found = metrics.get(name)
        return None if found is None else _ms(source, line, found["value"], found["unit"], name)

    texts.request(line, end, ms("request_latency"))
    if (first := ms("time_to_first_token")) is not None:
        texts.text(line, start, first)
        gaps = metrics.get("inter_chunk_latency") or {"value": [], "unit": "ms"}
        between = [_ms(source, line, each, gaps["unit"], "inter_chunk_latency") for each in gaps["value"]]
        texts.chunks(line, start + first / 1000, between)
    # With reasoning; output_token_count is without.
    if (tokens := metrics.get("output_sequence_length")) is not None:
        count = round(number(source, line, tokens["value"], "output_sequence_length"))
        texts.tokens(line, end, count, ms("inter_token_latency"))


def _ms(source: ResultFile, line: int | None, value: Any, unit: Any, what: str) -> float:
    if unit not in MS:
        raise source.error(line, f"{what}: {unit!r} is no unit of time")
    return number(source, line, value, what) * MS[unit]


def read_summary(source: ResultFile, options: ImportOptions) -> Study:
    if source.beginning.startswith(_CSV):
        raise source.error(None, f"is a table of AIPerf: import {_EACH_REQUEST}, which lie beside it")
    with source.document("AIPerf") as document:
        if document.keys() & {"metrics", "per_combination_metrics"}:
            raise source.error(None, f"has means of several runs of AIPerf: import {_EACH_REQUEST} of each run")
        if "timeslices" in document:
            raise source.error(None, f"has parts of a run of AIPerf: import {_EACH_REQUEST}, which lie beside it")
        return _summary(source, options, (document.get("records") or {}) | document)


def _summary(source: ResultFile, options: ImportOptions, document: Mapping[str, Any]) -> Study:
    def average(name: str) -> float | None:
        found = document.get(name)
        return None if not found or found.get("avg") is None else number(source, None, found["avg"], name)

    def row(key: tuple[str, str], name: str, count: float | None, rate: float | None) -> Measured | None:
        found = document.get(name)
        if not found or found.get("avg") is None:
            return None
        requests = None if count is None else round(count)
        return Measured(*key, requests=requests, rate=rate, **_times(source, found, name))

    good, throughput = average("request_count"), average("request_throughput")
    kinds = _kinds(source, document)
    counted = average("error_request_count")
    bad = float(sum(kind.count for kind in kinds)) if counted is None else counted
    # Sums have no start and end of their own: the rate is that of successes.
    stated = average("benchmark_duration")
    doubt = ""
    if good and throughput and stated:
        product = ("request_throughput × benchmark_duration", throughput * stated)
        doubt = contradiction(("request_count", good), product, slack_of())
    seconds = stated or (good / throughput if good and throughput else None)
    requests = None if good is None else good + bad
    rate = requests / seconds if requests is not None and seconds else None
    total = row(("", ""), "request_latency", requests, rate)
    if total is None:
        raise source.error(None, "has no request_latency: all requests failed")
    total = replace(total, failures=round(bad), kinds=kinds)
    good_count, goodput = average("good_request_count"), average("request_goodput")
    # GenAI-Perf has the rate alone, and -1 for none.
    if good_count is None and goodput is not None and goodput >= 0 and seconds:
        good_count = goodput * seconds
    tokens = average("total_output_tokens") or average("total_osl")
    lengths = average("output_sequence_length")
    if tokens is None and lengths is not None and good is not None:
        tokens = lengths * good
    others = (
        row(FIRST_TOKEN, "time_to_first_token", good, throughput),
        row(CHUNK, "inter_chunk_latency", None, None),
        row(TOKEN, "inter_token_latency", tokens, average("output_token_throughput")),
        generated.good_requests(good_count, seconds),
    )
    tool = "aiperf" if document.keys() & {"aiperf_version", "records"} else "genai-perf"
    return study_of_run(
        source, options, seconds=seconds, **_load(source, document.get("input_config") or {}),
        precision=Precision(tool, digits=None, floor=1e-6, clock="sent", times_of="successes"),
        warnings=(doubt,) if doubt else (),
        notes=("only sums: profile_export.jsonl has each request",), **generated.rows(total, others),
    )  # fmt: skip


def _times(source: ResultFile, found: Mapping[str, Any], name: str) -> dict[str, Any]:
    # GenAI-Perf's times are in ms, with a unit or without.
    values = {
        key: _ms(source, None, value, found.get("unit", "ms"), f"{name}.{key}")
        for key, value in found.items()
        if key in ("avg", "min", "max") or _PERCENTILE.fullmatch(key)
        if value is not None
    }
    quantiles = {q(key[1:]): value for key, value in values.items() if key[0] == "p"}
    return {
        "mean": values["avg"], "min": values.get("min"), "max": values.get("max"),
        "quantiles": {rank: value for rank, value in sorted(quantiles.items()) if 0 < rank < 1},
    }  # fmt: skip


def _kinds(source: ResultFile, document: Mapping[str, Any]) -> tuple[FailureKind, ...]:
    found = []
    for each in document.get("error_summary") or ():
        details = each["error_details"]
        code = details.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        message = f"{details.get('type') or 'error'}: {details.get('message')}"
        count = round(number(source, None, each["count"], "error_summary.count"))
        found.append(FailureKind("http" if status else "other", message, count, status))
    return tuple(found)


def _load(source: ResultFile, config: Mapping[str, Any]) -> dict[str, Any]:
    """Of the measured phase; earlier versions have one load, GenAI-Perf a stimulus."""
    phases = config.get("phases")
    measured = [each for each in phases or () if isinstance(each, dict) and each.get("name") == "profiling"]
    stimulus = (config.get("perf_analyzer") or {}).get("stimulus")
    load = measured[0] if measured else config.get("loadgen") or stimulus or config

    def value(name: str) -> float | None:
        # A list is a sweep, of which the file has one run.
        found = load.get(name)
        return number(source, None, found, name) if isinstance(found, int | float) else None

    rate = value("request_rate")
    return {"users": value("concurrency"), "rate": value("rate") if rate is None else rate}
