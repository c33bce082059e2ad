"""The whole report as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.analysis.answer import beginning, verdicts
from plimsoll.report.analysis.document import Bullet, Bullets, Document, Heading, Pictures, Table
from plimsoll.report.analysis.shapes import body
from plimsoll.report.document.footnotes import Footnotes, general
from plimsoll.report.render.text_table import TextColumn, cut, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.report.analysis.document import Block
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.study import Study

_LONGEST = 200
"""Characters of a fact about the environment; the JSON has all."""


def build(analysis: Analysis, command: str = "", pictures: Sequence[tuple[str, str]] = ()) -> Document:
    """Question, short answer, findings, verdicts; tables as the study's shape has them; notes.

    command: what makes this report, for the notes. pictures: (title, file name) of charts that lie beside it.
    """
    notes = Footnotes()
    return Document.of(
        beginning(analysis),
        verdicts(analysis),
        # The first is the overview. The others would come between the verdicts and the tables that they rest on.
        [Pictures(tuple(pictures[:1]))] if pictures else [],
        body(analysis, notes),
        _pictures(pictures[1:]),
        _notes(analysis, notes, command),
        _about(analysis.study),
    )


def _pictures(pictures: Sequence[tuple[str, str]]) -> Iterator[Block]:
    if pictures:
        yield Heading("Charts", 2)
        yield Pictures(tuple(pictures))


def _notes(analysis: Analysis, notes: Footnotes, command: str) -> Iterator[Block]:
    yield Heading("Footnotes", 2)
    marked = [Bullet(line) for line in notes.lines()]
    yield Bullets((*marked, *(Bullet(line) for line in general(analysis, command))))


def _about(study: Study) -> Iterator[Block]:
    if study.about:
        yield Heading("Environment", 2)
        rows = tuple((one_line(name), cut(one_line(value), _LONGEST)) for name, value in study.about.items())
        yield Table((TextColumn("What"), TextColumn("Value", least=20)), rows)
