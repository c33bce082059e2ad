"""A report as one HTML file that needs nothing else: no network, no other file; it opens from wherever it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.described import Described
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.view import RunView

# What draws a page takes a while to import; a run that is not asked for one must not wait for it.


def page(analysis: Analysis) -> str:
    """The report of an experiment, laid out as its shape has it."""
    from plimsoll.report.page.content import gathered
    from plimsoll.report.page.write import written
    from plimsoll.report.shape import shape_of

    content = gathered(analysis)
    return written(f"shapes/{shape_of(analysis.study)}.html.j2", content, content.charts)


def html(view: RunView, run: Described | None, assessment: Assessment) -> str:
    """The same page of a single run. run: None for one that was not kept."""
    from plimsoll.report.page.run import run_page
    from plimsoll.report.page.write import written

    content = run_page(view, run, assessment)
    return written("run.html.j2", content, content.charts)
