"""GuideLLM's benchmarks.json: each of its benchmarks is a level; each request, if the file has all of them.

Its ITL is the time per token of a request; it measures no gaps between chunks. Written by
src/guidellm/benchmark/schemas and src/guidellm/schemas/base/request_stats.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.importers.language_models import generated, guidellm_early
from plimsoll.importers.language_models.generated import FIRST_TOKEN, TOKEN, Texts
from plimsoll.importers.options import ImportOptions
from plimsoll.importers.samples import sampled
from plimsoll.importers.single import number, study_of_run, whole
from plimsoll.stats.study import Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study, Trial

_OVER_TOKENS = "percentiles of `each token` are over tokens: a request counts once for each"


def is_report(source: ResultFile) -> bool:
    head = source.beginning
    # Until release 0.4 a file did not name its release.
    named = '"guidellm_version"' in head or ("benchmarks" in source.keys and '"generative_benchmark"' in head)
    return (head.lstrip().startswith("{") and named) or guidellm_early.is_first(source)


def read_report(source: ResultFile, options: ImportOptions) -> Study:
    with source.document("GuideLLM") as document:
        first = guidellm_early.is_first(source)
        benchmarks = guidellm_early.of_first_release(source, document) if first else document["benchmarks"]
        if not benchmarks:
            raise source.error(None, "holds no benchmarks")
        # With several, the file has levels.
        given = options if len(benchmarks) == 1 else replace(options, users=None, rate=None)
        studies = [_benchmark(source, given, each) for each in benchmarks]
        version = "0.1" if first else _version(document)
    trials = tuple(_numbered(study.trials[0], index, len(studies)) for index, study in enumerate(studies))
    return replace(studies[0], trials=trials, about={"guidellm": version})


def _version(document: Mapping[str, Any]) -> str:
    if "metadata" in document:
        return str(document["metadata"]["guidellm_version"])
    return "0.2 or 0.3" if guidellm_early.is_second(document["benchmarks"][0]) else "0.4"


def _numbered(trial: Trial, index: int, count: int) -> Trial:
    return trial if count == 1 else replace(trial, id=f"{trial.id} {index + 1}")


def _benchmark(source: ResultFile, options: ImportOptions, benchmark: Mapping[str, Any]) -> Study:
    if guidellm_early.is_second(benchmark):
        benchmark = guidellm_early.of_second_release(benchmark)
    totals = benchmark["metrics"]["request_totals"]
    successful, errored, incomplete = (
        whole(source, None, totals[name], f"request_totals.{name}") for name in ("successful", "errored", "incomplete")
    )
    found = {**_load(source, benchmark["config"]["strategy"]), "notes": ()}
    if incomplete:
        found["notes"] = (f"{incomplete} requests were cut off at the end and are not counted",)
    requests = benchmark.get("requests") or {}
    lists = [requests.get(name) or [] for name in ("successful", "errored")]
    if [len(each) for each in lists] == [successful, errored] and successful:
        return _detailed(source, options, benchmark, lists, found)
    return _summed(source, options, benchmark, (successful, errored), found)


def _load(source: ResultFile, strategy: Mapping[str, Any]) -> dict[str, Any]:
    kind = strategy["type_"]
    if kind == "synchronous":
        return {"users": 1.0, "rate": None}
    rate = strategy.get("rate") if kind in ("constant", "poisson") else None
    users = strategy.get("streams") or strategy.get("max_concurrency")
    return {
        "users": None if users is None or rate is not None else number(source, None, users, "strategy.streams"),
        "rate": None if rate is None else number(source, None, rate, "strategy.rate"),
    }


def _good(source: ResultFile, metrics: Mapping[str, Any], seconds: float | None) -> Measured | None:
    goodput = metrics.get("request_goodput")
    if goodput is None:
        return None
    return generated.good_requests(number(source, None, goodput["successful"]["count"], "request_goodput"), seconds)


def _detailed(
    source: ResultFile,
    options: ImportOptions,
    benchmark: Mapping[str, Any],
    lists: list[list[Mapping[str, Any]]],
    found: dict[str, Any],
) -> Study:
    texts = Texts(source)
    for request in lists[0]:
        _text(source, texts, request)
    for request in lists[1]:
        seconds = request.get("request_latency")
        ms = None if seconds is None else number(source, None, seconds, "request_latency") * 1000
        end = number(source, None, request["request_end_time"], "request_end_time")
        kind = str(request["info"].get("error") or "").strip().partition("\n")[0]
        texts.request(None, end, ms, failed=True, kind=kind)
    good = _good(source, benchmark["metrics"], number(source, None, benchmark["duration"], "duration"))
    return texts.study(options, sampled("guidellm", floor=1e-3), good, **found)


def _text(source: ResultFile, texts: Texts, request: Mapping[str, Any]) -> None:
    names = ("request_start_time", "request_end_time", "request_latency")
    start, end, latency = (number(source, None, request[name], name) for name in names)
    texts.request(None, end, latency * 1000)
    first, each, tokens = (
        request.get(name) for name in ("time_to_first_token_ms", "inter_token_latency_ms", "output_tokens")
    )
    if first is not None:
        texts.text(None, start, number(source, None, first, "time_to_first_token_ms"))
    if tokens is not None:
        ms = None if each is None else number(source, None, each, "inter_token_latency_ms")
        texts.tokens(None, end, whole(source, None, tokens, "output_tokens"), ms)


def _summed(
    source: ResultFile,
    options: ImportOptions,
    benchmark: Mapping[str, Any],
    counts: tuple[int, int],
    found: dict[str, Any],
) -> Study:
    seconds, metrics = number(source, None, benchmark["duration"], "duration"), benchmark["metrics"]
    successful, errored = counts

    def measured(key: tuple[str, str], metric: str, count: int, failures: int | None = None) -> Measured | None:
        """None: no request has this time."""
        summary = (metrics.get(metric) or {}).get("successful")
        if not summary or not summary["count"]:
            return None
        scale = 1.0 if metric.endswith("_ms") else 1000.0
        rate = count / seconds if seconds else None
        times = _times(source, summary, metric, scale)
        return Measured(*key, requests=count, failures=failures, rate=rate, **times)

    requests = successful + errored
    total = measured(("", ""), "request_latency", requests, errored)
    tokens = metrics["output_token_count"]["successful"]["total_sum"]
    others = (
        measured(FIRST_TOKEN, "time_to_first_token_ms", successful),
        measured(TOKEN, "inter_token_latency_ms", round(number(source, None, tokens, "output_token_count"))),
        _good(source, metrics, seconds),
    )
    found["notes"] += (_OVER_TOKENS, "only sums: the file has a sample of its requests")
    return study_of_run(
        source, options, seconds=seconds, **found,
        precision=Precision("guidellm", digits=None, floor=1e-3, clock="sent", times_of="successes"),
        **generated.rows(total or Measured("", "", requests=requests, failures=errored), others),
    )  # fmt: skip


def _times(source: ResultFile, summary: Mapping[str, Any], metric: str, scale: float) -> dict[str, Any]:
    def ms(value: Any, what: str) -> float:
        return number(source, None, value, f"{metric}.{what}") * scale

    # p999 is 99.9 %, p05 is 5 %.
    quantiles = {
        float(f"0.{name[1:]}"): ms(value, name)
        for name, value in summary["percentiles"].items()
        if name[1:].isascii() and name[1:].isdecimal()
    }
    # Release 0.2 has the median beside them.
    quantiles.setdefault(0.5, ms(summary["median"], "median"))
    return {
        **{name: ms(summary[name], name) for name in ("mean", "min", "max")},
        "quantiles": {rank: value for rank, value in sorted(quantiles.items()) if 0 < rank < 1},
    }
