"""The dashboards for Grafana: every query of theirs, against a real Prometheus and a real InfluxDB that a run has
filled. Grafana itself is not part of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import Command, CountingTarget
from tests.outputs.influxdb_server import influx_rows, influxdb_server
from tests.outputs.prometheus_server import PrometheusServer, prometheus_server

import plimsoll.report.render.grafana as grafana
from plimsoll.outputs.metric_histogram import BOUNDS_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLAN = """
target = "{url}"
thresholds = ["errors < 1%", "p99 < 60s"]

[[request]]
get = "/"

[[request]]
get = "/fail"

[[phase]]
name = "first"
users = 2
duration = "3s"

[[phase]]
name = "second"
users = 4
duration = "3s"
"""
COUNTED = ("_total", "_count", "_sum", "_bucket")
"""Ends of the names of counters."""


@dataclass(frozen=True)
class FilledRun:
    """What is known of the run besides what the two servers have."""

    command: Command
    prometheus: PrometheusServer
    influxdb: str
    record: dict[str, Any]
    """As `plimsoll show --json`."""
    lines: list[dict[str, Any]]
    """JSON lines of the run."""

    @property
    def id(self) -> str:
        return str(self.record["run"]["id"])

    @cached_property
    def seconds(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == "second"]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] != "second"]

    @cached_property
    def samples(self) -> dict[tuple[tuple[str, str], ...], list[tuple[float, float]]]:
        """Times and values of all series, as Prometheus has them."""
        at = self.record["run"]["ended"] + 60
        return self.prometheus.samples(f'{{run="{self.id}"}}[10m]', at)

    @cached_property
    def window(self) -> tuple[float, float]:
        """From the moment at which all counters are there up to the last sample. Here `rate` extrapolates nothing."""
        counters = [rows for labels, rows in self.samples.items() if dict(labels)["__name__"].endswith(COUNTED)]
        return max(rows[0][0] for rows in counters), min(rows[-1][0] for rows in counters)

    def growth(self, metric: str, /, **chosen: str) -> float:
        """Of a counter within the window, from its samples."""
        first, last = self.window
        return sum(
            dict(rows)[last] - dict(rows)[first]
            for labels, rows in self.samples.items()
            if {"__name__": metric, **chosen}.items() <= dict(labels).items()
        )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledRun]:
    folder = tmp_path_factory.mktemp("grafana")
    for name in ("prometheus", "influxdb", "run"):
        (folder / name).mkdir()
    target, command = CountingTarget(), Command(folder / "run")
    command.write(PLAN.format(url=target.url), "plan.toml")
    with prometheus_server(folder / "prometheus") as server, influxdb_server(folder / "influxdb") as url:
        done = command(
            "run", "plan.toml", "--headless", "--out", f"prometheus={server.url},interval=1",
            "--out", f"influxdb={url},db=load", "--out", "jsonl=run.jsonl",
        )  # fmt: skip
        assert done.code == 1, done
        record = command.stored()
        assert record["run"]["notes"] == []
        lines = (command.directory / "run.jsonl").read_text().splitlines()
        yield FilledRun(command, server, url, record, [json.loads(line) for line in lines])
    command.clean_up()
    target.close()


def panels(data: str) -> dict[tuple[str, str], str]:
    """Queries by the title of their panel and their letter."""
    dashboard = json.loads((Path(grafana.__file__).parent / f"{data}.json").read_text())
    return {
        (panel["title"], target["refId"]): target["expr" if data == "prometheus" else "query"]
        for panel in dashboard["panels"]
        if panel["type"] != "row"
        for target in panel["targets"]
    }


def annotations(data: str) -> dict[str, str]:
    dashboard = json.loads((Path(grafana.__file__).parent / f"{data}.json").read_text())
    key = "expr" if data == "prometheus" else "query"
    return {annotation["name"]: annotation[key] for annotation in dashboard["annotations"]["list"]}


def _p(q: str) -> Callable[[dict[str, Any]], float | None]:
    def of(second: dict[str, Any]) -> float | None:
        ms = second["total"]["response_ms"][q]
        return None if ms is None else ms / 1000

    return of


def _broken(second: dict[str, Any]) -> int:
    return sum(threshold["outcome"] == "broken" for threshold in second["thresholds"])


def _late(name: str) -> Callable[[dict[str, Any]], float | None]:
    def of(second: dict[str, Any]) -> float | None:
        ms = second["generator"][name]["p99"]
        return None if ms is None else ms / 1000

    return of


OF_SECONDS: dict[tuple[str, str], Callable[[dict[str, Any]], float | None]] = {
    ("Response time", "A"): _p("p50"),
    ("Response time", "B"): _p("p95"),
    ("Response time", "C"): _p("p99"),
    ("Response time", "D"): lambda s: s["total"]["response_ms"]["share"].get("p99", 0.0) / 1000,
    ("Requests per second", "A"): lambda s: s["total"]["requests"] - s["total"]["failures"],
    ("Requests per second", "B"): lambda s: s["total"]["failures"],
    ("Load", "A"): lambda s: s["generator"]["users"],
    ("Load", "B"): lambda s: s["generator"]["wanted"],
    ("Load", "C"): lambda s: s["generator"]["in_flight"],
    ("Load", "D"): lambda s: s["generator"]["waiting"],
    ("Failures and requests without an answer", "A"): lambda s: s["total"]["failures"],
    ("Failures and requests without an answer", "B"): lambda s: s["total"]["unanswered"],
    ("Failures and requests without an answer", "C"): lambda s: s["generator"]["dropped"],
    ("The generator's own times, p99", "A"): _late("lag_ms"),
    ("The generator's own times, p99", "B"): _late("delay_ms"),
    ("CPU of the busiest worker", "A"): lambda s: s["generator"]["cpu"],
    ("Workers", "A"): lambda s: s["generator"]["workers"],
    ("Validity and thresholds", "A"): _broken,
    ("Validity and thresholds", "B"): lambda s: 1 - s["validity"]["valid"],
}
"""What a panel shows of each second, from the JSON lines."""


def _answer(run: FilledRun) -> dict[str, float]:
    total = run.record["total"]
    return {
        "Can it be trusted?": int(run.seconds[-1]["validity"]["valid"]),
        "Thresholds broken": 1,
        "Requests per second": total["completed"] / len(run.seconds),
        "Failed": total["failures"] / total["completed"],
        "Users, at most": max(second["generator"]["users"] for second in run.seconds),
    }


@pytest.mark.parametrize("key", panels("influxdb"), ids=" ".join)
def test_a_query_of_influxdb_has_the_record_of_the_run(filled: FilledRun, key: tuple[str, str]) -> None:
    rows = influx_rows(filled.influxdb, _influxql(panels("influxdb")[key], filled))
    title, _ = key
    match title:
        case _ if key in OF_SECONDS and title != "Requests per second":
            _check_seconds(filled, key, rows)
        case "Requests per second" if len(rows) > 1:
            _check_seconds(filled, key, rows)
        case "p99":
            (row,) = rows
            values = sorted(_p("p99")(second) or 0.0 for second in filled.seconds if second["total"]["requests"])
            assert values[0] <= _value(row) <= values[-1]
        case "p99 by endpoint":
            worst = {
                endpoint["name"]: max(
                    each["response_ms"]["p99"] / 1000
                    for second in filled.seconds
                    for each in second["endpoints"]
                    if each["name"] == endpoint["name"] and each["response_ms"]["p99"] is not None
                )
                for endpoint in filled.record["endpoints"]
            }
            assert {
                name: max(_value(row) for row in rows if row["name"] == name and _value(row) is not None)
                for name in worst
            } == pytest.approx(worst)
        case "Requests per second by endpoint":
            for endpoint in filled.record["endpoints"]:
                values = [_value(row) for row in rows if row["name"] == endpoint["name"]]
                assert sum(value or 0 for value in values) == endpoint["completed"]
        case "Requests so far by endpoint":
            found = {row["name"]: (row["requests"], row["failures"]) for row in rows}
            assert found == {row["name"]: (row["completed"], row["failures"]) for row in filled.record["endpoints"]}
        case "Failures so far by endpoint":
            assert {row["name"]: row["failures"] for row in rows} == _failures(filled)
        case "What happened":
            assert [(row["kind"], row["text"]) for row in rows] == [
                (event["type"], event["text"]) for event in sorted(filled.events, key=lambda event: event["time"])
            ]
        case _:
            (row,) = rows
            assert _value(row) == pytest.approx(_answer(filled)[title])


@pytest.mark.parametrize("key", panels("prometheus"), ids=" ".join)
def test_a_query_of_prometheus_has_the_record_of_the_run(filled: FilledRun, key: tuple[str, str]) -> None:
    first, last = filled.window
    found = filled.prometheus.query(_promql(panels("prometheus")[key], filled), last)
    title, letter = key
    match title, letter:
        case "Response time" | "The generator's own times, p99", _ if key != ("Response time", "D"):
            metric = {"R": "response", "TA": "lag", "TB": "delay"}[title[0] + letter * (title[0] == "T")]
            q = {"A": 0.5, "B": 0.95, "C": 0.99}[letter] if metric == "response" else 0.99
            (value,) = found.values()
            assert _is_in_bucket(filled, f"plimsoll_{metric}_seconds", q, value)
        case "Requests per second", "A" if "rate(" in panels("prometheus")[key]:
            grown = filled.growth("plimsoll_requests_total") - filled.growth("plimsoll_failures_total")
            assert list(found.values()) == [pytest.approx(grown / (last - first))]
        case "Requests per second", "B":
            assert list(found.values()) == [pytest.approx(filled.growth("plimsoll_failures_total") / (last - first))]
        case "Failures and requests without an answer", _:
            metric = {"A": "failures", "B": "unanswered", "C": "dropped_arrivals"}[letter]
            assert list(found.values()) == [pytest.approx(filled.growth(f"plimsoll_{metric}_total"))]
        case "p99", _:
            (value,) = found.values()
            p99 = filled.record["total"]["response_ms"]["percentiles"]["99"] / 1000
            assert _bucket(value) == _bucket(p99)
        case "p99 by endpoint", _:
            for labels, value in found.items():
                assert _is_in_bucket(filled, "plimsoll_response_seconds", 0.99, value, name=dict(labels)["name"])
            assert len(found) == len(filled.record["endpoints"])
        case "Requests per second by endpoint", _:
            assert {dict(labels)["name"]: value for labels, value in found.items()} == pytest.approx({
                row["name"]: filled.growth("plimsoll_requests_total", name=row["name"]) / (last - first)
                for row in filled.record["endpoints"]
            })  # fmt: skip
        case "Requests so far by endpoint", _:
            counts = {row["name"]: row["completed"] for row in filled.record["endpoints"]}
            assert {dict(labels)["name"]: value for labels, value in found.items()} == counts
        case "Failures so far by endpoint", _:
            assert {dict(labels)["name"]: value for labels, value in found.items()} == _failures(filled)
        case "Validity and thresholds", "A":
            assert {dict(labels)["threshold"]: value for labels, value in found.items()} == {
                "errors < 1%": 1, "p99 < 60s": 0,
            }  # fmt: skip
        case "What happened", _:
            assert {(dict(labels)["kind"], dict(labels)["text"]): value / 1000 for labels, value in found.items()} == (
                pytest.approx({(event["type"], event["text"][:200]): event["time"] for event in filled.events})
            )
        case "Load", "B" if not found:
            assert filled.seconds[-1]["generator"]["wanted"] is None
        case _ if key in OF_SECONDS and title not in _answer(filled):
            assert list(found.values()) == [pytest.approx(OF_SECONDS[key](filled.seconds[-1]))]
        case _:
            assert list(found.values()) == [pytest.approx(_answer(filled)[title])]


def test_annotations_have_the_phases_and_findings(filled: FilledRun) -> None:
    expected = {
        "Phases and changes of the load": {("phase", "Phase first begins."), ("phase", "Phase second begins.")},
        "Workers and limits": set(),
        "Broken thresholds, validity": _texts(filled, "threshold_broken") | _texts(filled, "invalid"),
        "Findings": _texts(filled, "finding"),
    }
    assert _texts(filled, "threshold_broken")
    _, last = filled.window
    for name, query in annotations("prometheus").items():
        found = filled.prometheus.query(_promql(query, filled), last)
        assert {(dict(labels)["kind"], dict(labels)["text"]) for labels in found} == {
            (kind, text[:200]) for kind, text in expected[name]
        }
    for name, query in annotations("influxdb").items():
        rows = influx_rows(filled.influxdb, _influxql(query, filled))
        assert {row["text"] for row in rows} == {text for _, text in expected[name]}


def test_the_variable_has_the_run(filled: FilledRun) -> None:
    (row,) = influx_rows(filled.influxdb, 'SHOW TAG VALUES FROM "plimsoll_run" WITH KEY = "run"')
    assert row["value"] == filled.id
    (labels,) = filled.prometheus.query("plimsoll_run_info", filled.window[1])
    assert dict(labels)["run"] == filled.id


@pytest.mark.parametrize("data", ["prometheus", "influxdb"])
def test_the_export_opens_with_the_run(filled: FilledRun, data: str) -> None:
    format = "grafana-dashboard" if data == "prometheus" else "grafana-dashboard-influxdb"
    done = filled.command("export", "last", "--format", format, "-o", "-")
    assert done.code == 0, done
    dashboard = json.loads(done.out)
    (run,) = (each for each in dashboard["templating"]["list"] if each["name"] == "run")
    assert run["current"]["value"] == filled.id
    assert dashboard["time"]["from"] < dashboard["time"]["to"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def _texts(filled: FilledRun, kind: str) -> set[tuple[str, str]]:
    return {(event["type"], event["text"]) for event in filled.events if event["type"] == kind}


def _failures(filled: FilledRun) -> dict[str, int]:
    return {row["name"]: row["failures"] for row in filled.record["endpoints"] if row["failures"]}


def _promql(query: str, filled: FilledRun) -> str:
    first, last = filled.window
    length = f"{round((last - first) * 1000)}ms"
    return query.replace("$__rate_interval", length).replace("$__range", "10m").replace("$run", filled.id)


def _influxql(query: str, filled: FilledRun) -> str:
    run = filled.record["run"]
    times = f"time >= {int(run['started'] - 10)}s AND time <= {int(run['ended'] + 10)}s"
    return query.replace("$timeFilter", times).replace("$__interval", "1s").replace("$run", filled.id)


def _value(row: dict[str, Any]) -> Any:
    """The only column besides time and tags."""
    (value,) = (value for name, value in row.items() if name not in ("time", "method", "name"))
    return value


def _check_seconds(filled: FilledRun, key: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    expected = [value for second in filled.seconds if (value := OF_SECONDS[key](second)) is not None]
    found = [value for row in rows if (value := _value(row)) is not None]
    if key == ("Response time", "D"):  # seconds without a request have none
        expected = [value for second in filled.seconds if second["total"]["response_ms"]["count"]
                    and (value := OF_SECONDS[key](second)) is not None]  # fmt: skip
    assert found == pytest.approx(expected)
    assert key == ("Load", "B") or expected


def _bucket(seconds: float) -> int:
    return sum(bound < seconds for bound in BOUNDS_S)


def _is_in_bucket(filled: FilledRun, metric: str, q: float, value: float, **chosen: str) -> bool:
    """Whether a quantile of the times within the window is in the bucket that has it."""
    total = filled.growth(f"{metric}_count", **chosen)
    bounds = [*BOUNDS_S, float("inf")]
    texts = [*map(repr, BOUNDS_S), "+Inf"]
    number = next(
        index for index, text in enumerate(texts)
        if filled.growth(f"{metric}_bucket", le=text, **chosen) >= q * total
    )  # fmt: skip
    low = bounds[number - 1] if number else 0.0
    return bool(low <= value <= min(bounds[number], BOUNDS_S[-1]))
