"""How a study was measured, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.say.answer.shape import changes_of
from plimsoll.say.durations import duration_text
from plimsoll.say.names import code, level_texts, listed
from plimsoll.say.numbers import count, counted, rounded

if TYPE_CHECKING:
    from plimsoll.stats.study import Study

MOST_NAMES = 12
"""Variants that are named."""
LONGEST = 100
"""Characters of what is known of the environment; longer texts are among the evidence."""


def setup_text(study: Study) -> str:
    """Variants, load, repeats, length, machine and command. The command stands between backticks."""
    sentences = [_runs(study), _changes(study), _about(study)]
    if study.command:
        sentences.append(f"Measured by {code(study.command)}.")
    elif study.source:
        sentences.append(f"Source: {study.source}.")
    return " ".join(filter(None, sentences))


def _runs(study: Study) -> str:
    parts = []
    if 1 < len(study.variants) <= MOST_NAMES:
        parts.append(listed(study.variants))
    elif len(study.variants) > 1:
        parts.append(counted(len(study.variants), "variant"))
    if len(study.operations) > 1:
        parts.append(counted(len(study.operations), "operation"))
    return f"Measured: {', '.join([*parts, *level_texts(study.levels), _repeats(study)])}."


def says_changes(study: Study) -> bool:
    """Whether the paragraph says what was changed in each variant. With one level a table has a row for each of them,
    and says it there."""
    return len(study.levels) > 1 and bool(changes_of(study))


def _changes(study: Study) -> str:
    """new: migration 0002."""
    if not says_changes(study):
        return ""
    texts = (f"{variant}: {one_line(text).rstrip('.')}" for variant, text in changes_of(study).items())
    return f"{'; '.join(texts)}."


def _repeats(study: Study) -> str:
    """5 interleaved repeats of 12 s after 3 s of warm-up (35 runs)."""
    repeats = len({each.repeat for each in study.trials})
    text = counted(len(study.trials), "run")
    if repeats > 1:
        text = f"{repeats} {'interleaved ' if study.interleaved else ''}repeats ({text})"
    durations = sorted({each.duration for each in study.trials if each.duration is not None})
    if durations:
        ends = [duration_text(each) for each in (durations[0], durations[-1])]
        text += f" of {ends[0] if ends[0] == ends[1] else f'{ends[0]} to {ends[1]}'}"
    warmups = {each.warmup for each in study.trials}
    if len(warmups) == 1 and (warmup := warmups.pop()):
        text += f" after {duration_text(warmup)} of warm-up"
    requests = [each.total.requests for each in study.trials if each.total is not None and each.total.requests]
    totals = [each.total for each in study.trials if each.total is not None and each.total.requests]
    rounding = sum(each.rounding.get("requests", 0.0) for each in totals)
    number = rounded(sum(requests), rounding)
    return f"{text}, {'about ' if rounding else ''}{count(number)} requests" if requests else text


def _about(study: Study) -> str:
    known = {name: value for name, value in study.about.items() if value and len(value) <= LONGEST}
    text = "; ".join(f"{name} {value}" for name, value in known.items())
    return f"Environment: {text}." if text else ""
