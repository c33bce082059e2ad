"""The columns of each kind of table."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from plimsoll.api.frames import Layout
from plimsoll.report.load import load_in_short
from plimsoll.report.render.interval_rows import TIME_COLUMNS, time_cells
from plimsoll.report.run_summary import QUANTILES
from plimsoll.say.comparisons import direction, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.api.reading import Run
    from plimsoll.api.values import SecondRow
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.table import RunRow

_TIMES = dict.fromkeys(TIME_COLUMNS, float)
_NAMES = {"method": str, "name": str}
_COUNTS = ("requests", "failures", "unanswered", "dropped", "bytes_out", "bytes_in")
_ROW_NUMBERS = {
    "fail_ratio": float, "rps": float, "failures_per_s": float, "average_size": float, "completed": int,
    "overdue": int, "retries": int, "hops": int, "connected": int, "bytes_body": int,
}  # fmt: skip
_VALUES = (
    "a_value", "b_value", "ratio", "low", "high", "difference", "difference_low", "difference_high", "p", "q",
)  # fmt: skip


def _getter(names: Iterable[str]) -> Callable[[Any], Sequence[object]]:
    return attrgetter(*names)


_of_row = _getter((*_NAMES, *_COUNTS, *_ROW_NUMBERS))
_of_second = _getter(("second", "time", *_NAMES, "users", *_COUNTS))
_of_verdict = _getter(_VALUES)


def _row(row: RunRow) -> Sequence[object]:
    return [*_of_row(row), *time_cells(row.response_ms, row.service_ms)]


def _second(row: SecondRow) -> Sequence[object]:
    return [*_of_second(row), *time_cells(row.response_ms, row.service_ms)]


def _verdict(comparison: Comparison) -> Sequence[object]:
    method, name = comparison.endpoint
    level = None if comparison.level is None else str(comparison.level)
    return [
        comparison.metric.text, comparison.metric.unit, method, name, level, comparison.a, comparison.b,
        comparison.word, verdict(comparison), direction(comparison), comparison.better, *_of_verdict(comparison),
        comparison.pairs, comparison.earlier,
    ]  # fmt: skip


def _run(run: Run) -> Sequence[object]:
    manifest, summary = run.manifest, run.summary
    return [
        run.id, run.started, run.ended, run.status, manifest.name, manifest.host, load_in_short(manifest),
        manifest.branch, manifest.commit, run.experiment, ", ".join(run.tags), run.note,
        summary.is_valid, summary.requests, summary.failures, summary.unanswered, summary.rate, summary.duration,
        *(summary.times[name] for name in ("mean", *QUANTILES)),
    ]  # fmt: skip


ROWS: Layout[RunRow] = Layout({**_NAMES, **dict.fromkeys(_COUNTS, int), **_ROW_NUMBERS, **_TIMES}, _row)
SECONDS: Layout[SecondRow] = Layout(
    {"second": int, "time": float, **_NAMES, "users": int, **dict.fromkeys(_COUNTS, int), **_TIMES}, _second
)
VERDICTS: Layout[Comparison] = Layout(
    {
        **dict.fromkeys(("metric", "unit", "method", "name", "level", "a", "b", "word", "verdict", "direction"), str),
        "better": bool,
        **dict.fromkeys(_VALUES, float),
        "pairs": int,
        "earlier": int,
    },
    _verdict,
)
RUNS: Layout[Run] = Layout(
    {
        "id": str, "started": float, "ended": float,
        **dict.fromkeys(
            ("status", "scenario", "host", "load", "branch", "commit", "experiment", "tags", "note"), str
        ),
        "valid": bool,
        **dict.fromkeys(("requests", "failures", "unanswered"), int),
        **dict.fromkeys(("rps", "duration_s", *(f"response_{name}_ms" for name in ("mean", *QUANTILES))), float),
    },
    _run,
)  # fmt: skip
