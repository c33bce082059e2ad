"""The message of remote write 2.0, beside that of 1.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.outputs.remote_write.messages import request_1, request_2

from plimsoll.outputs.metrics import RunMetrics
from plimsoll.outputs.remote_write.version_1 import WriteRequests
from plimsoll.outputs.remote_write.version_2 import Requests
from plimsoll.record import TracedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import OutputRun, OutputSecond

TRACE = "5b8efff798038103d269b633813fc60c"
STARTED_MS, TIME_MS = 1_800_000_000_000, 1_800_000_002_000


@pytest.fixture(params=["classic", "native"])
def metrics(
    request: pytest.FixtureRequest, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> RunMetrics:
    metrics = RunMetrics(output_run, has_native=request.param == "native")
    slow = TracedRequest("GET", "/", "success", TRACE, 0.5, 40.0, 39.0)
    metrics.add(make_second(0, traced=(slow,)))
    metrics.add(make_second(1))
    return metrics


def test_both_versions_have_the_same_series_samples_and_exemplars(metrics: RunMetrics) -> None:
    families = metrics.families(is_native=metrics.has_native)
    older = request_1(WriteRequests().message(families, TIME_MS))
    _, newer = request_2(Requests(STARTED_MS).message(families, TIME_MS))
    assert newer.keys() == older.keys()
    assert any(series.exemplars for series in newer.values())
    for labels, series in newer.items():
        before = older[labels]
        assert list(labels) == sorted(labels)
        assert len(series.samples) + len(series.histograms) == 1
        assert [(sample.value, sample.timestamp) for sample in series.samples] == [
            (sample.value, TIME_MS) for sample in before.samples
        ]
        for histogram, known in zip(series.histograms, before.histograms, strict=True):
            histogram.start_timestamp = 0
            assert histogram.SerializeToString() == known.SerializeToString()
        assert [(example.value, example.timestamp) for example in series.exemplars] == [
            (example.value, example.timestamp) for example in before.exemplars
        ]


def test_each_series_has_its_type_unit_help_and_start(metrics: RunMetrics) -> None:
    families = metrics.families(is_native=metrics.has_native)
    symbols, series_of = request_2(Requests(STARTED_MS).message(families, TIME_MS))
    assert symbols[0] == ""
    assert len(symbols) == len(set(symbols))
    assert TRACE in symbols
    metric_of = {metric.name + suffix: metric for metric, _ in families for suffix in ("", "_bucket", "_sum", "_count")}
    seen = set()
    for labels, series in series_of.items():
        metric = metric_of[dict(labels)["__name__"]]
        seen.add(metric.type)
        metadata = series.metadata
        assert ["counter", "gauge", "histogram"][metadata.type - 1] == metric.type
        assert (symbols[metadata.help_ref], symbols[metadata.unit_ref]) == (metric.help, metric.unit)
        expected = 0 if metric.type == "gauge" else STARTED_MS
        assert {value.start_timestamp for value in (*series.samples, *series.histograms)} == {expected}
    assert seen == {"counter", "gauge", "histogram"}


def test_symbols_are_those_of_the_message(metrics: RunMetrics) -> None:
    requests = Requests(STARTED_MS)
    first = requests.message(metrics.families(is_native=metrics.has_native), TIME_MS)
    assert requests.message(metrics.families(is_native=metrics.has_native), TIME_MS) == first
