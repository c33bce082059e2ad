from __future__ import annotations

import json
import random
import time

import pytest

from plimsoll.locust import stats as settings
from plimsoll.locust.stats import RequestStats, StatsEntry
from plimsoll.stats.view import RunView


def test_figures_follow_from_what_is_recorded(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    for ms in (10.0, 20.0, 60.0):
        recorder.custom(endpoint, ms, 100)
    recorder.custom(endpoint, 30.0, 0, "http", "500")
    recorder.custom(endpoint, 5.0, 0, "connect", "refused")
    recorder.custom(endpoint, None, 0)
    for entry in (stats.total, stats.get("/", "GET")):
        assert (entry.num_requests, entry.num_failures, entry.num_none_requests) == (6, 2, 1)
        assert (entry.fail_ratio, entry.avg_content_length, entry.total_content_length) == (2 / 6, 50.0, 300)
        assert (entry.total_response_time, entry.avg_response_time) == (120.0, 30.0)
        assert (entry.min_response_time, entry.max_response_time) == (10.0, 60.0)
        assert entry.median_response_time == pytest.approx(20.0, rel=0.001)
    assert (stats.total.name, stats.total.method, entry.name, entry.method) == ("Aggregated", "", "/", "GET")


def test_a_refusal_has_a_time_which_is_in_no_average_of_rows_taken_over_either(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 10.0, 0)
    recorder.custom(endpoint, 5.0, 0, "connect", "refused")
    read = stats.get("/", "GET")
    taken_over = StatsEntry(stats, "/", "GET")
    taken_over.extend(read)
    taken_over.log(30.0, 0)
    again = StatsEntry.unserialize(read.serialize(), stats)
    for entry, requests, average in ((read, 2, 10.0), (taken_over, 3, 20.0), (again, 2, 10.0)):
        assert (entry.num_requests, entry.num_none_requests, entry.avg_response_time) == (requests, 0, average)
    assert read.get_response_time_percentile(1) == again.get_response_time_percentile(1) == 10.0


def test_an_entry_is_read_anew_each_time(stats, recorder):
    entry, endpoint = stats.get("/", "GET"), recorder.endpoint("GET", "/")
    assert (entry.num_requests, entry.get_response_time_percentile(0.9), entry.fail_ratio) == (0, 0, 0.0)
    for n in range(1, 4):
        recorder.custom(endpoint, float(n), 0)
        assert (entry.num_requests, entry.get_response_time_percentile(1.0)) == (n, float(n))


def test_percentiles_are_those_of_the_report(stats, recorder, make_interval):
    random.seed(5)
    times = [random.lognormvariate(3, 1) for _ in range(3000)]
    endpoint = recorder.endpoint("GET", "/")
    for ms in times:
        recorder.custom(endpoint, ms, 0)
    view = RunView()
    view.add([make_interval([int(ms * 1e6) / 1e6 for ms in times])])
    for percent in (0.0, 0.1, 0.5, 0.95, 0.99, 0.999, 1.0):
        expected = view.total.response.quantile(percent)
        assert expected is not None
        assert stats.total.get_response_time_percentile(percent) == expected.value
    assert stats.total.get_response_time_percentile(0.9999) <= stats.total.max_response_time
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.total.get_response_time_percentile(95)


def test_nothing_timed(stats, recorder):
    recorder.custom(recorder.endpoint("GET", "/"), None, 5)
    entry = stats.get("/", "GET")
    assert (entry.min_response_time, entry.max_response_time, entry.avg_response_time) == (None, 0, 0.0)
    assert (entry.median_response_time, entry.response_times) == (0, {})
    assert entry.get_current_response_time_percentile(0.5) is None
    assert stats.get("/other", "GET").last_request_timestamp is None


def test_response_times_are_right_to_three_digits_and_within_the_extremes(stats, recorder, monkeypatch):
    endpoint = recorder.endpoint("GET", "/")
    for ms in (123.4567, 123.4567, 0.5, 98765.4321):
        recorder.custom(endpoint, ms, 0)
    times = stats.total.response_times
    assert list(times.values()) == [1, 2, 1]
    assert list(times) == pytest.approx([0.5, 123.4567, 98765.4321], rel=0.001)
    assert max(times) <= stats.total.max_response_time
    monkeypatch.setattr(settings, "bucket_response_time", lambda ms: round(ms, -2))
    assert stats.total.response_times == {0.0: 1, 100.0: 2, 98800.0: 1}
    assert stats.total.median_response_time == pytest.approx(123.4567, rel=0.001), "percentiles are left alone"


def test_current_rates_are_those_of_the_ten_seconds_before_the_last_request(stats, arrive):
    for second in range(15, 31):
        arrive(second, *[1.0] * second, failures=second if second % 2 else 0)
        arrive(second, 1.0, name="/other")
    entry = stats.get("/", "GET")
    assert entry.current_rps == sum(range(20, 30)) / 10
    assert entry.current_fail_per_sec == sum(second for second in range(20, 30) if second % 2) / 10
    assert stats.total.current_rps == entry.current_rps + 1
    zero = int(stats.start_time)
    assert entry.num_reqs_per_sec == {zero + second: second for second in range(15, 31)}
    assert entry.num_fail_per_sec == {zero + second: second for second in range(15, 31) if second % 2}


def test_a_young_test_has_fewer_seconds_to_look_back(stats, arrive):
    assert stats.total.current_rps == 0
    arrive(0, 1.0, 1.0)
    assert stats.total.current_rps == 0
    arrive(3, 1.0, 1.0, 1.0, 1.0)
    assert stats.total.current_rps == 2 / 3


def test_total_rates_end_with_the_last_request_of_all(stats, arrive):
    arrive(4, *[1.0] * 10, failures=5)
    arrive(9, 1.0, name="/other")
    assert stats.get("/", "GET").total_rps == pytest.approx(1.0)
    assert stats.get("/", "GET").total_fail_per_sec == pytest.approx(0.5)
    assert stats.total.total_rps == pytest.approx(1.1)
    assert RequestStats().total.total_rps == 0.0


def test_current_percentiles_look_back_as_far_as_is_set(stats, arrive, monkeypatch):
    arrive(19, 500.0)
    arrive(20, 40.0)
    arrive(30, 20.0)
    assert stats.total.get_current_response_time_percentile(1.0) == pytest.approx(40.0, rel=0.001)
    monkeypatch.setattr(settings, "CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW", 3)
    assert stats.total.get_current_response_time_percentile(1.0) == pytest.approx(20.0, rel=0.001)


def test_an_entry_begins_with_its_first_request_and_the_total_with_the_test(stats, arrive):
    arrive(4, 1.0)
    assert stats.get("/", "GET").start_time == pytest.approx(stats.start_time + 4, abs=0.001)
    assert stats.get("/", "GET").last_request_timestamp == pytest.approx(stats.start_time + 5, abs=0.001)


def test_a_row_of_the_table(stats, recorder, monkeypatch):
    monkeypatch.setattr(settings, "STATS_NAME_WIDTH", 40)
    endpoint = recorder.endpoint("GET", "/")
    for ms, outcome in ((10.4, "success"), (20.6, "http"), (10.4, "success")):
        recorder.custom(endpoint, ms, 0, outcome)
    name = 40 - 4
    row = f"{'GET':8} {'/':{name}}       3    1(33.33%) |     14      10      21     10 |    0.00        0.00"
    assert stats.get("/", "GET").to_string() == str(stats.get("/", "GET")) == row
    assert stats.get("/", "GET").to_string(current=False).startswith(row.rpartition("|")[0])


def test_a_narrow_terminal_has_room_for_the_numbers(stats, recorder, monkeypatch):
    monkeypatch.setattr(settings, "STATS_NAME_WIDTH", 0)
    recorder.custom(recorder.endpoint("GET", "/"), 10.0, 0, "success")
    assert stats.get("/", "GET").to_string().split()[:3] == ["GET", "/", "1"]


def test_a_row_of_percentiles(stats, recorder, monkeypatch):
    recorder.custom(recorder.endpoint("GET", "/"), 12.0, 0)
    monkeypatch.setattr(settings, "PERCENTILES_TO_REPORT", [0.5, 0.9])
    assert stats.get("/", "GET").percentile() == f"{'GET':8} {'/':{settings.STATS_NAME_WIDTH}}       12     12      1"
    with pytest.raises(ValueError, match="no percentiles of GET /other"):
        stats.get("/other", "GET").percentile()


def test_to_dict_has_the_percentiles_that_are_set(stats, recorder, monkeypatch):
    recorder.custom(recorder.endpoint("GET", "/"), 12.0, 8)
    monkeypatch.setattr(settings, "PERCENTILES_TO_STATISTICS", [0.5])
    shown = stats.get("/", "GET").to_dict()
    assert shown.pop("total_rps") == pytest.approx(1 / 30.5, rel=0.01)
    assert shown == {
        "method": "GET", "name": "/", "num_requests": 1, "num_failures": 0, "min_response_time": 12.0,
        "max_response_time": 12.0, "current_rps": 0.0, "current_fail_per_sec": 0.0, "avg_response_time": 12.0,
        "median_response_time": 12.0, "total_fail_per_sec": 0.0, "response_time_percentile_0.5": 12.0,
        "avg_content_length": 8.0,
    }  # fmt: skip


def test_plain_values_and_back(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    for ms in (1.0, 5.0, None):
        recorder.custom(endpoint, ms, 10, "http")
    before = stats.get("/", "GET").serialize()
    back = StatsEntry.unserialize(before, stats)
    after = back.serialize()
    # ns since 1970 are finer than a float.
    assert after.pop("last_request_timestamp") == pytest.approx(before["last_request_timestamp"], abs=1e-6)
    assert after == {key: value for key, value in before.items() if key != "last_request_timestamp"}
    assert back.get_response_time_percentile(1.0) == 5.0
    as_json = json.loads(json.dumps(before))
    again = StatsEntry.unserialize(as_json, stats).serialize()
    assert again["response_times"] == before["response_times"]
    assert again["num_reqs_per_sec"] == before["num_reqs_per_sec"]


class TestCountedByHand:
    @pytest.fixture
    def entry(self) -> StatsEntry:
        return StatsEntry(RequestStats(), "/", "GET", use_response_times_cache=True)

    def test_it_counts_what_is_logged(self, entry):
        for ms in (10, 20, None):
            entry.log(ms, 5)
        entry.log_error("no")
        assert (entry.num_requests, entry.num_none_requests, entry.num_failures) == (3, 1, 1)
        assert (entry.min_response_time, entry.max_response_time, entry.avg_response_time) == (10, 20, 15)
        assert entry.median_response_time == pytest.approx(10, rel=0.001)
        assert entry.total_content_length == 15
        assert list(entry.num_reqs_per_sec.values()) == [3]
        assert list(entry.num_fail_per_sec.values()) == [1]
        assert entry.get_current_response_time_percentile(1.0) == 20
        assert entry.last_request_timestamp == pytest.approx(time.time(), abs=1)
        assert len(entry.stats.entries) == 0

    def test_failures_alone(self, entry):
        entry.log_error("no")
        assert entry.fail_ratio == 1.0

    def test_two_add_up(self, entry):
        other = StatsEntry(RequestStats(), "/", "GET")
        entry.log(10, 5)
        for ms in (2, 40):
            other.log(ms, 5)
        other.log_error("no")
        entry.extend(other)
        assert (entry.num_requests, entry.num_failures, entry.total_response_time) == (3, 1, 52)
        assert (entry.min_response_time, entry.max_response_time) == (2, 40)
        assert entry.median_response_time == pytest.approx(10, rel=0.001)
        assert sum(entry.num_reqs_per_sec.values()) == 3
        assert entry.last_request_timestamp == other.last_request_timestamp

    def test_into_an_empty_one(self, entry):
        other = StatsEntry(RequestStats(), "/", "GET")
        other.log(30, 5)
        entry.extend(other)
        assert (entry.min_response_time, entry.max_response_time) == (30, 30)
        entry.extend(StatsEntry(RequestStats(), "/", "GET"))
        assert (entry.num_requests, entry.min_response_time) == (1, 30)

    def test_it_can_take_in_a_recorded_one(self, entry, stats, arrive):
        arrive(30, 3.0, 4.0, failures=1)
        entry.extend(stats.total)
        assert (entry.num_requests, entry.num_failures, entry.max_response_time) == (2, 1, 4.0)
        assert entry.num_reqs_per_sec == stats.total.num_reqs_per_sec
        assert entry.start_time == stats.total.start_time

    def test_a_report_leaves_it_empty(self, entry):
        entry.log(10, 5)
        assert entry.get_stripped_report()["num_requests"] == 1
        assert (entry.num_requests, entry.response_times, entry.min_response_time) == (0, {}, None)

    def test_old_seconds_are_forgotten(self, entry, monkeypatch):
        for second in range(90):
            monkeypatch.setattr(time, "time", lambda now=1000.0 + second: now)
            entry.log(1, 0)
        assert list(entry.num_reqs_per_sec) == list(range(1030, 1090))
        assert entry.num_requests == 90


def test_a_recorded_row_is_reset_alone(stats, recorder):
    for name in ("/a", "/b"):
        recorder.custom(recorder.endpoint("GET", name), 1.0, 0)
    stats.get("/a", "GET").reset()
    assert [stats.get(name, "GET").num_requests for name in ("/a", "/b")] == [0, 1]
    assert stats.total.num_requests == 2
    stats.total.reset()
    assert (stats.total.num_requests, stats.get("/b", "GET").num_requests) == (0, 1)
