"""A report as one HTML file that needs nothing else: no network, no other file; it opens from wherever it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.view import RunView

# What makes a document takes a while to import; a run that is not asked for one must not wait for it.


def page(analysis: Analysis) -> str:
    """The report of an experiment, laid out as its shape has it. Raises PlimsollError if the page was not built."""
    from plimsoll.report.document import study_document
    from plimsoll.report.render.html import written

    return written(study_document(analysis))


def html(view: RunView, run: Described | None, assessment: Assessment) -> str:
    """The same page of a single run. run: None for one that was not kept. Raises PlimsollError."""
    from plimsoll.report.document import run_document
    from plimsoll.report.render.html import written

    return written(run_document(view, run, assessment))
