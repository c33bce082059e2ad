"""Names in sentences: lists, levels, subjects of statements, code, and what is said of too many names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.record import OTHERS
from plimsoll.say.numbers import counted
from plimsoll.stats.names import MOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings.subject import Subject
    from plimsoll.stats.names import NamePattern
    from plimsoll.stats.study import Level

SHORT_COMMIT = 10
"""Digits."""
MOST_NAMED = 4
"""Names in a list before "and n more"."""


def listed(names: Iterable[str], last: str = "and") -> str:
    """ "a, b and c"."""
    *others, end = names
    return f"{', '.join(others)} {last} {end}" if others else end


def several(names: Sequence[str]) -> str:
    """ "a, b and c"; after `MOST_NAMED`: "a, b, c, d and 7 more"."""
    if len(names) > MOST_NAMED + 1:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return listed(names)


def code(name: str) -> str:
    """A name as code: between backticks, which each renderer draws in its way."""
    plain = name.replace("`", "'")
    return f"`{plain}`"


def version_text(branch: str | None, commit: str) -> str:
    """branch slow, commit 1a2b3c4d5e; "" where neither is known."""
    parts = (f"branch {one_line(branch)}" if branch else "", f"commit {commit[:SHORT_COMMIT]}" if commit else "")
    return ", ".join(filter(None, parts))


def at_levels(levels: Iterable[Level | None]) -> str:
    """at 240 users; at 240, 336 and 460 users; "" for none."""
    texts = level_texts(levels)
    return f"at {listed(texts)}" if texts else ""


def level_texts(levels: Iterable[Level | None]) -> list[str]:
    """240, 336, 460 users: only the last one has its unit."""
    known = [level for level in levels if level is not None]
    return [*(f"{level.value:g}" for level in known[:-1]), *map(str, known[-1:])]


def folded_names(apart: float, requests: float, who: str = "This run") -> str:
    """How much is counted under `OTHERS`. apart: number of names counted separately."""
    are = "is" if requests == 1 else "are"
    return (
        f"{who} had more than {counted(apart, 'name')}: {counted(requests, 'request')} of further names "
        f'{are} counted as "{OTHERS[1]}".'
    )


def naming_hint(pattern: NamePattern | None) -> str:
    """Advice about too many names, in a sentence or two. pattern: of most of them."""
    if pattern is None:
        return "Set name= for requests whose URLs differ, so that they are counted together."
    how_many = "Most" if pattern.share > MOST else "Many"
    return f'{how_many} names look like {pattern.text}: set name="{pattern.name}" for these requests.'


def named(subject: Subject, endpoint: str = "") -> str:
    """ "new, GET /todos/ at 48 users (run 2)"; "" if no name is needed. endpoint: instead of the subject's."""
    names = ", ".join(filter(None, (subject.variant, subject.operation, endpoint or subject.endpoint)))
    run = f"(run {subject.repeat})" if subject.repeat is not None else ""
    return " ".join(filter(None, (f"{names}{at(subject.level)}".strip(), run))) or subject.trial


def lead(subject: Subject, endpoint: str = "") -> str:
    """The start of a sentence: "new, GET /todos/: "; "" without a name."""
    who = named(subject, endpoint)
    return f"{who}: " if who else ""


def row(subject: Subject) -> str:
    """A row of a comparison: "read: GET /todos/ at 48 users"."""
    of = f"{subject.operation}: " if subject.operation else ""
    return f"{of}{subject.endpoint}{at(subject.level)}"


def at(level: Level | None) -> str:
    """ " at 48 users"; "" without a level."""
    return f" at {level}" if level is not None else ""
