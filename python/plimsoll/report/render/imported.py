"""What was read of a file, and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.report.render.terminal import TextColumn, render
from plimsoll.say.numbers import NONE, counted, known, number, source_count

if TYPE_CHECKING:
    from plimsoll.stats.study import Measured, Precision, Study, Trial

_COLUMNS = [
    TextColumn("Variant", least=8),
    TextColumn("Level"),
    TextColumn("Operation", least=8),
    *(
        TextColumn(title, right=True)
        for title in ("Endpoints", "Duration s", "# Requests", "# Fails", "RPS", "p50 ms", "p95 ms", "p99 ms")
    ),
]


def imported_study(study: Study, width: int, most_skipped: int) -> str:
    """A line per trial with the columns that any has, then what was left out. width: of the terminal."""
    precision = study.trials[0].precision
    lines = [f"{study.source}: {counted(len(study.trials), 'run')}, {_precision(precision)}"]
    rows = [_row(trial) for trial in study.trials]
    shown = [index for index in range(len(_COLUMNS)) if any(row[index] not in ("", NONE) for row in rows)]
    lines += render([_COLUMNS[index] for index in shown], [[row[index] for index in shown] for row in rows], width)
    notes = dict.fromkeys(note for trial in study.trials for note in trial.notes if not note.startswith("read from "))
    lines += [f"note: {note}" for note in (*study.warnings, *notes)]
    lines += [f"skipped: {line.place}: {one_line(line.text)!r}: {line.why}" for line in study.skipped[:most_skipped]]
    if len(study.skipped) > most_skipped:
        lines.append(f"skipped: and {len(study.skipped) - most_skipped} more; the study keeps all of them")
    return "\n".join(lines)


def _precision(precision: Precision) -> str:
    fine = "all digits" if precision.digits is None else counted(precision.digits, "significant digit")
    clock = {
        "due": "from the intended start", "sent": "from the actual start",
        "corrected": "corrected afterwards", "unknown": "from a start that is not known",
    }[precision.clock]  # fmt: skip
    merge = ", with histograms" if precision.mergeable else ""
    tool = "a tool that is not named" if precision.tool == "unknown" else precision.tool
    return f"times of {tool} in {fine}, not below {precision.floor:g} ms, {clock}{merge}"


def _row(trial: Trial) -> list[str]:
    return [
        one_line(trial.variant),
        str(trial.level or ""),
        one_line(trial.operation),
        str(len(trial.endpoints)),
        NONE if trial.duration is None else number(trial.duration),
        *_figures(trial.total or (trial.endpoints[0] if len(trial.endpoints) == 1 else None)),
    ]


def _figures(total: Measured | None) -> list[str]:
    if total is None:
        return [NONE] * 6
    return [
        source_count(total.requests, total.rounding.get("requests", 0.0)),
        source_count(total.failures, total.rounding.get("failures", 0.0)),
        NONE if total.rate is None else number(total.rate),
        *(known(total.quantile(q)) for q in (0.5, 0.95, 0.99)),
    ]
