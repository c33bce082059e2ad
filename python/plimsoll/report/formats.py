"""Every format that something can be reported in. A new one is a file with a function in `render/`, and a row here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plimsoll.distribution import with_extra
from plimsoll.doors import members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.report.sources import OutputRequest, RunSource, StudySource

    Content = str | Iterator[str] | Iterator[bytes]


class Renderer:
    """A function of a module of `render/`, imported when it is called: a command needs one of them, and to import all
    takes a third of a second."""

    def __init__(self, place: str, **chosen: Any) -> None:
        """place: "module:function". chosen: further arguments."""
        self._module, self._name = place.split(":")
        self._chosen = chosen

    def __call__(self, source: Any, request: OutputRequest) -> Any:
        return self.function(source, request, **self._chosen)

    @property
    def function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(f"plimsoll.report.render.{self._module}"), self._name)
        return function


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
    "text": Format("tables for the terminal", "txt", study=Renderer("console:text_report")),
    "md": Format(
        "Markdown for a wiki, a README or a comment; into a folder: with charts", "md",
        study=Renderer("markdown:markdown_report"), files=Renderer("illustrated:illustrated_markdown"),
    ),
    "html": Format("one page that needs nothing else", "html", study=Renderer("html:html"), run=Renderer("html:html")),
    "csv": Format(
        "a row per run and endpoint; see --table; into a folder: all tables", "csv",
        study=Renderer("analysis_csv:analysis_csv"), files=Renderer("analysis_csv:analysis_csv_files"),
    ),
    "json": Format("all of it, as docs/formats.md describes it", "json", study=Renderer("analysis_json:analysis_json")),
    "junit": Format(
        "JUnit XML: a test per primary comparison and per finding that blocks", "xml",
        study=Renderer("analysis_junit:analysis_junit"),
    ),
    "github": Format(
        "annotations of GitHub Actions: ::error, ::warning, ::notice", "txt",
        study=Renderer("annotations:workflow_commands"),
    ),
    "bmf": Format(
        "Bencher Metric Format: figures by endpoint and measure", "bmf.json", study=Renderer("bencher:bencher_metrics")
    ),
    "svg": Format("each chart, into a folder", "svg", files=Renderer("illustrated:chart_files", kind="svg")),
    "png": Format("each chart, into a folder", "png", files=Renderer("illustrated:chart_files", kind="png")),
    "tables": Format("the tables that `plimsoll show` prints", "txt", run=Renderer("console:run_tables")),
    "run.json": Format("everything that is known of the run, as JSON", "run.json", run=Renderer("run_json:run_json")),
    "run.junit": Format(
        "JUnit XML: a test per threshold and one for validity", "junit.xml", run=Renderer("run_junit:run_junit")
    ),
    "hgrm": Format(
        "percentiles of all response times in ms, as HdrHistogram's plotter reads them", "hgrm",
        run=Renderer("hdr:hgrm"),
    ),
    "hlog": Format(
        "HdrHistogram log, a tagged line of response times per second and endpoint", "hlog", run=Renderer("hdr:hlog")
    ),
    "seconds.csv": Format(
        "a line per second, endpoint and outcome", "seconds.csv", run=Renderer("interval_rows:interval_csv")
    ),
    "seconds.json": Format(
        "the same with the histograms", "seconds.json", run=Renderer("interval_rows:interval_json")
    ),
    "parquet": Format(
        f"the same as columns; needs pyarrow ({with_extra('parquet')})", "parquet",
        run=Renderer("interval_rows:interval_parquet"),
    ),
    "grafana-dashboard": Format(
        "a dashboard of Grafana that opens with this run, for Prometheus", "grafana.json",
        run=Renderer("grafana:grafana_dashboard", data="prometheus"),
    ),
    "grafana-dashboard-influxdb": Format(
        "the same for InfluxDB (InfluxQL)", "grafana-influxdb.json",
        run=Renderer("grafana:grafana_dashboard", data="influxdb"),
    ),
    "locust-stats.csv": Format(
        "Locust's CSV: stats", "stats.csv", run=Renderer("locust_csv:locust_table_csv", table="stats")
    ),
    "locust-failures.csv": Format(
        "Locust's CSV: failures", "failures.csv", run=Renderer("locust_csv:locust_table_csv", table="failures")
    ),
    "locust-exceptions.csv": Format(
        "Locust's CSV: exceptions", "exceptions.csv", run=Renderer("locust_csv:locust_table_csv", table="exceptions")
    ),
    "locust-stats-history.csv": Format(
        "Locust's CSV: history", "stats_history.csv", run=Renderer("locust_csv:locust_history_csv")
    ),
    "locust-full-history.csv": Format(
        "Locust's CSV: history of each endpoint", "full_history.csv",
        run=Renderer("locust_csv:locust_history_csv", full=True),
    ),
    "locust.json": Format("Locust's JSON", "locust.json", run=Renderer("locust_json:locust_json")),
}  # fmt: skip


GROUP = "plimsoll.formats"
"""The entry-point group through which other packages add formats."""


def all_formats() -> dict[str, Format]:
    """Our own formats and those of other packages, by name."""
    return members(GROUP, Format, FORMATS)


def of_studies() -> list[str]:
    """Names of the formats of studies."""
    return [name for name, row in all_formats().items() if row.study or row.files]


def of_runs() -> list[str]:
    """Names of the formats of single runs."""
    return [name for name, row in all_formats().items() if row.run]
