"""A report as text: Markdown, and tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.render.console import console
from plimsoll.report.render.markdown import markdown

if TYPE_CHECKING:
    from plimsoll.report.sources import OutputRequest, RunSource, StudySource


def text_report(source: StudySource, request: OutputRequest) -> str:
    """For the terminal."""
    document = source.document(scope="text", charts=False, command=request.command)
    return console(document, request.width, colour=request.colour) + "\n"


def markdown_report(source: StudySource, request: OutputRequest) -> str:
    return markdown(source.document(scope="text", charts=False, command=request.command))


def run_tables(source: RunSource, request: OutputRequest) -> str:
    """The tables of a run for the terminal."""
    from plimsoll.report.document.run import tables_document

    document = tables_document(source.view, source.run, source.assessment)
    return console(document, request.width, colour=request.colour) + "\n"
