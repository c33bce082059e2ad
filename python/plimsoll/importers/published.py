"""Published reports: prose with tables in it, as text, Markdown or CSV.

What its tables are to one another follows from their levels and rows: the same rows at several levels are a ladder,
several tables at one level are variants, and tables with different rows at one level are operations. Nothing in here
knows a particular report.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.importers import statements
from plimsoll.importers.measured import measured_of, precision_of, seconds_of, succeeded
from plimsoll.importers.parts import read_parts
from plimsoll.importers.seats import seats_of
from plimsoll.importers.told import Told, renamed
from plimsoll.stats.study import GeneratorHealth, Level, Measured, Study, Trial

if TYPE_CHECKING:
    from plimsoll.importers.parts import Parts
    from plimsoll.importers.seats import Seat
    from plimsoll.importers.source import Source

MOST_PROSE = 20_000
"""Characters of a report's text that are kept with the study."""
_LOCUST_TITLES = ("Average Content Size", "Median Response Time")


def read_published(source: Source, told: Told) -> Study:
    """Raises UsageError when there is no table in it that could be read, or what was told does not fit."""
    text = source.text()
    lines = text.splitlines()
    parts = read_parts(source, lines, told.unit)
    seats, shape = seats_of(parts.parts)
    if not seats:
        raise _nothing(source, parts)
    variants = renamed(tuple(dict.fromkeys(seat.variant for seat in seats)), told.variant, "variant")
    operations = renamed(tuple(dict.fromkeys(seat.operation for seat in seats)), told.operation, "operation")
    is_locust = all(title in text for title in _LOCUST_TITLES)
    tool = told.tool or ("locust" if is_locust else statements.tool_of(text)) or ""
    corrected = statements.is_corrected(text) or any(part.corrected for part in parts.parts)
    files = statements.open_files(text)
    status = statements.status_of_failures(text)
    trials = [
        replace(
            _trial(seat, source, told, status),
            variant=variants[seat.variant],
            operation=operations[seat.operation],
            precision=precision_of(tool, parts, corrected=corrected),
            generator=GeneratorHealth(open_files=files) if files else None,
        )
        for seat in seats
    ]
    changes = {variants[seat.variant]: seat.part.changes for seat in seats[1:] if seat.part.changes}
    return Study(
        name=told.name or source.path.stem,
        trials=tuple(_with_level(trials, told)),
        variants=tuple(variants.values()),
        changes=changes if shape == "chain" else {},
        against=("previous", "baseline") if shape == "chain" else ("baseline",),
        skipped=tuple(parts.skipped),
        claims=statements.claims(source, lines),
        source=str(source.path),
        about={"text": _prose(lines)},
        shape=shape,
    )


def _trial(seat: Seat, source: Source, told: Told, status: int | None) -> Trial:
    around = seat.part.around
    seconds = told.duration or around.seconds or seconds_of(list(seat.rows.values()))
    users = seat.level.users if seat.level else None
    offered = seat.level.rate if seat.level else None
    notes = [f"read from {source.place(seat.part.line)}", *seat.part.notes]
    notes += [note for key in seat.rows for note in seat.part.row_notes.get(key, ())]
    if seat.also:
        notes.append(f"once more in line{'s' * (len(seat.also) > 1)} {', '.join(map(str, seat.also))}")
    if seconds and not told.duration and not around.seconds:
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
    ramp = told.ramp if told.ramp is not None else users / around.spawn_rate if users and around.spawn_rate else 0.0
    return Trial(
        id=seat.id(source),
        variant=seat.variant,
        level=seat.level,
        operation=seat.operation,
        users=users,
        offered=offered,
        think=told.think,
        duration=seconds,
        ramp=ramp,
        endpoints=tuple(endpoints),
        total=total,
        notes=tuple(dict.fromkeys(notes)),
        facts=facts,
        collected={"explain": seat.part.explain} if seat.part.explain else {},
    )


def _of_table(
    seat: Seat, seconds: float | None, status: int | None
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
    seat: Seat, row: tuple[str, str], offered: float | None, seconds: float | None, facts: dict[str, str | float]
) -> tuple[Measured, list[str]]:
    """(what a row of a table of runs tells, notes). Adds to facts."""
    values = seat.rows[row]
    total = replace(measured_of(row, values, None, None)[0], method="", name="Aggregated")
    if offered is not None:
        total = replace(total, rate=None)  # what the row says was asked for, not reached
    share = succeeded(values)
    if share is None:
        return total, []
    facts["success rate"] = share
    total, note = _counted(total, share, offered, seconds)
    return total, [note] if note else []


def _counted(total: Measured, share: float, offered: float | None, seconds: float | None) -> tuple[Measured, str]:
    """A share of successes as counts, where the number of requests follows from the load that was offered."""
    if offered is None or seconds is None or total.requests is not None:
        return total, ""
    requests = round(offered * seconds)
    note = f"requests are the offered rate times {seconds:g} s, failures follow from the success rate"
    return replace(total, requests=requests, failures=round(requests * (1 - share))), note


def _with_level(trials: list[Trial], told: Told) -> list[Trial]:
    """What was told of the level, for trials whose level the text does not give; or for all, if it gives only one."""
    if told.users is None and told.rate is None:
        return trials
    level = Level("users", told.users) if told.users is not None else Level("/s", told.rate or 0.0)
    known = {trial.level for trial in trials if trial.level is not None}
    unknown = any(trial.level is None for trial in trials)
    if not unknown and len(known) > 1:
        several = ", ".join(str(each) for each in sorted(known))
        raise UsageError(f"the file gives levels itself ({several}), so one for all cannot be told")
    return [
        replace(trial, level=level, users=told.users, offered=told.rate)
        if trial.level is None or not unknown
        else trial
        for trial in trials
    ]


def _prose(lines: list[str]) -> str:
    """Without tables."""
    text = "\n".join(line for line in lines if line.strip() and "|" not in line)
    return text[:MOST_PROSE]


def _nothing(source: Source, parts: Parts) -> UsageError:
    if parts.skipped:
        first = parts.skipped[0]
        return UsageError(f"{first.place}: {first.text!r}: {first.why}; nothing else in the file could be read")
    return source.error(
        None,
        "no table with results was found; a table has a header that names an endpoint (Name, Method, Endpoint) and "
        "what was measured (# requests, average, 95%, p99, RPS)",
    )
