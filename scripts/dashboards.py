"""Write Grafana's dashboards of a run, one for each kind of data source: `python -m scripts.dashboards`

They are built with grafana-foundation-sdk (`pip install grafana-foundation-sdk`), whose types are Grafana's schema.
`tests/scripts/test_dashboards.py` runs the query of every panel.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grafana_foundation_sdk.builders import (
    common,
    dashboard,
    prometheus,
    stat,
    statetimeline,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

FOLDER = Path(__file__).parents[1] / "python" / "plimsoll" / "report" / "render" / "grafana"
Source = Literal["prometheus", "influxdb"]
PanelKind = Literal["stat", "lines", "bars", "states", "table"]
SOURCE_VARIABLE, RUN_VARIABLE = "source", "run"
EVENTS = "What happened"
GREEN, YELLOW, ORANGE, RED, BLUE, GREY, PURPLE = (
    "green", "yellow", "orange", "red", "blue", "#8e8e8e", "purple",
)  # fmt: skip
_P = '{run="$run"}'
_I = '"run" =~ /^$run$/ AND $timeFilter'
_EACH = "GROUP BY time($__interval) fill(null)"


class PanelQuery(NamedTuple):
    """One query of a panel. legend: "" for the name of its series."""

    legend: str
    prometheus: str
    influxdb: str

    def of(self, source: Source) -> str:
        return self.prometheus if source == "prometheus" else self.influxdb


@dataclass(frozen=True)
class PanelSpec:
    title: str
    kind: PanelKind
    width: int
    """Of 24 columns."""
    height: int
    unit: str
    queries: tuple[PanelQuery, ...]
    description: str
    colours: tuple[str, ...] = ()
    """Of the series, in their order."""
    mappings: tuple[tuple[str, str, str], ...] = ()
    """Value, its text and colour."""
    steps: tuple[tuple[float, str], ...] = ()
    """From which value on which colour."""


class PanelRow(NamedTuple):
    title: str
    panels: tuple[PanelSpec, ...]


def _quantile(q: float, metric: str = "response", by: str = "le") -> str:
    return f"histogram_quantile({q}, sum by ({by}) (rate(plimsoll_{metric}_seconds_bucket{_P}[$__rate_interval])))"


def _known(metric: str) -> str:
    """The last samples of the time shown: a run that is over has none now."""
    return f"last_over_time(plimsoll_{metric}{_P}[$__range])"


def _mean(field: str) -> str:
    return f'SELECT mean("{field}") FROM "plimsoll_run" WHERE {_I} {_EACH}'


def _last(field: str) -> str:
    return f'SELECT last("{field}") FROM "plimsoll_run" WHERE {_I}'


def _a_second(field: str, by: str) -> str:
    """Of endpoints, which have no line in a second without requests."""
    seconds = f'SELECT sum("{field}") AS "n" FROM "plimsoll" WHERE {_I} GROUP BY time(1s), {by} fill(0)'
    return f'SELECT mean("n") FROM ({seconds}) WHERE $timeFilter GROUP BY time($__interval), {by} fill(null)'


_VALID = (("1", "valid", GREEN), ("0", "INVALID", RED))
_KEPT = (("0", "holds", GREEN), ("1", "broken", RED))
_AMBER = ((0.0, GREEN), (0.001, ORANGE), (0.01, RED))

ROWS = (
    PanelRow("The answer", (
        PanelSpec("Can it be trusted?", "stat", 4, 4, "none", (
            PanelQuery("", _known("valid"), f'SELECT last("valid") FROM "plimsoll_run" WHERE {_I}'),
        ), "INVALID: the load was not the load that was asked for, so no other number here says much of the target.",
            mappings=_VALID),
        PanelSpec("Thresholds broken", "stat", 4, 4, "none", (
            PanelQuery("", f"sum({_known('threshold_broken')}) or vector(0)", _last("thresholds_broken")),
        ), "Thresholds that do not hold so far.", steps=((0.0, GREEN), (1.0, RED))),
        PanelSpec("Requests per second", "stat", 4, 4, "reqps", (
            PanelQuery("", f"sum({_known('requests_total')}) / max({_known('run_seconds')})",
                f'SELECT mean("requests") FROM "plimsoll_run" WHERE {_I}'),
        ), "Mean of the run so far.", steps=((0.0, BLUE),)),
        PanelSpec("Failed", "stat", 4, 4, "percentunit", (
            PanelQuery(
                "", f"(sum({_known('failures_total')}) or vector(0)) / sum({_known('requests_total')})",
                f'SELECT sum("failures") / sum("requests") FROM "plimsoll_run" WHERE {_I}',
            ),
        ), "Share of all requests that failed.", steps=_AMBER),
        PanelSpec("p99", "stat", 4, 4, "s", (
            PanelQuery(
                "", f"histogram_quantile(0.99, sum by (le) ({_known('response_seconds_bucket')}))",
                f'SELECT percentile("p99_ms", 50) / 1000 FROM "plimsoll_run" WHERE {_I}',
            ),
        ), "Response times, from when a request was due. With InfluxDB: the median of the p99 of the seconds.",
            steps=((0.0, BLUE),)),
        PanelSpec("Users, at most", "stat", 4, 4, "none", (
            PanelQuery(
                "", f"max_over_time(plimsoll_users{_P}[$__range])",
                f'SELECT max("user_count") FROM "plimsoll_run" WHERE {_I}',
            ),
        ), "Of the seconds of the run.", steps=((0.0, BLUE),)),
    )),
    PanelRow("Load and answers", (
        PanelSpec("Response time", "lines", 12, 9, "s", (
            PanelQuery("p50", _quantile(0.5), f'SELECT max("p50_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}'),
            PanelQuery("p95", _quantile(0.95), f'SELECT max("p95_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}'),
            PanelQuery("p99", _quantile(0.99), f'SELECT max("p99_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}'),
            PanelQuery(
                "may be the generator's", f"plimsoll_share_seconds{_P}",
                f'SELECT max("p99_share_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
        ), "From when a request was due. The dashed line is what the load generator may have added to the p99. With "
           "InfluxDB a point is the worst second of its interval.", colours=(GREEN, YELLOW, RED, GREY)),
        PanelSpec("Requests per second", "bars", 12, 9, "reqps", (
            PanelQuery(
                "succeeded",
                f"sum(rate(plimsoll_requests_total{_P}[$__rate_interval])) - "
                f"(sum(rate(plimsoll_failures_total{_P}[$__rate_interval])) or vector(0))",
                f'SELECT mean("requests") - mean("failures") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
            PanelQuery(
                "failed", f"sum(rate(plimsoll_failures_total{_P}[$__rate_interval])) or vector(0)", _mean("failures")
            ),
        ), "Requests that ended.", colours=(BLUE, RED)),
        PanelSpec("Load", "lines", 12, 8, "none", (
            PanelQuery("users", f"plimsoll_users{_P}", _mean("user_count")),
            PanelQuery("users asked for", f"plimsoll_users_wanted{_P}", _mean("user_count_wanted")),
            PanelQuery("requests in flight", f"plimsoll_in_flight_requests{_P}", _mean("in_flight")),
            PanelQuery("arrivals waiting", f"plimsoll_waiting_arrivals{_P}", _mean("waiting")),
        ), "Arrivals wait where the open model has no user left.", colours=(BLUE, GREY, PURPLE, ORANGE)),
        PanelSpec("Failures and requests without an answer", "bars", 12, 8, "none", (
            PanelQuery(
                "failed", f"sum(increase(plimsoll_failures_total{_P}[$__rate_interval])) or vector(0)",
                f'SELECT sum("failures") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
            PanelQuery(
                "unanswered", f"sum(increase(plimsoll_unanswered_total{_P}[$__rate_interval]))",
                f'SELECT sum("unanswered") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
            PanelQuery(
                "arrivals dropped", f"sum(increase(plimsoll_dropped_arrivals_total{_P}[$__rate_interval]))",
                f'SELECT sum("dropped_arrivals") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
        ), "Each is also a request, or an arrival, of the load that was asked for.", colours=(RED, PURPLE, ORANGE)),
    )),
    PanelRow("Endpoints", (
        PanelSpec("p99 by endpoint", "lines", 12, 9, "s", (
            PanelQuery(
                "{{method}} {{name}}", _quantile(0.99, by="le, method, name"),
                f'SELECT max("p99_ms") / 1000 FROM "plimsoll" WHERE {_I} '
                'GROUP BY time($__interval), "method", "name" fill(null)',
            ),
        ), "Response times, from when a request was due."),
        PanelSpec("Requests per second by endpoint", "lines", 12, 9, "reqps", (
            PanelQuery(
                "{{method}} {{name}}",
                f"sum by (method, name) (rate(plimsoll_requests_total{_P}[$__rate_interval]))",
                _a_second("requests", '"method", "name"'),
            ),
        ), "Requests that ended."),
        PanelSpec("Requests so far by endpoint", "table", 12, 8, "none", (
            PanelQuery(
                "", f"sum by (method, name) ({_known('requests_total')})",
                f'SELECT sum("requests") AS "requests", sum("failures") AS "failures" FROM "plimsoll" WHERE {_I} '
                'GROUP BY "method", "name"',
            ),
        ), "Requests that ended, since the run began."),
        PanelSpec("Failures so far by endpoint", "table", 12, 8, "none", (
            PanelQuery(
                "", f"sum by (method, name, outcome) ({_known('failures_total')})",
                f'SELECT sum("failures") AS "failures" FROM "plimsoll" WHERE {_I} AND "failures" > 0 '
                'GROUP BY "method", "name"',
            ),
        ), "Failed requests, since the run began."),
    )),
    PanelRow("Can these figures be trusted?", (
        PanelSpec("The generator's own times, p99", "lines", 8, 8, "s", (
            PanelQuery(
                "lag: sent late", _quantile(0.99, "lag"),
                f'SELECT max("lag_p99_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
            PanelQuery(
                "delay: read late", _quantile(0.99, "delay"),
                f'SELECT max("delay_p99_ms") / 1000 FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
        ), "How late the load generator sent its requests, and how long responses lay unread.",
            colours=(ORANGE, YELLOW)),
        PanelSpec("CPU of the busiest worker", "lines", 8, 8, "percentunit", (
            PanelQuery(
                "CPU", f"plimsoll_worker_cpu_ratio{_P}", f'SELECT max("cpu") FROM "plimsoll_run" WHERE {_I} {_EACH}'
            ),
        ), "Near 100 % the generator is the limit, and not the target.", colours=(PURPLE,)),
        PanelSpec("Workers", "lines", 8, 8, "none", (
            PanelQuery(
                "connected", f"plimsoll_workers{_P}", f'SELECT min("workers") FROM "plimsoll_run" WHERE {_I} {_EACH}'
            ),
        ), "A worker that is lost takes its load along.", colours=(BLUE,)),
        PanelSpec("Validity and thresholds", "states", 12, 7, "none", (
            PanelQuery(
                "threshold {{threshold}}", f"plimsoll_threshold_broken{_P}",
                f'SELECT max("thresholds_broken") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
            PanelQuery(
                "invalid", f"1 - plimsoll_valid{_P}",
                f'SELECT 1 - min("valid") FROM "plimsoll_run" WHERE {_I} {_EACH}',
            ),
        ), "Since when a threshold is broken, and since when the run is invalid.", mappings=_KEPT),
        PanelSpec(EVENTS, "table", 12, 7, "none", (
            PanelQuery(
                "", f"{_known('event_timestamp_seconds')} * 1000",
                f'SELECT "kind", "text" FROM "plimsoll_event" WHERE {_I}',
            ),
        ), "Start, phases, changes of the load, lost workers, broken thresholds, findings, end."),
    )),
)  # fmt: skip

ANNOTATIONS = (
    ("Phases and changes of the load", "phase|load_changed|load_cut", BLUE),
    ("Workers and limits",
     "worker_lost|worker_replaced|worker_returned|resumed|store_lost|clock_stepped|guard_stopped|feeder_ended", ORANGE),
    ("Broken thresholds, validity", "threshold_broken|invalid", RED),
    ("Findings", "finding", PURPLE),
)  # fmt: skip
"""Name, kinds of events, colour."""


def annotation_query(source: Source, events: str) -> str:
    if source == "prometheus":
        return f'plimsoll_event_timestamp_seconds{{run="$run",kind=~"{events}"}} * 1000'
    return f'SELECT "text" FROM "plimsoll_event" WHERE {_I} AND "kind" =~ /^({events})$/'


class InfluxTarget:
    """A query in InfluxQL. grafana-foundation-sdk has no type for it; these are the fields that Grafana reads."""

    def __init__(self, query: str, alias: str, ref: str, *, is_table: bool) -> None:
        self._query, self._alias, self._ref, self._is_table = query, alias, ref, is_table

    def build(self) -> InfluxTarget:
        return self

    def to_json(self) -> dict[str, object]:
        return {
            "refId": self._ref,
            "query": self._query,
            "rawQuery": True,
            "alias": self._alias,
            "resultFormat": "table" if self._is_table else "time_series",
            "datasource": _source("influxdb").to_json(),
        }


def _source(source: Source) -> models.DataSourceRef:
    return models.DataSourceRef(type_val=source, uid=f"${{{SOURCE_VARIABLE}}}")


def _target(source: Source, spec: PanelSpec, query: PanelQuery, ref: str) -> Any:
    if source == "influxdb":
        alias = query.legend.replace("{{", "$tag_").replace("}}", "")
        alias = "thresholds" if "threshold" in alias else alias
        return InfluxTarget(query.influxdb, alias, ref, is_table=spec.kind == "table")
    target = prometheus.Dataquery().expr(query.prometheus).ref_id(ref).datasource(_source(source))
    if query.legend:
        target = target.legend_format(query.legend)
    if spec.kind == "table":
        return target.instant().format(PromQueryFormat.TABLE)
    return target.instant() if spec.kind == "stat" else target.range()


def _panel(source: Source, spec: PanelSpec) -> Any:
    makers = {
        "stat": _stat, "lines": _lines, "bars": _bars, "states": _states, "table": _table,
    }  # fmt: skip
    panel: Any = makers[spec.kind]()
    panel = panel.title(spec.title).description(spec.description).unit(spec.unit).span(spec.width).height(spec.height)
    panel = panel.datasource(_source(source))
    if spec.title == EVENTS and source == "prometheus":
        panel = panel.override_by_name("value", [models.DynamicConfigValue("unit", "dateTimeAsIso")])
    for number, query in enumerate(spec.queries):
        panel = panel.with_target(_target(source, spec, query, chr(ord("A") + number)))
    if spec.mappings:
        options = {
            value: models.ValueMappingResult(text=text, color=colour, index=index)
            for index, (value, text, colour) in enumerate(spec.mappings)
        }
        panel = panel.mappings([models.ValueMap(options=options)])
    if spec.steps:
        steps = [models.Threshold(value=value or None, color=colour) for value, colour in spec.steps]
        panel = panel.thresholds(dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
    for query, colour in zip(spec.queries, spec.colours, strict=False):
        fixed: list[models.DynamicConfigValue] = [
            models.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": colour})
        ]
        if query.legend == "may be the generator's":
            fixed.append(models.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [6, 4]}))
        panel = panel.override_by_name(query.legend, fixed)
    return panel


def _stat() -> Any:
    chosen = common.ReduceDataOptions().calcs(["lastNotNull"])
    return stat.Panel().reduce_options(chosen).color_mode(kinds.BigValueColorMode.BACKGROUND_SOLID)


def _lines() -> Any:
    legend = common.VizLegendOptions().display_mode(kinds.LegendDisplayMode.LIST).show_legend(show_legend=True)
    legend = legend.placement(kinds.LegendPlacement.BOTTOM)
    tooltip = common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI).sort(kinds.SortOrder.DESCENDING)
    panel = timeseries.Panel().legend(legend).tooltip(tooltip).min(0.0).line_width(2.0).fill_opacity(8.0)
    return panel.show_points(kinds.VisibilityMode.NEVER)


def _bars() -> Any:
    stacked = common.StackingConfig().mode(kinds.StackingMode.NORMAL)
    return _lines().stacking(stacked).fill_opacity(45.0).line_width(1.0)


def _states() -> Any:
    return statetimeline.Panel().show_value(kinds.VisibilityMode.NEVER).merge_values(merge_values=True)


def _table() -> Any:
    hidden = dict.fromkeys(("Time", "__name__", "run", "instance", "job"), True)  # of Prometheus
    columns = models.DataTransformerConfig(
        id_val="organize", options={"excludeByName": hidden, "renameByName": {"Value": "value"}}
    )
    return table.Panel().show_header(show_header=True).with_transformation(columns)


def build(source: Source) -> str:
    """The JSON of the dashboard."""
    name = "Prometheus" if source == "prometheus" else "InfluxDB"
    made = (
        dashboard.Dashboard(f"Plimsoll run ({name})")
        .uid(f"plimsoll-run-{source}")
        .description("A load test by Plimsoll: load, answers, and whether its figures can be trusted.")
        .tags(["plimsoll", "load test"])
        .time("now-15m", "now")
        .refresh("5s")
        .timezone("browser")
        .editable()
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .with_variable(dashboard.DatasourceVariable(SOURCE_VARIABLE).label("Data source").type(source))
        .with_variable(_runs(source))
    )
    for title, _, colour in ANNOTATIONS:
        made = made.annotation(
            dashboard.AnnotationQuery().name(title).datasource(_source(source)).enable(enable=True).icon_color(colour)
        )
    for row in ROWS:
        made = made.with_row(dashboard.Row(row.title))
        for spec in row.panels:
            made = made.with_panel(_panel(source, spec))
    plain = json.loads(JSONEncoder(sort_keys=True).encode(made.build()))
    for number, panel in enumerate(plain["panels"], 1):
        panel["id"] = number
    for annotation, (_, events, _) in zip(plain["annotations"]["list"], ANNOTATIONS, strict=True):
        annotation |= _annotation_fields(source, annotation_query(source, events))
    return json.dumps(plain, indent=1, sort_keys=True) + "\n"


def _annotation_fields(source: Source, query: str) -> dict[str, object]:
    """What the data source reads of an annotation; the SDK has types for the common fields only."""
    if source == "prometheus":
        return {
            "expr": query, "useValueForTime": True, "titleFormat": "{{kind}}", "textFormat": "{{text}}",
            "tagKeys": "kind", "step": "1s",
        }  # fmt: skip
    return {"query": query, "rawQuery": True, "textColumn": "text", "tagsColumn": "kind", "timeEndColumn": ""}


def _runs(source: Source) -> dashboard.QueryVariable:
    """The newest one is first: ids begin with the date."""
    variable = dashboard.QueryVariable(RUN_VARIABLE).label("Run").datasource(_source(source))
    query = (
        f"label_values(plimsoll_run_info, {RUN_VARIABLE})"
        if source == "prometheus"
        else 'SHOW TAG VALUES FROM "plimsoll_run" WITH KEY = "run"'
    )
    variable = variable.query(query).sort(models.VariableSort.ALPHABETICAL_DESC)
    return variable.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for source in ("prometheus", "influxdb"):
        (FOLDER / f"{source}.json").write_text(build(source))


if __name__ == "__main__":
    main()
