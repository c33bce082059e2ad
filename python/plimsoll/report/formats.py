"""Every format that something can be reported in. A new one is a file with a function in `render/`, and a row here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.report.render.analysis_csv import analysis_csv, analysis_csv_files
from plimsoll.report.render.analysis_json import analysis_json
from plimsoll.report.render.analysis_junit import analysis_junit
from plimsoll.report.render.annotations import workflow_commands
from plimsoll.report.render.bencher import bencher_metrics
from plimsoll.report.render.console import run_tables, text_report
from plimsoll.report.render.hdr import hgrm, hlog
from plimsoll.report.render.html import html
from plimsoll.report.render.illustrated import chart_files, illustrated_markdown
from plimsoll.report.render.interval_rows import interval_csv, interval_json, interval_parquet
from plimsoll.report.render.locust_csv import locust_history_csv, locust_table_csv
from plimsoll.report.render.locust_json import locust_json
from plimsoll.report.render.markdown import markdown_report
from plimsoll.report.render.run_json import run_json
from plimsoll.report.render.run_junit import run_junit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.report.sources import OutputRequest, RunSource, StudySource

    Content = str | Iterator[str] | Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """study, run: make the text of it, or its pieces, from a study or from a run; None where it is not for these."""

    what: str
    """For the help, in a line."""
    suffix: str
    study: Callable[[StudySource, OutputRequest], Content] | None = None
    run: Callable[[RunSource, OutputRequest], Content] | None = None
    files: Callable[[StudySource, OutputRequest], Iterator[tuple[str, bytes]]] | None = None
    """(name, content) of what goes into a folder; None when one file is all there is."""


FORMATS: dict[str, Format] = {
    "text": Format("tables for the terminal", "txt", study=text_report),
    "md": Format(
        "Markdown for a wiki, a README or a comment; into a folder: with charts", "md",
        study=markdown_report, files=illustrated_markdown,
    ),
    "html": Format("one page that needs nothing else", "html", study=html, run=html),
    "csv": Format(
        "a row per run and endpoint; see --table; into a folder: all tables", "csv",
        study=analysis_csv, files=analysis_csv_files,
    ),
    "json": Format("all of it, as docs/formats.md describes it", "json", study=analysis_json),
    "junit": Format(
        "JUnit XML: a test per primary comparison and per finding that blocks", "xml", study=analysis_junit
    ),
    "github": Format("annotations of GitHub Actions: ::error, ::warning, ::notice", "txt", study=workflow_commands),
    "bmf": Format("Bencher Metric Format: figures by endpoint and measure", "bmf.json", study=bencher_metrics),
    "svg": Format("each chart, into a folder", "svg", files=partial(chart_files, kind="svg")),
    "png": Format("each chart, into a folder", "png", files=partial(chart_files, kind="png")),
    "tables": Format("the tables that `plimsoll show` prints", "txt", run=run_tables),
    "run.json": Format("everything that is known of the run, as JSON", "run.json", run=run_json),
    "run.junit": Format("JUnit XML: a test per threshold and one for validity", "junit.xml", run=run_junit),
    "hgrm": Format("percentiles of all response times in ms, as HdrHistogram's plotter reads them", "hgrm", run=hgrm),
    "hlog": Format("HdrHistogram log, a tagged line of response times per second and endpoint", "hlog", run=hlog),
    "seconds.csv": Format("a line per second, endpoint and outcome", "seconds.csv", run=interval_csv),
    "seconds.json": Format("the same with the histograms", "seconds.json", run=interval_json),
    "parquet": Format("the same as columns; needs pyarrow (plimsoll[parquet])", "parquet", run=interval_parquet),
    "locust-stats.csv": Format("Locust's CSV: stats", "stats.csv", run=partial(locust_table_csv, table="stats")),
    "locust-failures.csv": Format(
        "Locust's CSV: failures", "failures.csv", run=partial(locust_table_csv, table="failures")
    ),
    "locust-exceptions.csv": Format(
        "Locust's CSV: exceptions", "exceptions.csv", run=partial(locust_table_csv, table="exceptions")
    ),
    "locust-stats-history.csv": Format("Locust's CSV: history", "stats_history.csv", run=locust_history_csv),
    "locust-full-history.csv": Format(
        "Locust's CSV: history of each endpoint", "full_history.csv", run=partial(locust_history_csv, full=True)
    ),
    "locust.json": Format("Locust's JSON", "locust.json", run=locust_json),
}  # fmt: skip


def of_studies() -> list[str]:
    """Names of the formats of studies."""
    return [name for name, each in FORMATS.items() if each.study or each.files]


def of_runs() -> list[str]:
    """Names of the formats of single runs."""
    return [name for name, each in FORMATS.items() if each.run]
