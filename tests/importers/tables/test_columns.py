from __future__ import annotations

import pytest

from plimsoll.importers.tables.columns import column, columns, looks_like_header


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Method", "method"), ("Methods", "name"), ("**Name**", "name"), ("Endpoint", "name"), ("Impl.", "variant"),
        ("VUs", "users"), ("# Requests", "requests"), ("Request Count", "requests"), ("# Fails", "failures"),
        ("Average (ms)", "mean"), ("Avg latency", "mean"), ("Latency (avg)", "mean"), ("Min Response Time", "min"),
        ("Max", "max"), ("Slowest", "max"), ("Average Content Size", "size"), ("Average size (bytes)", "size"),
        ("RPS", "rate"), ("Req/sec", "rate"), ("Throughput (req/s)", "rate"), ("Success rate", "success"),
        ("Success Rate (%)", "success"), ("Errors (%)", "failed"), ("Errors", "failures"), ("Failures/s", "other"),
        ("Current RPS", "other"),
    ],
)  # fmt: skip
def test_titles(title, kind):
    assert column(title).kind == kind


@pytest.mark.parametrize(
    ("title", "q"),
    [
        ("95%", 0.95), ("95%ile (ms)", 0.95), ("median response time", 0.5), ("Median", 0.5), ("P99 (corrected)", 0.99),
        ("p(99.9)", 0.999), ("99th percentile", 0.99), ("90% Line", 0.9), ("Latency p75", 0.75), ("P999", 0.999),
        ("p9999", 0.9999), ("99.99%", 0.9999), ("Percentile 95", 0.95), ("100%ile (ms)", 1.0), ("p100", 1.0),
    ],
)  # fmt: skip
def test_percentiles(title, q):
    found = column(title)
    assert (found.kind, found.q) == ("quantile", q)


@pytest.mark.parametrize(
    "title", ["", "Latency (ms)", "p0", "p150", "Apdex", "95%99%", "705 Methods", "p50/p99", "50", "old"]
)
def test_what_is_no_title_or_not_certain(title):
    assert column(title) is None


def test_what_a_title_says_besides():
    assert (column("P99 (corrected)").corrected, column("p99").corrected) == (True, False)
    assert [column(title).unit for title in ("avg (s)", "mean latency [µs]", "size (kb)", "p99")] == [
        "s",
        "µs",
        "kb",
        "",
    ]
    arms = ("p99 (old)", "new p99", "p99 after", "median - before", "p99")
    assert [column(title).arm for title in arms] == ["old", "new", "after", "before", ""]
    assert column("average (kb)") is None


def test_the_same_measure_as_often_as_every_other_is_that_many_arms():
    found, doubt = columns(["Methods", "p50", "p50", "95%", "95%"])
    assert ([each.place for each in found], doubt) == ([0, 0, 1, 0, 1], "")
    _, doubt = columns(["Methods", "p50", "p50", "95%"])
    assert "'p50' is there several times" in doubt


def test_one_measure_under_two_titles_is_told_by_the_first():
    found, doubt = columns(["Name", "Median Response Time", "Max Response Time", "50%", "95%"])
    assert ([each.kind for each in found], doubt) == (["name", "quantile", "max", "other", "quantile"], "")


def test_a_header_names_something_that_was_measured():
    assert looks_like_header(["Name", "p50"])
    assert looks_like_header(["what?", "p50", "p99"])
    assert not looks_like_header(["Name", "Build"])
    assert not looks_like_header(["/a", "10", "95.5%x"])
