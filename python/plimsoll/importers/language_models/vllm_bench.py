"""`vllm bench serve` (earlier: benchmark_serving.py): its result, with --save-detailed each request.

Its times begin before sending and end with the last chunk that has choices, which may be empty. Written by
vllm/benchmarks/serve.py and vllm/benchmarks/lib/endpoint_request_func.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from plimsoll.importers.language_models import generated
from plimsoll.importers.language_models.generated import CHUNK, FIRST_EVENT, FIRST_TOKEN, TOKEN, Texts
from plimsoll.importers.plausible import contradiction, slack_of
from plimsoll.importers.samples import sampled
from plimsoll.importers.single import number, q, study_of_run, whole
from plimsoll.stats.study import Measured, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.importers.options import ImportOptions
    from plimsoll.importers.result_file import ResultFile
    from plimsoll.stats.study import Study

_TOOL = "vllm bench serve"
_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)_(\w+)_ms")
_DETAILS = ("start_times", "ttfts", "itls", "output_lens", "errors")
_ALWAYS = {"duration", "completed", "request_throughput", "total_output_tokens"}
_TOKENS = "tokens are those of the server's usage, or else of a tokenizer"


def is_result(source: ResultFile) -> bool:
    # Releases differ: total_token_throughput came in autumn 2024, and runs of conversations have no num_prompts.
    return source.keys.keys() >= _ALWAYS and bool(source.keys.keys() & {"num_prompts", "num_conversations"})


def read_result(source: ResultFile, options: ImportOptions) -> Study:
    with source.document(_TOOL) as document:
        found = {
            "seconds": number(source, None, document["duration"], "duration"),
            "users": _load(source, document, "max_concurrency") or _load(source, document, "multi_turn_concurrency"),
            "rate": _load(source, document, "request_rate"),
            "warnings": tuple(_doubts(source, document)),
            "about": {"model": str(document.get("model_id")), "backend": _backend(document)},
        }
        if all(document.get(name) for name in _DETAILS):
            found.pop("seconds")
            return _detailed(source, options, document, found)
        return _summed(source, options, document, found)


def _doubts(source: ResultFile, document: Mapping[str, Any]) -> list[str]:
    """Contradictions between its numbers."""
    seconds, rate, completed = (
        number(source, None, document[name], name) for name in ("duration", "request_throughput", "completed")
    )
    why = contradiction(("completed", completed), ("request_throughput × duration", rate * seconds), slack_of())
    return [why] if why else []


def _backend(document: Mapping[str, Any]) -> str:
    return str(document.get("backend") or document.get("endpoint_type"))


def _first(document: Mapping[str, Any]) -> tuple[str, str]:
    """The row of its TTFT, which ends with the first choice: in a chat that is the role, without content."""
    return FIRST_EVENT if "chat" in _backend(document) else FIRST_TOKEN


def _load(source: ResultFile, document: Mapping[str, Any], name: str) -> float | None:
    value = document.get(name)
    return None if value in (None, "inf") else number(source, None, value, name)


def _good(source: ResultFile, document: Mapping[str, Any]) -> Measured | None:
    # Until 2025 the name had a colon at its end.
    rate = document.get("request_goodput", document.get("request_goodput:"))
    if rate is None:
        return None
    seconds = number(source, None, document["duration"], "duration")
    return generated.good_requests(number(source, None, rate, "request_goodput") * seconds, seconds)


def _detailed(source: ResultFile, options: ImportOptions, document: Mapping[str, Any], found: dict[str, Any]) -> Study:
    texts = Texts(source)
    columns = [document[name] for name in _DETAILS]
    # Added in 2026; before, the time is that to the last gap.
    latencies = document.get("latencies") or [None] * len(columns[0])
    if len({len(each) for each in (*columns, latencies)}) != 1:
        raise source.error(None, f"{', '.join(_DETAILS)} and latencies are not of the same length")
    for index, (*row, latency) in enumerate(zip(*columns, latencies, strict=True)):
        _request(source, texts, document, index, row, latency)
    return texts.study(options, sampled("vllm", floor=1e-3), _good(source, document), notes=(_TOKENS,), **found)


def _request(
    source: ResultFile, texts: Texts, document: Mapping[str, Any], index: int, row: list[Any], latency: Any
) -> None:
    def ms(value: Any, what: str) -> float:
        return number(source, None, value, f"{what}[{index}]") * 1000

    start, first, gaps, count, error = row
    begin = number(source, None, start, f"start_times[{index}]")
    if error:
        texts.request(None, begin, None, failed=True, kind=str(error).strip().splitlines()[-1])
        return
    to_first, between = ms(first, "ttfts"), [ms(each, "itls") for each in gaps]
    whole_ms = to_first + sum(between) if latency is None else ms(latency, "latencies")
    end = begin + whole_ms / 1000
    tokens = whole(source, None, count, f"output_lens[{index}]")
    texts.request(None, end, whole_ms)
    texts.text(None, begin, to_first, row=_first(document))
    texts.chunks(None, begin + to_first / 1000, between)
    each = max(0.0, whole_ms - to_first) / (tokens - 1) if tokens > 1 else None
    texts.tokens(None, end, tokens, each)


def _summed(source: ResultFile, options: ImportOptions, document: Mapping[str, Any], found: dict[str, Any]) -> Study:
    seconds = found["seconds"]
    completed = whole(source, None, document["completed"], "completed")
    failed = document.get("failed")
    # Earlier versions counted the successes only.
    failures = document["num_prompts"] - completed if failed is None else whole(source, None, failed, "failed")
    requests = completed + failures
    tokens = whole(source, None, document["total_output_tokens"], "total_output_tokens")
    values = {
        name: number(source, None, value, name)
        for name, value in document.items()
        if name.endswith("_ms") and value is not None
    }

    def row(key: tuple[str, str], metric: str, count: int | None) -> Measured | None:
        """None without a time: nothing was streamed, or the file was written without this metric."""
        if not values.get(f"mean_{metric}_ms"):
            return None
        rate = count / seconds if count is not None and seconds else None
        return Measured(*key, requests=count, rate=rate, **_times(values, metric))

    total = Measured(
        "", "", requests=requests, failures=failures, rate=requests / seconds if seconds else None,
        **_times(values, "e2el"),
    )  # fmt: skip
    others = (
        row(_first(document), "ttft", completed), row(CHUNK, "itl", None), row(TOKEN, "tpot", tokens),
        _good(source, document),
    )  # fmt: skip
    return study_of_run(
        source, options, precision=Precision("vllm", digits=None, floor=1e-3, clock="sent", times_of="successes"),
        notes=(_TOKENS, "only sums: --save-detailed also writes each request"),
        **generated.rows(total, others), **found,
    )  # fmt: skip


def _times(values: Mapping[str, float], metric: str) -> dict[str, Any]:
    quantiles = {q(match[1]): value for name, value in values.items() if (match := _of(name, metric))}
    if (median := values.get(f"median_{metric}_ms")) is not None:
        quantiles[0.5] = median
    return {
        "mean": values.get(f"mean_{metric}_ms"),
        "quantiles": {rank: value for rank, value in sorted(quantiles.items()) if 0 < rank < 1},
    }


def _of(name: str, metric: str) -> re.Match[str] | None:
    match = _PERCENTILE.fullmatch(name)
    return match if match and match[2] == metric else None
