from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as open_metrics
from tests.observe.exporter import page, served

from plimsoll.observe.sampler import ProbeError
from plimsoll.observe.scrape import Scrape


class Service:
    """Its metrics, in one of the two formats."""

    def __init__(self, write) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("http_requests", "All.", ["path"], registry=self.registry)
        self.pool = Gauge("pool_in_use", "Connections.", registry=self.registry)
        self.memory = Gauge("heap_bytes", "Memory.", registry=self.registry)
        self.times = Histogram("query_seconds", "Queries.", ["db"], registry=self.registry)
        self.sizes = Summary("reply_bytes", "Replies.", registry=self.registry)
        self.received = Counter("received_bytes", "Bytes.", registry=self.registry)
        self.ours = Gauge("go_goroutines", "Of the exporter.", registry=self.registry)
        self._write = write

    def answer(self, path, headers):
        assert path == "/metrics"
        return 200, {}, self._write(self.registry)


@pytest.fixture(params=[generate_latest, open_metrics], ids=["prometheus", "openmetrics"])
def service(request):
    return Service(request.param)


def test_gauges_rates_and_means(service) -> None:
    with served(service.answer) as url:
        probe = Scrape("shop", url)
        service.requests.labels("/a").inc(5)
        service.pool.set(3)
        service.times.labels("main").observe(1.0)
        assert probe.read(10.0) == {"pool_in_use": 3.0, "heap_bytes": 0.0}
        service.requests.labels("/a").inc(10)
        service.requests.labels("/b").inc(7)
        service.times.labels("main").observe(0.2)
        service.times.labels("main").observe(0.4)
        service.received.inc(3000)
        figures = probe.read(12.0)
        assert figures == pytest.approx(
            {
                "pool_in_use": 3.0,
                "heap_bytes": 0.0,
                'http_requests_total{path="/a"}': 5.0,
                'query_seconds{db="main"}': 1.0,
                'query_seconds{db="main"} mean': 0.3,
                "reply_bytes": 0.0,
                "received_bytes_total": 1500.0,
            }
        ), "one that is new has no rate yet, and no observations have no mean"
        units = {name: probe.unit(name) for name in figures}
        assert units == {
            "pool_in_use": "", "heap_bytes": "bytes", 'http_requests_total{path="/a"}': "/s",
            'query_seconds{db="main"}': "/s", 'query_seconds{db="main"} mean': "s", "reply_bytes": "/s",
            "received_bytes_total": "bytes/s",
        }  # fmt: skip
        assert probe.read(13.0)['http_requests_total{path="/b"}'] == 0.0
        probe.close()


def test_patterns_choose(service) -> None:
    service.requests.labels("/a").inc()
    with served(service.answer) as url:
        probe = Scrape("shop", f"{url}/metrics", ["go_*", "pool_in_use", 'http_*{path="/a"}'])
        assert probe.read(0.0) == {"go_goroutines": 0.0, "pool_in_use": 0.0}
        assert set(probe.read(1.0)) == {"go_goroutines", "pool_in_use", 'http_requests_total{path="/a"}'}
        probe.close()


def test_a_service_that_starts_again_counts_from_0() -> None:
    pages = iter([page("# TYPE a counter\na 50\n"), page("# TYPE a counter\na 3\n"), page("# TYPE a counter\na 9\n")])
    with served(lambda *_: next(pages)) as url:
        probe = Scrape("", url)
        assert [probe.read(float(now)) for now in range(3)] == [{}, {}, {"a": 6.0}]
        probe.close()


def test_a_page_without_metrics_is_an_error() -> None:
    with served(lambda *_: page("<!doctype html><p>hello</p>")) as url:
        probe = Scrape("", f"{url}/metrics")
        with pytest.raises(ProbeError, match="has no metrics"):
            probe.read(0.0)
        probe.close()


def test_names_without_a_type_are_told_by_their_end() -> None:
    with served(lambda *_: page("a_total 5\nb 7\nc_created 9\nd_info 1\ne NaN\n")) as url:
        probe = Scrape("", url)
        assert probe.read(0.0) == {"b": 7.0}
        assert probe.read(1.0) == {"b": 7.0, "a_total": 0.0}
        probe.close()
