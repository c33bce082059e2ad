from __future__ import annotations

import time

import gevent
import pytest

from plimsoll._engine import Recorder, now
from plimsoll.locust.stats import RequestStats, StatsEntry, StatsSource
from plimsoll.record import Interval
from plimsoll.run.transport.messages import EncodedSnapshot

SECOND = 1_000_000_000


@pytest.fixture
def source(recorder: Recorder) -> StatsSource:
    return StatsSource(recorder)


def outcomes(recorder: Recorder) -> list[tuple[str, int, int]]:
    """What is handed over: (outcome, count, those with a time)."""
    intervals = map(Interval.from_tuple, recorder.take()[0])
    return sorted((each.outcome, each.count, each.timed) for each in intervals)


def test_what_was_handed_over_still_counts(source, recorder):
    endpoint = recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 2.0, 10)
    recorder.take()
    recorder.custom(endpoint, 4.0, 10, "http", "500")
    for each in (None, ("GET", "/")):
        requests, failures, timed, size, total, smallest, largest, first, last, untimed = source.total(each)
        assert (requests, failures, timed, untimed, size) == (2, 1, 2, 0, 20)
        assert (total, smallest, largest) == (6_000_000, 2_000_000, 4_000_000)
        assert recorder.epoch < first < last <= now()
        assert source.latency(each).count == 2


def test_an_endpoint_without_requests_is_none(source, recorder):
    recorder.endpoint("GET", "/never")
    cut_off = recorder.endpoint("GET", "/cut off")
    recorder.custom(cut_off, None, 0, "unanswered")
    assert source.endpoints() == []
    for endpoint in (("GET", "/never"), ("GET", "/unheard of"), ("GET", "/cut off")):
        assert source.total(endpoint) == (0,) * 10
        assert source.latency(endpoint).count == source.recent_latency(endpoint, 10).count == 0
        assert source.recent(endpoint) == []


def test_times_of_day_follow_from_stamps(source, recorder):
    assert source.since == source.unix(recorder.epoch) == pytest.approx(time.time() - 30.5, abs=0.3)


def test_recent_seconds_are_those_of_the_calendar(source, recorder, arrive):
    arrive(28, 1.0, 2.0, failures=1)
    arrive(30, 3.0)
    zero = int(source.since)
    assert source.recent(None) == source.recent(("GET", "/")) == [(zero + 28, 2, 1), (zero + 30, 1, 0)]
    assert source.recent_latency(None, 1).count == 1
    assert source.recent_latency(None, 2).count == 3
    assert source.recent_latency(None, 1000).count == 3


def test_failures_in_the_order_in_which_they_were_first_seen(source, recorder):
    for name in ("/b", "/a", "/b"):
        recorder.custom(recorder.endpoint("GET", name), 1.0, 0, "assertion", "no")
        recorder.take()
    assert [(each.name, each.count) for each in source.failures()] == [("/b", 2), ("/a", 1)]
    assert source.failures()[0].last == pytest.approx(time.time(), abs=1)


def test_a_reset_leaves_what_is_handed_over(source, recorder):
    endpoint = recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 2.0, 10, "http", "500")
    source.reset()
    assert source.total(None)[0] == len(source.failures()) == len(source.endpoints()) == 0
    assert source.since == pytest.approx(time.time(), abs=0.3)
    recorder.custom(endpoint, 4.0, 10)
    assert source.total(("GET", "/"))[:6] == (1, 0, 1, 10, 4_000_000, 4_000_000)
    assert outcomes(recorder) == [("http", 1, 1), ("success", 1, 1)]


def test_an_error_that_follows_at_once_belongs_to_the_request(source, recorder):
    source.log_request(("WS", "send"), 5.0, 3)
    source.log_error(("WS", "send"), ValueError("no"))
    source.log_request(("WS", "send"), 7.0, 3)
    assert source.total(("WS", "send"))[:3] == (2, 1, 2)
    assert [each.message for each in source.failures()] == ["ValueError('no')"]
    assert outcomes(recorder) == [("assertion", 1, 1), ("success", 1, 1)]


def test_an_error_of_another_endpoint_is_a_request_of_its_own(source, recorder):
    source.log_request(("WS", "send"), 5.0, 3)
    source.log_error(("WS", "receive"), "lost")
    source.log_error(("WS", "receive"), None)
    assert source.total(("WS", "send"))[:3] == (1, 0, 1)
    assert source.total(("WS", "receive"))[:3] == (2, 2, 0)
    assert {each.message for each in source.failures()} == {"lost", "None"}


def test_a_request_is_recorded_before_the_next_turn_of_the_loop_is_over(source, recorder):
    source.log_request(("WS", "send"), None, 3)
    assert outcomes(recorder) == []
    gevent.sleep(0)
    assert outcomes(recorder) == [("success", 1, 0)]
    source.log_request(("WS", "send"), 1.0, 3)
    gevent.sleep(0)
    assert outcomes(recorder) == [("success", 1, 1)]


def test_memory_is_bounded_where_nobody_takes():
    source = StatsSource()
    for n in range(2500):
        source.log_request(("GET", "/"), float(n), 0)
    assert source.total(None)[0] == 2500
    assert sum(each[1] for each in outcomes(source.recorder)) == 500


def test_the_recorder_of_a_test_is_left_to_its_owner(source, recorder):
    for n in range(1500):
        source.log_request(("GET", "/"), float(n), 0)
    assert source.total(None)[0] == 1500
    assert sum(each[1] for each in outcomes(recorder)) == 1500


def snapshot(worker: Recorder, index: int = 0, epoch: int | None = None) -> EncodedSnapshot:
    cells, _, failures = worker.take()
    made = EncodedSnapshot(index, 0, epoch or worker.epoch, cells, [], failures, [], {})
    return EncodedSnapshot.from_list(made.to_list())


def test_the_main_node_has_the_sum_of_what_workers_report(recorder):
    workers = [Recorder(recorder.epoch) for _ in range(2)]
    for number, worker in enumerate(workers):
        for ms in (1.0, 2.0, 3.0):
            worker.custom(worker.endpoint("GET", f"/{number}"), ms + number, 7)
        worker.custom(worker.endpoint("GET", "/both"), 100.0 * (number + 1), 1, "http", "503")
        worker.custom(worker.endpoint("GET", "/both"), 1.0, 1, "connect", "refused")
        worker.custom(worker.endpoint("GET", "/both"), None, 1, "unanswered")
    source = StatsSource(recorder)
    for number, worker in enumerate(workers):
        source.add(snapshot(worker, number))
    assert source.endpoints() == [("GET", "/0"), ("GET", "/both"), ("GET", "/1")]
    assert source.total(("GET", "/both"))[:7] == (4, 4, 2, 4, 300_000_000, 100_000_000, 200_000_000)
    assert source.total(None)[:4] == (10, 4, 8, 46)
    assert source.latency(None).count == 8
    assert [(each.message, each.count) for each in source.failures()] == [("503", 2), ("refused", 2)]
    assert sum(requests for _, requests, _ in source.recent(None)) == 10
    first, last, untimed = source.total(None)[7:]
    assert untimed == 0
    assert recorder.epoch <= first < last <= now()
    assert recorder.take() == ([], [], []), "nothing of it is handed over again"


def test_reports_of_an_epoch_that_is_over_are_left_out(recorder):
    old, new = Recorder(recorder.epoch), Recorder(recorder.epoch + SECOND)
    source = StatsSource(recorder)
    for worker in (old, new):
        worker.custom(worker.endpoint("GET", "/"), 1.0, 0)
    late = snapshot(old)
    source.add(late)
    source.add(snapshot(new))
    assert source.total(None)[0] == 1
    source.add(late)
    assert source.total(None)[0] == 1
    assert recorder.epoch == new.epoch


def test_what_the_main_node_itself_has_recorded_of_the_same_test_stays(recorder):
    worker = Recorder(recorder.epoch)
    worker.custom(worker.endpoint("GET", "/"), 1.0, 0)
    recorder.custom(recorder.endpoint("GET", "/own"), 1.0, 0)
    source = StatsSource(recorder)
    source.add(snapshot(worker))
    assert source.endpoints() == [("GET", "/own"), ("GET", "/")]


def test_the_main_node_tells_a_refusal_from_a_request_without_a_time(recorder):
    worker = Recorder(recorder.epoch)
    for response_ms, outcome in ((1.0, "connect"), (None, "success"), (None, "connect"), (2.0, "success")):
        worker.custom(worker.endpoint("GET", "/"), response_ms, 0, outcome, "refused" if outcome == "connect" else None)
    source = StatsSource(recorder)
    source.add(snapshot(worker))
    for endpoint in (None, ("GET", "/")):
        requests, _, timed, *_, untimed = source.total(endpoint)
        assert (requests, timed, untimed) == (4, 1, 2)


def test_rows_summed_elsewhere_are_added(stats):
    other = RequestStats()
    other.log_request("GET", "/", 5.0, 10)
    other.log_request("GET", "/", None, 10)
    stats.get("/", "GET").extend(other.get("/", "GET"))
    entry = stats.get("/", "GET")
    assert (entry.num_requests, entry.num_none_requests, entry.max_response_time) == (2, 1, 5.0)
    assert entry.last_request_timestamp == pytest.approx(time.time(), abs=1)
    by_hand = StatsEntry(other, "/", "GET")
    by_hand.log(7.0, 10)
    entry.extend(by_hand)
    assert (entry.num_requests, entry.max_response_time) == (3, 7.0)
    assert entry.last_request_timestamp == pytest.approx(time.time(), abs=1)
    with pytest.raises(ValueError, match="the row of all endpoints is their sum"):
        stats.total.log(1.0, 1)


def test_a_name_beyond_the_limit_is_read_as_one_without_requests(source, recorder):
    recorder.limit_names(1)
    for name in ("/1", "/2", "/3"):
        recorder.custom(recorder.endpoint("GET", name), 1.0, 10)
    assert source.endpoints() == [("GET", "/1"), ("", "(others)")]
    assert source.total(("", "(others)")).requests == 2
    assert source.total(("GET", "/2")) == (0,) * 10
    assert source.latency(("GET", "/2")).count == source.recent_latency(("GET", "/2"), 10).count == 0
    assert source.recent(("GET", "/2")) == []
    source.reset_endpoint(("GET", "/2"))
    assert source.total(("", "(others)")).requests == 2


def test_reading_adds_no_endpoint(source, recorder):
    recorder.limit_names(1)
    assert source.total(("GET", "/never")).requests == 0
    recorder.custom(recorder.endpoint("GET", "/1"), 1.0, 10)
    assert source.endpoints() == [("GET", "/1")]
