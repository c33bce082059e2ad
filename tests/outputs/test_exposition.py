"""Metrics as text, read by Prometheus's own parsers: that of its Python client, and a real server that scrapes."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from prometheus_client.parser import text_string_to_metric_families
from tests.command import wait_until
from tests.outputs.prometheus_server import prometheus_server
from tests.outputs.sending import bucket, shopper

from plimsoll.experiment.ports import free_port
from plimsoll.outputs.exposition import exposition, format_of, open_metrics
from plimsoll.outputs.metric_histogram import BOUNDS_S
from plimsoll.outputs.metrics import RunMetrics
from plimsoll.outputs.output import OutputEvent
from plimsoll.record import TracedRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.command import Command, CountingTarget

    from plimsoll.outputs.output import OutputRun, OutputSecond
    from plimsoll.record import Interval

PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


def _read(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_sums_grow_from_second_to_second(output_run: OutputRun, make_second: Callable[..., OutputSecond]) -> None:
    metrics = RunMetrics(output_run)
    assert "plimsoll_run_info" in exposition(metrics.families())
    for second in range(3):
        metrics.add(make_second(second))
    found = _read(exposition(metrics.families()))
    run = ("run", output_run.id)
    root, buy = (("method", "GET"), ("name", "/")), (("method", "POST"), ("name", '/buy "now", a=b'))
    assert found["plimsoll_requests_total", frozenset({run, *root, ("outcome", "success")})] == 9
    assert found["plimsoll_failures_total", frozenset({run, *root, ("outcome", "http")})] == 3
    assert found["plimsoll_requests_total", frozenset({run, *buy, ("outcome", "success")})] == 3
    assert found["plimsoll_response_seconds_count", frozenset({run, *root})] == 12
    assert found["plimsoll_response_seconds_sum", frozenset({run, *root})] == pytest.approx(3 * 0.046)
    by_bound = [
        found["plimsoll_response_seconds_bucket", frozenset({run, *root, ("le", repr(bound))})] for bound in BOUNDS_S
    ]
    # 1, 2, 3 and 40 ms in each of three seconds.
    assert by_bound == [0, 3, 6, 9, 9, 9, *[12] * 10]
    assert found["plimsoll_users", frozenset({run})] == 3
    assert found["plimsoll_valid", frozenset({run})] == 1


def test_names_with_any_character_are_read_back(
    output_run: OutputRun, make_interval: Callable[..., Interval], make_second: Callable[..., OutputSecond]
) -> None:
    name = 'a\\b "c"\nd {e="f"} ü'
    metrics = RunMetrics(output_run)
    metrics.add(make_second(0, (make_interval([1.0], name=name),)))
    labels = {("run", output_run.id), ("method", "GET"), ("name", name), ("outcome", "success")}
    assert _read(exposition(metrics.families()))["plimsoll_requests_total", frozenset(labels)] == 1


def test_an_invalid_second_and_a_broken_threshold_are_series(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    from plimsoll.stats.thresholds.verdict import ThresholdResult

    metrics = RunMetrics(output_run)
    results = (ThresholdResult("p99 < 1ms", False, 3.0, 1.0, ""), ThresholdResult("errors < 9%", True, 3.0, 1.0, ""))
    metrics.add(make_second(0, reasons=("it is late",), thresholds=results))
    found = _read(exposition(metrics.families()))
    run = ("run", output_run.id)
    assert found["plimsoll_valid", frozenset({run})] == 0
    assert found["plimsoll_threshold_broken", frozenset({run, ("threshold", "p99 < 1ms")})] == 1
    assert found["plimsoll_threshold_broken", frozenset({run, ("threshold", "errors < 9%")})] == 0


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (f"{PROTOBUF},application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5", "protobuf"),
        (f"{PROTOBUF};q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2", "protobuf"),
        (f"{PROTOBUF};q=0.3,application/openmetrics-text;version=1.0.0;q=0.5", "openmetrics"),
        ("application/vnd.google.protobuf;proto=other;encoding=delimited,text/plain;q=0.5", "plain"),
        ("", "plain"),
        ("*/*", "plain"),
        ("text/html", "plain"),
        ("application/openmetrics-text", "openmetrics"),
        ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "openmetrics"),
        ("application/openmetrics-text;version=0.0.1", "plain"),
        ("application/openmetrics-text;q=0.3, text/plain;q=0.5", "plain"),
        ("Application/OpenMetrics-Text; q=oh", "plain"),
    ],
)  # fmt: skip
def test_the_format_is_the_one_that_is_asked_for(accepted: str, expected: str) -> None:
    assert format_of(accepted, has_native=True) == expected
    assert format_of(accepted, has_native=False) == (expected if expected != "protobuf" else "openmetrics")


def test_openmetrics_has_the_same_samples_and_traces_of_slow_requests(
    output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    metrics = RunMetrics(output_run)
    slow = TracedRequest("GET", "/", "success", "5b8efff798038103d269b633813fc60c", 0.5, 40.0, 39.0)
    metrics.add(make_second(0, traced=(slow, slow._replace(response_ms=39.0, second=0.7))))
    metrics.add_event(OutputEvent("start", 1.5, 'It "starts".'))
    families = metrics.families()
    text = open_metrics(families)
    read = list(open_metrics_families(text))
    samples = {(sample.name, frozenset(sample.labels.items())): sample.value for family in read
               for sample in family.samples}  # fmt: skip
    assert samples == _read(exposition(families))
    (exemplar,) = [sample.exemplar for family in read for sample in family.samples if sample.exemplar]
    assert exemplar.labels == {"trace_id": "5b8efff798038103d269b633813fc60c"}
    assert (exemplar.value, float(exemplar.timestamp)) == (0.039, output_run.started + 0.7)
    assert text.endswith("# EOF\n")


def _get(url: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(url) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()
    except OSError:
        return 0, "", ""


def test_a_real_server_scrapes_the_page_of_a_run_and_has_its_record(
    plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    plimsoll.write(shopper())
    port = free_port()
    run = plimsoll.start(
        "run", "-H", target.url, "-u", "3", "-r", "3", "--processes", "2", "-t", "4", "--web-port", str(port),
        "--autostart", "--out", "prometheus", "--traceparent",
    )  # fmt: skip
    with prometheus_server(tmp_path, {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}) as server:
        wait_until(lambda: run.poll() is not None or _has_ended(port))
        assert run.poll() is None, plimsoll.end(run)
        record = plimsoll.stored()
        status, kind, text = _get(f"http://127.0.0.1:{port}/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        seconds = record["run"]["ended"]
        # The next scrape after the end of the run.
        wait_until(lambda: server.query("timestamp(plimsoll_users) > %f" % (seconds + 1)), 0.2)
        assert server.query("plimsoll_run_info") != {}
        for row in record["endpoints"]:
            labels = f'{{method="{row["method"]}",name="{row["name"]}"}}'
            assert server.value(f"sum(plimsoll_requests_total{labels})") == row["completed"]
            assert server.value(f"plimsoll_response_seconds_count{labels}") == row["response_ms"]["count"]
            # Those of responses: the mean of the row also has an estimate for requests that were still out.
            times = [row["outcomes"][name]["time_ms"] for name in ("success", "http") if name in row["outcomes"]]
            assert server.value(f"plimsoll_response_seconds_sum{labels}") == pytest.approx(
                sum(time["count"] * time["mean"] for time in times) / 1000
            )
            p50 = server.value(f"histogram_quantile(0.5, plimsoll_response_seconds_bucket{labels})")
            assert bucket(p50) == bucket(row["response_ms"]["percentiles"]["50"] / 1000)
        assert server.value("sum(plimsoll_failures_total)") == record["total"]["failures"]
        assert server.value("max_over_time(plimsoll_users[1m])") == 3
        exemplars = server.exemplars("plimsoll_response_seconds_bucket", record["run"]["started"], seconds + 1)
        assert exemplars
        for exemplar in exemplars:
            assert len(exemplar["labels"]["trace_id"]) == 32
            assert float(exemplar["value"]) <= float(exemplar["series"]["le"])
    run.send_signal(signal.SIGINT)
    plimsoll.end(run)
    assert len(text.splitlines()) > 100


def test_a_real_server_scrapes_native_histograms(plimsoll: Command, target: CountingTarget, tmp_path: Path) -> None:
    plimsoll.write(shopper())
    port = free_port()
    run = plimsoll.start(
        "run", "-H", target.url, "-u", "3", "-r", "3", "-t", "3", "--web-port", str(port), "--autostart",
        "--out", "prometheus,histograms=native", "--traceparent",
    )  # fmt: skip
    scraped = {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
    with prometheus_server(tmp_path, scraped, "native-histograms,exemplar-storage") as server:
        wait_until(lambda: run.poll() is not None or _has_ended(port))
        assert run.poll() is None, plimsoll.end(run)
        record = plimsoll.stored()
        wait_until(lambda: server.query("timestamp(plimsoll_users) > %f" % (record["run"]["ended"] + 1)), 0.2)
        for row in record["endpoints"]:
            labels = f'{{method="{row["method"]}",name="{row["name"]}"}}'
            series, count = f"plimsoll_response_seconds{labels}", row["response_ms"]["count"]
            assert server.value(f"sum(plimsoll_requests_total{labels})") == row["completed"]
            assert server.value(f"histogram_count({series})") == count
            p50 = row["response_ms"]["percentiles"]["50"] / 1000
            below, above = (
                server.value(f"histogram_fraction(0, {p50 * factor!r}, {series})") for factor in (0.95, 1.05)
            )
            assert below - 1 / count <= 0.5 <= above + 1 / count
        assert server.value("plimsoll_workers") == 1
        assert server.query("plimsoll_response_seconds_bucket") == {}
    run.send_signal(signal.SIGINT)
    plimsoll.end(run)


def _has_ended(port: int) -> bool:
    status, _, text = _get(f"http://127.0.0.1:{port}/api/runs")
    runs: list[dict[str, Any]] = json.loads(text)["runs"] if status == 200 else []
    return bool(runs) and runs[0]["status"] == "finished"


def test_a_page_without_such_an_output_says_how_to_get_one(plimsoll: Command, target: CountingTarget) -> None:
    port = free_port()
    run = plimsoll.start("run", target.url, "-u", "1", "-t", "60", "--web-port", str(port))
    wait_until(lambda: _get(f"http://127.0.0.1:{port}/metrics")[0] == 404)
    assert "start one with --out prometheus" in _get(f"http://127.0.0.1:{port}/metrics")[2]
    os.kill(run.pid, signal.SIGINT)
    plimsoll.end(run)
