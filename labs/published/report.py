"""Published reports: prose with tables in it, as text, Markdown or CSV.

What its tables are to one another follows from their levels and rows: the same rows at several levels are a ladder,
several tables at one level are variants, and tables with different rows at one level are operations. Nothing in here
knows a particular report.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from labs.published import statements
from labs.published.arms import trials_rows
from labs.published.parts import read_parts

from plimsoll.errors import UsageError
from plimsoll.importers.measured import measured_of, precision_of, seconds_of, shared
from plimsoll.importers.options import ImportOptions, renamed
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.tables import LOCUST_TITLES
from plimsoll.stats.study import GeneratorHealth, Level, Measured, Study, Trial

if TYPE_CHECKING:
    from labs.published.arms import TrialRows
    from labs.published.parts import Parts


MOST_PROSE = 20_000
"""Characters of a report's text that are kept with the study."""


def read(path: str | Path, **given: object) -> Study:
    """The study in a report. given: fields of `ImportOptions`. Raises UsageError."""
    return read_published(ResultFile(Path(path)), ImportOptions.of(**given))


def read_published(source: ResultFile, options: ImportOptions) -> Study:
    """Raises UsageError when there is no table in it that could be read, or an option does not fit."""
    text = source.text()
    lines = text.splitlines()
    parts = read_parts(source, lines, options.unit)
    seats, shape = trials_rows(parts.parts)
    if not seats:
        raise _nothing(source, parts)
    variants = renamed(tuple(dict.fromkeys(seat.variant for seat in seats)), options.variant, "variant")
    operations = renamed(tuple(dict.fromkeys(seat.operation for seat in seats)), options.operation, "operation")
    is_locust = all(title in text for title in LOCUST_TITLES)
    tool = options.tool or ("locust" if is_locust else statements.tool_of(text)) or ""
    corrected = statements.is_corrected(text) or any(part.corrected for part in parts.parts)
    files = statements.open_files(text)
    status = statements.status_of_failures(text)
    trials = [
        replace(
            _trial(seat, source, options, status),
            variant=variants[seat.variant],
            operation=operations[seat.operation],
            precision=precision_of(tool, parts.digits, parts.decimals, corrected=corrected),
            generator=GeneratorHealth(open_files=files) if files else None,
        )
        for seat in seats
    ]
    changes = {variants[seat.variant]: seat.part.changes for seat in seats[1:] if seat.part.changes}
    return Study(
        name=options.name or source.path.stem,
        trials=tuple(_with_level(trials, options)),
        variants=tuple(variants.values()),
        changes=changes if shape == "chain" else {},
        against=("previous", "baseline") if shape == "chain" else ("baseline",),
        skipped=tuple(parts.skipped),
        claims=statements.claims(source, lines),
        source=str(source.path),
        about={"text": _prose(lines)},
        shape=shape,
    )


def _trial(seat: TrialRows, source: ResultFile, options: ImportOptions, status: int | None) -> Trial:
    around = seat.part.around
    seconds = options.duration or around.seconds or seconds_of(list(seat.rows.values()))
    users = seat.level.users if seat.level else None
    offered = seat.level.rate if seat.level else None
    notes = [f"read from {source.place(seat.part.line)}", *seat.part.notes]
    notes += [note for key in seat.rows for note in seat.part.row_notes.get(key, ())]
    if seat.also:
        notes.append(f"once more in line{'s' * (len(seat.also) > 1)} {', '.join(map(str, seat.also))}")
    if seconds and not options.duration and not around.seconds:
        notes.append("the duration is requests / rate")
    facts: dict[str, str | float] = {}
    endpoints: list[Measured] = []
    total: Measured | None
    if seat.row is not None:
        total, row_notes = _of_row(seat, seat.row, offered, seconds, facts)
    else:
        endpoints, total, row_notes = _of_table(seat, seconds, status)
    notes += row_notes
    if total is None and seat.rate is not None:
        total = Measured("", "Aggregated", rate=seat.rate)
    if around.heading:
        facts["heading"] = around.heading
    spawning = users / around.spawn_rate if users and around.spawn_rate else 0.0
    return Trial(
        id=seat.id(source),
        variant=seat.variant,
        level=seat.level,
        operation=seat.operation,
        users=users,
        offered=offered,
        think=options.think,
        duration=seconds,
        ramp=spawning if options.ramp is None else options.ramp,
        endpoints=tuple(endpoints),
        total=total,
        notes=tuple(dict.fromkeys(notes)),
        facts=facts,
        collected={"explain": seat.part.explain} if seat.part.explain else {},
    )


def _of_table(
    seat: TrialRows, seconds: float | None, status: int | None
) -> tuple[list[Measured], Measured | None, list[str]]:
    """(endpoints, their sum, notes)."""
    endpoints, total, notes = [], None, []
    for key, values in seat.rows.items():
        measured, note = measured_of(key, values, seconds, status)
        notes += [note] if note else []
        if key == seat.part.total:
            total = measured
        else:
            endpoints.append(measured)
    return endpoints, total, notes


def _of_row(
    seat: TrialRows, row: tuple[str, str], offered: float | None, seconds: float | None, facts: dict[str, str | float]
) -> tuple[Measured, list[str]]:
    """(what a row of a table of runs tells, notes). Adds to facts."""
    values = seat.rows[row]
    total = replace(measured_of(row, values, None, None)[0], method="", name="Aggregated")
    if offered is not None:
        total = replace(total, rate=None)  # what the row says was asked for, not reached
    total, note = shared(total, values, offered, seconds, facts)
    return total, [note] if note else []


def _with_level(trials: list[Trial], options: ImportOptions) -> list[Trial]:
    """The level of the options, for trials whose level the text does not give; or for all, if it gives only one."""
    if options.users is None and options.rate is None:
        return trials
    level = Level("users", options.users) if options.users is not None else Level("/s", options.rate or 0.0)
    known = {trial.level for trial in trials if trial.level is not None}
    unknown = any(trial.level is None for trial in trials)
    if not unknown and len(known) > 1:
        several = ", ".join(str(each) for each in sorted(known))
        raise UsageError(f"the file gives levels itself ({several}), so one level for all cannot be given")
    return [
        replace(trial, level=level, users=options.users, offered=options.rate)
        if trial.level is None or not unknown
        else trial
        for trial in trials
    ]


def _prose(lines: list[str]) -> str:
    """Without tables."""
    text = "\n".join(line for line in lines if line.strip() and "|" not in line)
    return text[:MOST_PROSE]


def _nothing(source: ResultFile, parts: Parts) -> UsageError:
    if parts.skipped:
        first = parts.skipped[0]
        return UsageError(f"{first.place}: {first.text!r}: {first.why}; nothing else in the file could be read")
    return source.error(
        None,
        "no table with results was found; a table has a header that names an endpoint (Name, Method, Endpoint) and "
        "what was measured (# requests, average, 95%, p99, RPS)",
    )
