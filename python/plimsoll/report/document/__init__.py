"""Reports as documents: sections of blocks, which the page of the web draws, in one file or from the server.

What makes them takes a while to import; whoever needs only the words of a document must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.report.document.blocks import ReportDocument
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.view import RunView

__all__ = ["run_document", "study_document"]


def study_document(analysis: Analysis, refs: tuple[str, ...] = ()) -> ReportDocument:
    """Of an experiment or any other study, laid out as its shape has it. refs: how it can be asked for again."""
    from plimsoll.report.document import study

    return study.study_document(analysis, refs)


def run_document(
    view: RunView, run: Described | None, assessment: Assessment, *, is_growing: bool = False
) -> ReportDocument:
    """Of a single run. run: None for one that was not kept. is_growing: it goes on."""
    from plimsoll.report.document import run as of_run

    return of_run.run_document(view, run, assessment, is_growing=is_growing)
