from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Failure, Health
from plimsoll.record.cells import CellKey
from plimsoll.record.facts import ClusterFacts, RunFacts
from plimsoll.record.manifest import Computer, Manifest, NetworkLink, StoredPlan
from plimsoll.say.remarks import run_notes
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.reading import RunReading
from plimsoll.stats.study import Level
from plimsoll.stats.trial import trial_of
from plimsoll.stats.view import RunView

CLOSED = Manifest(model="closed", users_kind="native", users=5, spawn_rate=1e9)
FILE = {"files": [{"path": "/a/locustfile.py", "sha256": "abc"}]}


@dataclass
class Run:
    """What the store would hand out."""

    rows: list = field(default_factory=list)
    manifest: Manifest = CLOSED
    states: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    length: float = 10.0
    status: str = "finished"
    id: str = "20260101-0000-aaaa"
    started: float = 1000.0
    notes: list = field(default_factory=list)
    facts: RunFacts = field(default_factory=lambda: RunFacts(lost_workers=0, clock_step_ms=0.0))
    reads: int = 0

    @property
    def ended(self):
        return self.started + self.length

    def observed(self):
        return ()

    def columns(self):
        self.reads += 1
        yield IntervalColumns.of(self.rows)

    def health(self):
        return iter(self.states)

    def failures(self):
        return iter(self.failed)

    def exceptions(self):
        return iter(())


def read_trial(recorded, cell=CellKey("a"), **given):  # noqa: B008
    return trial_of(recorded, RunReading(recorded), cell, **given)


def health(second, users=5, *, lag_us=100, **state):
    row = Health(second, 0, Histogram(), Histogram(), users=users, **state)
    row.lag.record(lag_us, 100)
    row.delay.record(50, 100)
    return row


@pytest.fixture
def run(make_interval):
    """Ten seconds: in second s, s successes of 10 ms and one answered failure of 2 ms at GET /a; POST /b is refused."""

    def make(**given):
        rows = []
        for second in range(10):
            rows += [
                make_interval([10.0] * second, second=second, name="/a", body=100),
                make_interval([2.0], second=second, name="/a", outcome="http", body=30),
                make_interval([0.1] * 2, second=second, method="POST", name="/b", outcome="connect", body=0),
            ]
        return Run(rows, **given)

    return make


def test_figures_are_those_of_the_view(run):
    recorded = run()
    trial = read_trial(recorded, CellKey(variant="new", level=Level("users", 5), repeat=3, operation="read"), order=7)
    view = RunView.of(recorded)
    assert (trial.variant, trial.level, trial.repeat, trial.order, trial.operation) == (
        "new", Level("users", 5), 3, 7, "read",
    )  # fmt: skip
    assert [each.key for each in trial.endpoints] == [("GET", "/a"), ("POST", "/b")]
    first = trial.endpoints[0]
    assert (first.requests, first.failures, first.timed) == (55, 10, 55)
    assert first.rate == pytest.approx(55 / view.duration)
    assert first.mean == pytest.approx((45 * 10 + 10 * 2) / 55)
    assert (first.mean_success, first.mean_failure) == (pytest.approx(10), pytest.approx(2))
    assert (first.min, first.max) == (2.0, 10.0)
    assert first.quantile(0.5) == pytest.approx(10, rel=1e-3)
    assert first.quantiles[0.5] == pytest.approx(10, rel=1e-3)
    assert first.size == pytest.approx((4500 + 300) / 55)
    assert first.outcomes == {"success": 45, "http": 10}
    assert trial.total.requests == 75
    assert trial.endpoint(("", "Aggregated")) is trial.total
    assert (trial.precision.clock, trial.precision.times_of, trial.precision.mergeable) == ("due", "all", True)


def test_a_refusal_has_no_time_and_no_mean(run):
    refused = read_trial(run()).endpoints[1]
    assert (refused.requests, refused.failures, refused.timed, refused.mean_failure) == (20, 20, 0, None)
    assert refused.mean is None
    assert refused.quantiles == {}
    assert refused.quantile(0.99) is None


def test_a_run_is_read_once(run):
    recorded = run()
    read_trial(recorded)
    assert recorded.reads == 1


def test_the_course_has_every_second_and_adds_up_to_the_sums(run):
    trial = read_trial(run(manifest=replace(CLOSED, warmup=2.5)))
    for measured in (*trial.endpoints, trial.total):
        course = measured.course
        assert len(course) == len(course.histograms) == 10
        assert course.measured == slice(3, 10)
        assert course.requests[course.measured].sum() == measured.requests
        assert course.failures[course.measured].sum() == measured.failures
        merged = Histogram()
        for histogram in course.histograms[course.measured]:
            if histogram is not None:
                merged.add(histogram)
        assert merged.buckets() == measured.histogram.buckets()
    course = trial.endpoints[0].course
    assert course.requests.tolist() == [second + 1 for second in range(10)]
    assert course.means[9] == pytest.approx((9 * 10 + 2) / 10)
    assert course.means[0] == pytest.approx(2)
    assert course.maxima.tolist() == [2.0] + [10.0] * 9
    assert course.sizes[4] == pytest.approx((400 + 30) / 5)


def test_a_second_without_anything_is_not_a_number(make_interval):
    rows = [make_interval([5.0], second=0), make_interval([5.0], second=3), make_interval(second=1, untimed=2)]
    course = read_trial(Run(rows, length=4.0)).endpoints[0].course
    assert course.requests.tolist() == [1, 2, 0, 1]
    assert [math.isnan(each) for each in course.means] == [False, True, True, False]
    assert [math.isnan(each) for each in course.maxima] == [False, True, True, False]
    assert [math.isnan(each) for each in course.sizes] == [False, False, True, False]
    assert [each is None for each in course.histograms] == [False, True, True, False]


def test_intervals_may_come_in_any_order(make_interval):
    rows = [make_interval([ms], second=second) for second, ms in ((1, 5.0), (0, 3.0), (1, 7.0), (0, 4.0))]
    course = read_trial(Run(rows, length=2.0)).total.course
    assert [each.count for each in course.histograms] == [2, 2]
    assert course.maxima.tolist() == [4.0, 7.0]


def test_cancelled_and_dropped_exchanges_are_in_no_course(make_interval):
    rows = [
        make_interval([5.0]),
        make_interval(untimed=4, second=1, outcome="unanswered"),
        make_interval(untimed=1, outcome="dropped"),
    ]
    trial = read_trial(Run(rows, length=2.0))
    assert trial.total.course.requests.tolist() == [1, 0]
    assert trial.total.outcomes == {"success": 1, "unanswered": 4, "dropped": 1}


def test_times_of_successes_only(run):
    trial = read_trial(run(manifest=replace(CLOSED, times_of="successes")))
    first = trial.endpoints[0]
    assert trial.precision.times_of == "successes"
    assert (first.requests, first.timed, first.min) == (55, 45, 10.0)
    assert sum(each.count for each in first.course.histograms if each) == 45
    assert math.isnan(first.course.means[0])
    assert first.mean_failure == pytest.approx(2)


def test_kinds_of_failure_by_endpoint_with_their_status():
    failed = [
        Failure("GET", "/a", "http", "status 503", 2, 1000, 1001),
        Failure("GET", "/a", "http", "HTTPError('404 Client Error: No for url: /a')", 7, 1000, 1001),
        Failure("POST", "/b", "http", "status 503", 4, 1000, 1001),
        Failure("POST", "/b", "assertion", "500 todos expected", 1, 1000, 1001),
    ]
    trial = read_trial(Run(failed=failed))
    assert [(each.message, each.count, each.status) for each in trial.total.kinds] == [
        ("HTTPError('404 Client Error: No for url: /a')", 7, 404),
        ("status 503", 6, 503),
        ("500 todos expected", 1, None),
    ]


def test_kinds_of_failure_are_those_of_their_groups_in_all_endpoints_together():
    failed = [
        Failure("GET", f"/{name}", "reset", "lost [address]", 2, 1000, 1001, f"lost 1.1.1.1:5000{name}")
        for name in (1, 2)
    ]
    trial = read_trial(Run(failed=failed))
    assert [(each.message, each.group, each.count) for each in trial.total.kinds] == [
        ("lost [address]", "lost [address]", 4)
    ]


def test_a_trial_has_the_notes_of_its_run_and_what_its_caller_says_against_it(run):
    assert read_trial(run()).invalid == ()
    assert read_trial(run(), invalid=("cut off",)).invalid == ("cut off",)
    stopped = read_trial(run(status="stopped", notes=["mind"]))
    assert (stopped.invalid, stopped.is_stopped) == ((), True)
    assert list(run_notes(stopped)) == ["mind", "it was stopped before its time was up"]


def test_the_health_of_the_generator(run):
    states = [health(second, in_flight=4, cpu=0.3, offered=100, dropped=second == 2) for second in range(10)]
    trial = read_trial(
        run(states=states, manifest=Manifest(model="open", users_kind="native")),
    )
    figures = trial.generator
    assert (figures.lag_p99, figures.delay_p99, figures.cpu_max, figures.in_flight) == (0.1, 0.05, 0.3, 4.0)
    assert (figures.dropped, figures.achieved) == (1, pytest.approx(0.999))
    assert (trial.model, trial.offered, trial.users) == ("open", pytest.approx(100.0), None)


@pytest.mark.parametrize(
    ("counts", "warmup", "spawn", "users", "ramp"),
    [
        ([5] * 10, 0, 1e9, 5, 0.0),
        ([2, 4, 6, 8, 10, 10, 10, 10, 10, 0], 0, 2.2, 10, pytest.approx(10 / 2.2)),
        ([2, 4, 6, 8, 10, 10, 10, 10, 10, 0], 0, 1.0, 10, 5.0),
        ([2, 4, 6, 8, 10, 10, 10, 10, 10, 0], 6, 2.0, 10, 0.0),
        ([2, 4, 8, 8, 8, 8, 4, 4, 4, 0], 0, 1.0, pytest.approx(50 / 9), 0.0),
    ],
)
def test_users_and_their_ramp(run, counts, warmup, spawn, users, ramp):
    manifest = replace(CLOSED, users=10, spawn_rate=spawn, warmup=warmup)
    states = [health(second, count) for second, count in enumerate(counts)]
    trial = read_trial(run(manifest=manifest, states=states))
    assert (trial.users, trial.ramp) == (users, ramp)


def test_users_second_by_second_from_the_very_start(run):
    states = [health(0, 1), health(1, 3), health(1, 0), health(3, 4)]
    other = health(1, 2)
    other.worker = 1
    trial = read_trial(run(manifest=replace(CLOSED, warmup=2), states=[*states, other]))
    assert np.array_equal(trial.users_by_second[:5], [1, 5, math.nan, 4, math.nan], equal_nan=True)
    assert len(trial.users_by_second) == len(trial.total.course)
    assert trial.lag.count == 100  # one second of one worker after the warm-up
    assert read_trial(run()).users_by_second is None


def test_service_times_of_what_was_timed(run):
    first = read_trial(run()).endpoints[0]
    assert first.service.buckets() == first.histogram.buckets()
    assert read_trial(run()).endpoints[1].service.count == 0


def test_without_health_the_manifest_tells_the_users(run):
    trial = read_trial(run(manifest=replace(CLOSED, users=10, spawn_rate=5.0)))
    assert (trial.users, trial.ramp) == (10, 2.0)


def test_think_times_of_native_users_are_known():
    steps = [{"think": {"constant": 1.0}}, {"think": {"between": [2.0, 4.0]}}, {"think": None}]
    flows = [{"weight": 1.0, "steps": steps}, {"weight": 2.0, "steps": [{"think": {"exponential": 4.0}}]}]
    manifest = replace(CLOSED, plan=StoredPlan(scenario={"flows": flows}))
    assert read_trial(Run(manifest=manifest)).think == pytest.approx((1 + 3 + 0 + 2 * 4) / 5)
    assert read_trial(Run(manifest=CLOSED)).think is None


def test_the_digest_tells_scenarios_apart_but_not_levels_and_addresses():
    def digest(**given):
        return read_trial(
            Run(manifest=Manifest.from_json({**CLOSED.to_json(), **given})),
        ).scenario

    def native(url="http://a", path="/"):
        return {"plan": {"scenario": {"targets": [{"url": url}], "flows": [{"steps": [{"path": path}]}]}}}

    assert digest() is None
    assert digest(scenario=FILE, users=5) == digest(scenario=FILE, users=50)
    assert digest(scenario=FILE) != digest(scenario={"files": [{"path": "/a/locustfile.py", "sha256": "def"}]})
    assert digest(scenario=FILE) != digest(scenario=FILE, plan={"arguments": ["OtherUser"]})
    assert digest(**native("http://a")) == digest(**native("http://b"))
    assert digest(**native(path="/")) != digest(**native(path="/x"))


def test_arrays_have_their_types(run):
    course = read_trial(run()).total.course
    assert course.requests.dtype == course.failures.dtype == np.int64
    assert course.means.dtype == course.maxima.dtype == course.sizes.dtype == np.float64


def test_service_times_are_kept_second_by_second(run):
    trial = read_trial(run())
    course = trial.endpoints[0].course
    counts = [each.count if each is not None else 0 for each in course.service]
    assert counts == [each.count if each is not None else 0 for each in course.histograms]
    total = Histogram()
    for each in course.service:
        if each is not None:
            total.add(each)
    assert total.buckets() == trial.endpoints[0].service.buckets()


def test_the_generator_is_kept_second_by_second_over_all_its_workers(run):
    states = [health(0, in_flight=3, waiting=1, offered=9), health(2, in_flight=4, lag_us=300)]
    other = replace(health(2, in_flight=5, offered=2), worker=1)
    # A second may come in several rows, of which one has the state.
    again = replace(health(0, users=0), lag=Histogram(), delay=Histogram(), offered=1)
    course = read_trial(run(states=[*states, other, again])).generator_course
    assert len(course) == len(course.lag) == len(course.delay) == 10
    assert course.in_flight[[0, 2]].tolist() == [3, 9]
    assert course.waiting[0] == 1
    assert course.offered[[0, 2]].tolist() == [10, 2]
    assert math.isnan(course.in_flight[1])
    assert course.lag[1] is None
    assert (course.lag[0].count, course.lag[2].count, course.lag[2].max) == (100, 200, 300)


def test_without_a_word_of_the_workers_nothing_is_known_of_the_generator(run):
    assert read_trial(run()).generator_course is None


def test_bytes_of_each_second_belong_to_the_interface_of_the_generator(run):
    machine = Computer(link=NetworkLink(interface="eth0", mbit_s=1000))
    link = read_trial(run(manifest=replace(CLOSED, machine=machine))).link
    assert (link.interface, link.mbit_s) == ("eth0", 1000)
    # In second s: s successes of 100 bytes, one failure of 30 and two without a body; 50 bytes of head each.
    assert link.received.tolist() == [150 * second + 80 + 100 for second in range(10)]
    assert link.sent.tolist() == [80 * (second + 3) for second in range(10)]
    assert read_trial(run()).link is None
    several = RunFacts(cluster=ClusterFacts())
    assert read_trial(run(manifest=replace(CLOSED, machine=machine), facts=several)).link is None
