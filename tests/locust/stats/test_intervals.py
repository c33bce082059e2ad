from __future__ import annotations

from plimsoll.locust.stats.intervals import StatsReports


def test_each_report_has_what_is_new(stats, recorder):
    reports = StatsReports(stats)
    first, other = recorder.endpoint("GET", "/a"), recorder.endpoint("GET", "/b")
    recorder.custom(first, 5.0, 10)
    recorder.custom(first, 7.0, 10, "http", "500")
    report = reports()
    (row,) = report["stats"]
    assert (row["name"], row["num_requests"], row["num_failures"], row["total_response_time"]) == ("/a", 2, 1, 12.0)
    assert [error["occurrences"] for error in report["errors"].values()] == [1]
    recorder.take()
    recorder.custom(other, 6.0, 10)
    report = reports()
    (row,) = report["stats"]
    assert (row["name"], row["num_requests"], row["total_response_time"]) == ("/b", 1, 6.0)
    total = report["stats_total"]
    assert (total["name"], total["num_requests"], total["num_failures"], total["total_content_length"]) == (
        "Aggregated",
        1,
        0,
        10,
    )
    assert (list(total["response_times"].values()), report["errors"]) == ([1], {})
    assert list(total["num_reqs_per_sec"].values()) == [1]
    assert reports()["stats_total"]["num_requests"] == 0
    assert stats.num_requests == 3


def test_after_a_reset_everything_is_new(stats, recorder):
    reports = StatsReports(stats)
    endpoint = recorder.endpoint("GET", "/")
    for _ in range(3):
        recorder.custom(endpoint, 5.0, 10, "http", "500")
    reports()
    stats.clear_all()
    recorder.custom(endpoint, 5.0, 10, "http", "500")
    report = reports()
    assert report["stats_total"]["num_requests"] == report["stats"][0]["num_requests"] == 1
    assert [error["occurrences"] for error in report["errors"].values()] == [1]
