from __future__ import annotations

import threading

import pytest
from tests.server.page_server import NOON, FakeClock, LiveFeed, caught_exception, failure, interval

from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.record.events import WorkerLost
from plimsoll.record.facts import CpuPeriods, RunFacts
from plimsoll.run.coordinator.progress import Batch
from plimsoll.server.live.feed import FRESH_S, INTEREST_S, MOST_CHARACTERS, MOST_LINES, MOST_SNAPSHOTS
from plimsoll.server.live.live import Live
from plimsoll.server.live.live_run import MOST_FAILURES
from plimsoll.stats.table import Times, live_rows_of, live_total_of
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.view import RunView


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def live(clock):
    return Live(clock)


@pytest.fixture
def watched(live):
    live.listen(lambda: None)
    return live


def test_before_the_first_run_there_is_an_edition_without_one(live):
    edition = live.snapshot
    assert (edition.sequence, edition.test, edition.total, edition.is_whole) == (0, None, None, True)
    assert (live.test, live.is_in_progress, live.is_fresh) == (None, False, True)
    assert live.charts(None) == ([], 0)


def test_a_run_is_told_from_its_preparation_to_its_end(watched):
    feed = LiveFeed(watched, workers=2)
    statuses = []
    watched.listen(lambda: statuses.append(watched.snapshot.test.status))
    feed.begin(2)
    watched.stored_as("20261120-abc")
    feed.second({"/": [1.0]}, state="spawning")
    feed.second({"/": [1.0, 2.0]})
    feed.second({"/": [1.0]}, state="stopping")
    feed.view.length = 2.5
    feed.end("stopped", 1, "p99 < 1ms does not hold")
    assert statuses == ["preparing", "spawning", "spawning", "spawning", "running", "stopping", "stopped"]
    test = watched.test
    assert test is not None
    assert (test.run, test.number, test.name, test.workers, test.started) == (
        "20261120-abc",
        2,
        "locustfile.py",
        2,
        NOON,
    )
    assert (test.elapsed, test.left, test.users, test.exit_code) == (2.5, 0.0, 0, 1)
    assert test.message == "p99 < 1ms does not hold"
    assert watched.result is feed.view
    assert [each.requests for each in watched.snapshot.rows.values()] == [4]


def test_a_threshold_that_does_not_hold_is_told_while_the_run_goes_on(watched):
    feed = LiveFeed(watched).begin()
    asked = []

    def judge(duration):
        asked.append(duration)
        return [ThresholdResult("p99 < 1ms", False, 40.0, 1.0, "p99 was 40 ms")]

    watched.judge_by(judge)
    for _ in range(5):
        feed.second({"/": [40.0] * 20})
    assert asked == [1.0, 2.0, 3.0, 4.0, 5.0]
    target = watched.snapshot.headline.target
    assert (target.tone, target.title) == ("bad", "Fails its thresholds")
    assert "p99 < 1ms" in target.text


def test_a_run_that_could_not_begin_says_why(watched):
    LiveFeed(watched).live.preparing(LiveFeed(watched).plan, "locustfile.py", 1)
    watched.failed("no target at http://me:hunter2@127.0.0.1")
    assert watched.test is not None
    assert (watched.test.status, watched.test.message) == ("failed", "no target at http://me:***@127.0.0.1")


def test_the_rows_are_those_of_every_other_table(watched):
    feed = LiveFeed(watched).begin()
    feed.second({"/a": [1, 2, 3], "/b": [400.0]})
    feed.second({"/a": [4.5], "/b": [1.0]})
    feed.report(Batch([interval(1, "/b", [30_000.0] * 2, "timeout"), interval(1, "/b", [7.0], "http")]))
    edition = watched.snapshot
    for row, summary in zip(edition.in_order(), live_rows_of(feed.view), strict=True):
        assert (row.method, row.name, row.requests, row.failures) == (
            summary.method,
            summary.name,
            summary.requests,
            summary.failures,
        )
        times = Times.of(summary.response_ms)
        assert (row.mean, row.min, row.max) == (times.mean, times.min, times.max)
        assert [row.p50, row.p99, row.p999] == [times.percentiles[percent] for percent in ("50", "99", "99.9")]
        assert (row.rps, row.current_rps, row.size) == (summary.rps, summary.current_rps, summary.average_size)
    total = live_total_of(feed.view)
    assert edition.total is not None
    p95 = Times.of(total.response_ms).percentiles["95"]
    assert (edition.total.requests, edition.total.p95) == (total.requests, p95)
    assert "p99" in edition.total.at_least and "p50" not in edition.total.at_least
    assert edition.in_order()[0].at_least == ()


def test_current_numbers_forget_what_is_older_than_ten_seconds(watched):
    feed = LiveFeed(watched).begin()
    feed.second({"/a": [100.0] * 10})
    for _ in range(10):
        feed.second({"/a": [1.0]})
    row = watched.snapshot.rows["GET", "/a"]
    assert (row.current_rps, row.current_p99, row.requests) == (1.0, 1.0, 20)
    assert row.max == 100.0


def test_what_comes_late_is_counted(watched):
    feed = LiveFeed(watched).begin()
    for _ in range(15):
        feed.second({"/a": [1.0]})
    feed.report(Batch([interval(14, "/a", [3.0]), interval(0, "/a", [3.0] * 5)]))
    row = watched.snapshot.rows["GET", "/a"]
    assert (row.requests, row.current_rps) == (21, 1.1)


def test_while_nobody_looks_no_table_is_made(live, clock, monkeypatch):
    made = []
    monkeypatch.setattr("plimsoll.server.live.live_run.RowTable.turn", lambda *_, **__: made.append(1) or [])
    feed = LiveFeed(live).begin()
    before = live.snapshot.sequence
    for _ in range(3):
        feed.second({"/": [1.0]})
    assert (made, live.snapshot.sequence) == ([], before)
    assert live.test is not None
    assert live.test.elapsed == 3.15, "how far it is costs nothing"
    live.look()
    feed.second({"/": [1.0]})
    assert (made, live.snapshot.sequence) == ([1], before + 1)
    clock.now += INTEREST_S + 1
    feed.second({"/": [1.0]})
    assert made == [1]


def test_numbers_are_of_now_only_if_they_are_recent(live, clock):
    feed = LiveFeed(live).begin()
    assert not live.is_fresh
    live.look()
    feed.second({"/": [1.0]})
    assert live.is_fresh
    live.stored_as("x")
    clock.now += FRESH_S
    assert not live.is_fresh
    feed.end()
    clock.now += 1000
    assert live.is_fresh


def test_the_end_has_all_numbers_though_nobody_looked(live):
    feed = LiveFeed(live).begin()
    feed.second({f"/{n}": [1.0] for n in range(1500)})
    feed.end()
    assert len(live.snapshot.rows) == 1500
    assert live.snapshot.total is not None
    assert live.snapshot.total.requests == 1500


def test_with_thousands_of_endpoints_each_second_makes_a_bounded_number_of_rows(watched):
    feed = LiveFeed(watched).begin()
    changed = []
    for _ in range(14):
        feed.second({f"/{n}": [1.0] for n in range(2000)})
        changed.append(len(watched.snapshot.changed))
    assert changed[:2] == [1000, 1000]
    assert set(changed[2:]) == {200}
    assert len(watched.snapshot.rows) == 2000
    ages = [14 - row.requests for row in watched.snapshot.rows.values()]
    assert max(ages) < 12, "each has its turn"
    assert watched.snapshot.total is not None
    assert watched.snapshot.total.requests == 28_000, "the total is always of now"


def test_another_run_and_a_reset_make_all_that_was_told_void(watched):
    feed = LiveFeed(watched).begin()
    feed.second({"/old": [1.0]})
    assert not watched.snapshot.is_whole
    feed.view = RunView(1)
    watched.reset_at(1)
    feed.second({"/new": [1.0]})
    edition = watched.snapshot
    assert (edition.is_whole, [*edition.rows], edition.test and edition.test.warmup) == (True, [("GET", "/new")], 1.0)
    feed.second({"/new": [1.0]})
    assert not watched.snapshot.is_whole
    feed.end()
    LiveFeed(watched).begin(2)
    after = watched.snapshots_after(edition.sequence)
    prepared = next(each for each in after if each.test and each.test.status == "preparing")
    assert (prepared.is_whole, prepared.rows, prepared.total) == (True, {}, None)
    assert watched.result is None


def test_charts_begin_anew_with_a_reset(watched):
    feed = LiveFeed(watched).begin()
    feed.second({"/": [1.0]})
    feed.second({"/": [1.0]})
    before = watched.snapshot.versions[None]
    feed.view = RunView(2)
    feed.second({"/": [1.0]})
    assert watched.snapshot.versions[None] > before


def test_editions_are_kept_for_those_who_are_a_little_slow(watched):
    feed = LiveFeed(watched).begin()
    first = watched.snapshot.sequence
    for _ in range(MOST_SNAPSHOTS - 1):
        feed.second({"/": [1.0]})
    assert [each.sequence for each in watched.snapshots_after(first)] == [*range(first + 1, first + MOST_SNAPSHOTS)]
    feed.second({"/": [1.0]})
    feed.second({"/": [1.0]})
    late = watched.snapshots_after(first)
    assert [each.sequence for each in late] == [watched.snapshot.sequence], "too late: all of it is told again"
    assert watched.snapshots_after(watched.snapshot.sequence) == ()


def test_failures_and_exceptions_are_told_without_passwords_and_the_most_frequent_first(watched):
    feed = LiveFeed(watched).begin()
    several = [failure("/", f"kind {n}", n) for n in range(1, MOST_FAILURES + 3)]
    trace = 'File "x.py"\nValueError: https://me:hunter2@target.example'
    exceptions = [caught_exception("https://me:hunter2@target.example", trace, 3, (1, 0))]
    failed = interval(0, "/", [1.0], outcome="http")
    failed.count = 1_000_000
    several.append(failure("/", "https://me:hunter2@x", 9999))
    feed.report(Batch(intervals=[failed], failures=several, exceptions=exceptions))
    edition = watched.snapshot
    assert (edition.kinds_of_failures, len(edition.failures)) == (MOST_FAILURES + 3, MOST_FAILURES)
    assert (edition.failures[0].message, edition.failures[0].count) == ("https://me:***@x", 9999)
    assert edition.failures[1].message == f"kind {MOST_FAILURES + 2}"
    (exception,) = edition.exceptions
    assert "hunter2" not in exception.message + exception.traceback
    assert (exception.count, exception.workers) == (3, (0, 1))


def test_a_failure_is_a_share_of_the_requests_that_its_endpoint_had_by_then(watched):
    feed = LiveFeed(watched).begin()
    feed.second({"/a": [1.0] * 6, "/b": [1.0] * 2})
    failed = [interval(1, "/a", [1.0] * 2, outcome="http"), interval(1, "/b", [1.0] * 2, outcome="http")]
    ahead = [failure("/b", "c", 5), failure("/new", "d", 1)]
    feed.report(Batch(intervals=failed, failures=[failure("/a", "a", 2), failure("/b", "b", 1), *ahead]))
    shares = {each.message: (each.count, each.share) for each in watched.snapshot.failures}
    assert shares == {"a": (2, 0.25), "c": (2, 0.5)}, "no more than there are failed requests by then"


def test_lines_of_the_log_are_told_once_and_the_last_ones_are_kept(live):
    live.log("INFO", "first")
    assert live.snapshot.log == ()
    live.flush()
    assert [each.text for each in live.snapshot.log] == ["first"]
    sequence = live.snapshot.sequence
    live.flush()
    assert live.snapshot.sequence == sequence, "nothing new"
    for number in range(MOST_LINES):
        live.log("INFO", str(number))
    assert [each.text for each in live.lines()] == [str(number) for number in range(MOST_LINES)]


def test_a_very_long_line_is_cut_and_says_so(live):
    live.log("ERROR", "x" * (MOST_CHARACTERS + 500))
    (line,) = live.lines()
    assert line.text == "x" * MOST_CHARACTERS + " … (500 characters are left out)"


def test_lines_come_with_the_second_that_they_are_of(watched):
    feed = LiveFeed(watched).begin()
    watched.log("WARNING", "slow")
    sequence = watched.snapshot.sequence
    watched.flush()
    assert watched.snapshot.sequence == sequence, "a second will come"
    feed.second({})
    assert [(each.level, each.text) for each in watched.snapshot.log] == [("WARNING", "slow")]


def test_the_load_is_told_in_words(watched):
    phase = Phase("", ShapeSpec.of("constant", level=900.0), 0.0, 60.0)
    for load, shaped, words in (
        (None, False, "20 users"),
        (None, True, "users as the LoadTestShape says"),
        (Load("open", (phase,)), False, "open model, 900/s"),
    ):
        LiveFeed(watched, load=load, users=20).begin(shaped=shaped)
        assert watched.test is not None
        assert (watched.test.load, watched.test.model) == (words, "open" if load else "closed")


def test_readers_in_many_threads_see_whole_editions_while_the_run_goes_on(watched):
    feed = LiveFeed(watched).begin()
    over = threading.Event()
    wrong = []

    def read():
        sequence = 0
        while not over.is_set():
            for edition in watched.snapshots_after(sequence):
                sequence = edition.sequence
                if edition.total is not None and edition.total.requests != sum(
                    r.requests for r in edition.rows.values()
                ):
                    wrong.append(edition)
            watched.charts(("GET", "/a"))
            watched.look()
            watched.lines()

    readers = [threading.Thread(target=read) for _ in range(4)]
    for each in readers:
        each.start()
    try:
        for _ in range(40):
            feed.second({"/a": [1.0, 2.0], "/b": [3.0]})
    finally:
        over.set()
        for each in readers:
            each.join()
    assert not wrong
    assert watched.snapshot.total is not None
    assert watched.snapshot.total.requests == 120


def test_a_worker_that_ended_with_the_run_is_not_lost(watched):
    feed = LiveFeed(watched, workers=2).begin()
    feed.second({"/": [1.0]})
    feed.second({"/": [1.0]}, workers=1, facts=RunFacts(lost=(WorkerLost(),)), wanted=8)
    assert [each.is_lost for each in watched.snapshot.workers] == [True, False]
    assert watched.test is not None
    assert (watched.test.workers, watched.test.load) == (1, "8 users")
    feed.second({"/": [1.0]}, workers=0, facts=RunFacts(lost=(WorkerLost(),)), state="stopping")
    feed.end()
    assert [each.is_lost for each in watched.snapshot.workers] == [True, False]
    assert watched.test.workers == 1


@pytest.mark.parametrize("joined", [False, True])
def test_a_cpu_limit_is_known_while_the_run_goes_on(watched, monkeypatch, joined):
    class Throttled:
        def passed(self):
            return CpuPeriods(10, 4)

    given = []

    def headline(view, plan, facts, **more):
        given.append(facts)

    monkeypatch.setattr("plimsoll.server.live.live_run.PeriodsSince", Throttled)
    monkeypatch.setattr("plimsoll.server.live.live_run.headline_of", headline)
    feed = LiveFeed(watched, joined=joined).begin()
    feed.second({"/": [1.0]})
    # Of workers on other machines, this one's limit says nothing.
    own = None if joined else CpuPeriods(10, 4)
    assert given == [RunFacts(lost_workers=0, cpu_periods=own)]


def test_a_mistake_in_what_is_shown_ends_no_run(watched, monkeypatch, caplog):
    feed = LiveFeed(watched).begin()

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("plimsoll.server.live.live_run.headline_of", fail)
    feed.second({"/": [1.0]})
    feed.end("finished", 0)
    assert "does not show second 0" in caplog.text and "does not show the end" in caplog.text
    assert watched.snapshot.test is not None
    assert watched.snapshot.test.status == "finished"
