"""An analysis as CSV: a row per run and endpoint, or a row per comparison or finding."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.report.text import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.analysis import Analysis

_LEVEL = ("level", "level_unit")
_TRIAL = ("variant", "operation", *_LEVEL, "repeat", "order", "trial", "invalid")
_ENDPOINT = (
    "method", "name", "requests", "failures", "unanswered", "rps", "average_size", "timed", "mean_ms",
    "mean_success_ms", "mean_failure_ms", "min_ms", "max_ms", "censored",
)  # fmt: skip
_REST = ("duration_s", "warmup_s", "users", "offered_per_s")
_PRECISION = ("tool", "digits", "clock", "times_of")
_COMPARISON = (
    "better", "direction", "reason", "a_value", "b_value", "ratio", "low", "high",
    "difference", "difference_low", "difference_high", "within_run", "pairs",
    "interleaved", "spread", "p", "p_flip", "q", "resolves", "requests", "tail", "design_effect", "tool_step",
    "warmup_s",
)  # fmt: skip


def analysis_csv(source: StudySource, request: OutputRequest) -> str:
    """The table that is asked for. Raises UsageError when there is none of that name."""
    return table(source.analysis, request.table)


def analysis_csv_files(source: StudySource, request: OutputRequest) -> Iterator[tuple[str, bytes]]:
    """All tables."""
    for name in TABLES:
        yield f"{name}.csv", table(source.analysis, name).encode()


def table(analysis: Analysis, name: str = "trials") -> str:
    """name: of `TABLES`. Raises UsageError for another."""
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}: {', '.join(TABLES)}")
    out = io.StringIO()
    from plimsoll.report.render.analysis_json import document

    rows = list(TABLES[name](document(analysis)))
    titles = list(dict.fromkeys(key for row in rows for key in row)) or HEADS[name]
    writer = CsvWriter(out)
    writer.writerow(titles)
    writer.writerows([_text(row.get(title)) for title in titles] for row in rows)
    return out.getvalue()


def _trials(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of an invalid run too: `invalid` says why it is."""
    for trial in found["trials"]:
        about = {"trial": trial["id"], "invalid": "; ".join(trial["invalid"])}
        of_trial = {name: (about | _level(trial)).get(name, trial.get(name)) for name in _TRIAL}
        rest = {name: trial[name] for name in _REST} | {name: trial["precision"][name] for name in _PRECISION}
        for each in (*trial["endpoints"], *([trial["total"]] if trial["total"] else [])):
            numbers = {name: each[name] for name in _ENDPOINT}
            numbers |= {f"p{percent}_ms": value for percent, value in each["percentiles_ms"].items()}
            yield of_trial | numbers | rest


def _comparisons(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in found["comparisons"]:
        needed = each["needed"] or {"pairs": None, "minutes": None, "powered_pairs": None, "longer_runs": None}
        yield {
            **{name: each[name] for name in ("a", "b", "against", "operation")},
            **_level(each),
            **{name: each[name] for name in ("method", "name")},
            "metric": each["metric"]["text"],
            "unit": each["metric"]["unit"],
            "delta": each["metric"]["delta"],
            **{name: each[name] for name in ("primary", "word", "verdict", "at_least")},
            **{name: each[name] for name in _COMPARISON},
            **{f"needed_{name}": value for name, value in needed.items()},
            "checks_passed": each["checks"]["passed"],
            "checks": each["checks"]["of"],
            "remarks": "; ".join(each["remarks"]),
        }


def _findings(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in found["findings"]:
        where = each["where"]
        endpoint = where["endpoint"] or {"method": None, "name": None}
        yield {
            **{name: each[name] for name in ("id", "weight", "statement")},
            **{name: where[name] for name in ("variant", "against", "operation")},
            **_level(where),
            **endpoint,
            "trial": where["trial"],
            "rule": each["rule"],
            "advice": each["advice"],
            "evidence": dumps(each["evidence"]),
        }


TABLES: dict[str, Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]] = {
    "trials": _trials,
    "comparisons": _comparisons,
    "findings": _findings,
}
HEADS = {
    "trials": [*_TRIAL, *_ENDPOINT],
    "comparisons": ["a", "b", "against", "operation", *_LEVEL, "method", "name", "metric", "word", "verdict"],
    "findings": ["id", "weight", "statement"],
}
"""The first columns, which an empty table has too."""


def _level(of: Mapping[str, Any]) -> dict[str, Any]:
    level = of["level"] or {"value": None, "unit": None}
    return {"level": level["value"], "level_unit": level["unit"]}


def _text(value: object) -> object:
    """Nothing for what is not known; true and false as everywhere else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return int(value)
    return "" if value is None else value
