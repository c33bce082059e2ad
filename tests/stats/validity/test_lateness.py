"""A generator that was late says so beside its figures; only one that is full and falls behind spoils a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.record.facts import CpuPeriods, RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.say.validity import check_text, check_texts, unclean_text
from plimsoll.stats.validity import judge, unclean_figures
from plimsoll.stats.view import RunView

OPEN = Manifest(model="open", users_kind="native")
CLOSED = Manifest(model="closed", users_kind="native")
PYTHON = Manifest(model="closed", users_kind="python")
SOUND = RunFacts(lost_workers=0, clock_step_ms=0.0)


def late(make_interval, second, took, lag, count, name="/"):
    """So many exchanges that took these ms, of which the generator sent each so late."""
    interval = make_interval([took] * count, second=second, name=name)
    interval.service, interval.service_sum = Histogram(), round((took - lag) * 1e6) * count
    interval.service.record(round((took - lag) * 1000), count)
    return interval


@pytest.fixture
def run(make_interval):
    """A view of so many seconds with exchanges of `took` ms, sent `lag(second)` late, and the health that is given."""

    def make(seconds=10, took=10.0, lag=lambda second: 0.0, delay=0.1, count=100, users=5, **states):
        view = RunView()
        for second in range(seconds):
            row = Health(second, 0, Histogram(), Histogram(), users=users(second) if callable(users) else users)
            row.lag.record(round(lag(second) * 1000), count)
            row.delay.record(round(delay * 1000), count)
            for name, value in {"cpu": 0.1, **states}.items():
                setattr(row, name, value(second) if callable(value) else value)
            view.add([late(make_interval, second, took, lag(second), count)], [row])
        view.length = float(seconds)
        return view

    return make


def checks(view, manifest=CLOSED):
    return {check.name: check for check in judge(view, manifest, SOUND, "finished").checks}


@pytest.mark.parametrize(
    ("took", "lag", "state"),
    [(10.0, 0.49, "ok"), (10.0, 0.6, "remark"), (1.0, 0.1, "ok"), (1.0, 0.2, "remark"), (500.0, 20.0, "ok")],
)
def test_a_lag_of_a_twentieth_or_a_tenth_of_a_ms_does_not_matter(run, took, lag, state):
    view = run(took=took, lag=lambda second: lag)
    assert checks(view)["lag"].state == state
    assert judge(view, CLOSED, SOUND, "finished").valid, "a late run is never invalid for that"
    assert bool(unclean_figures(view, OPEN)) == (state == "remark")


def test_a_late_run_says_how_much_too_high_it_may_be_and_why(run):
    view = run(lag=lambda second: 9.0)
    assert check_texts(judge(view, OPEN, SOUND, "finished").remarks) == [
        "Requests left up to 9 ms late: the reason is not known. p99 may be up to 9 ms too high."
    ]
    assert "p99 10 ms, up to 9 ms of it the generator's" in map(unclean_text, unclean_figures(view, OPEN))


@pytest.mark.parametrize(
    ("manifest", "states", "why"),
    [
        (CLOSED, {}, "the reason is not known"),
        (CLOSED, {"silence_ms": 4}, "the reason is not known"),
        (
            CLOSED,
            {"silence_ms": 8},
            "a worker stood still for up to 8 ms, because its process was stopped, or this computer was busy",
        ),
        (CLOSED, {"cpu": 0.7, "cpu_wait_ms": 300}, "this computer was busy with something else"),
        (CLOSED, {"cpu": 0.7, "cpu_wait_ms": 10}, "a worker reads one reply after another: use --processes 2"),
        (PYTHON, {"cpu_wait_ms": 30}, "this computer was busy with something else"),
        (PYTHON, {"cpu_wait_ms": 1}, "the reason is not known"),
        (
            PYTHON,
            {"cpu_wait_ms": 1, "silence_ms": 8},
            "a worker stood still for up to 8 ms, because the users' own code blocks",
        ),
        (
            PYTHON,
            {"cpu": 0.01, "cpu_wait_ms": 3, "silence_ms": 900},
            "a worker stood still for up to 900 ms, because the users' own code blocks",
        ),
        (PYTHON, {"cpu_wait_ms": 600, "silence_ms": 900}, "this computer was busy with something else"),
        (
            PYTHON,
            {"silence_ms": 8},
            "a worker stood still for up to 8 ms, because this computer was busy, or the users' own code blocks",
        ),
        (PYTHON, {"cpu": 0.95}, "one worker is full: use --processes 2"),
        (CLOSED, {"cpu": 0.85, "cpu_wait_ms": 300}, "one worker is full: use --processes 2"),
    ],
)
def test_the_cause_is_told_by_what_the_worker_waited_for(run, manifest, states, why):
    assert f"late: {why}. p99" in check_text(checks(run(lag=lambda second: 9.0, **states), manifest)["lag"])


LIMITED = replace(SOUND, cpu_periods=CpuPeriods(176, 71))


@pytest.mark.parametrize(
    ("manifest", "states"),
    [
        (OPEN, {"cpu_wait_ms": 300}),
        (CLOSED, {"silence_ms": 8}),
        (PYTHON, {"cpu": 0.95, "cpu_wait_ms": 300}),
        (PYTHON, {"silence_ms": 2500, "cpu_wait_ms": 900}),
    ],
)
def test_a_cpu_limit_that_stopped_the_generator_is_the_cause(run, manifest, states):
    view = run(lag=lambda second: 9.0, **states)
    remarks = check_texts(judge(view, manifest, LIMITED, "finished").remarks)
    assert remarks[0].startswith(
        "Requests left up to 9 ms late: the CPU limit of its control group (container) stopped the generator in 71 of "
        "176 periods: raise the limit. p99 may be"
    )
    assert not any("busy with something else" in remark or "--processes" in remark for remark in remarks)


@pytest.mark.parametrize("facts", [{"periods": 176, "throttled": 1}, {"periods": 0, "throttled": 0}, None])
def test_a_limit_that_hardly_ever_stopped_it_is_no_cause(run, facts):
    view = run(lag=lambda second: 9.0, cpu_wait_ms=300)
    (remark, *_) = check_texts(
        judge(view, OPEN, RunFacts.from_json({**SOUND.to_json(), "cpu_periods": facts}), "finished").remarks
    )
    assert "this computer was busy with something else" in remark


def test_an_endpoint_may_be_late_where_the_sum_of_all_is_not(run, make_interval):
    view = run(count=1000, took=100.0)
    view.add([late(make_interval, 3, 5.0, 4.0, 9, name="/rare")])
    assert "p99 of GET /rare may be up to 4 ms too high" in check_text(checks(view)["lag"])


def test_too_few_requests_prove_nothing(run):
    view = run(1, count=11, lag=lambda second: 9.0)
    check = checks(view)["lag"]
    assert (check.state, check_text(check)) == ("unknown", "too few requests to judge lag (11 of 100)")
    assert unclean_figures(view, OPEN), "the figures say it all the same"


@pytest.mark.parametrize(("delay", "state"), [(0.5, "ok"), (5.0, "remark")])
def test_lag_and_delay_cost_the_closed_model_throughput(run, delay, state):
    # 5 users, 100 requests/s: 50 ms from one request of a user to the next.
    view = run(delay=delay)
    check = checks(view)["delay"]
    assert (check.state, check.value) == (state, pytest.approx(delay / 50, rel=0.05))
    if state == "remark":
        assert check_text(check).startswith("Throughput may be up to 10 % too low: the reason is not known")
        assert any("throughput, up to 10 %" in unclean_text(figure) for figure in unclean_figures(view, CLOSED))
    assert checks(view, OPEN)["delay"].state == "ok", "in the open model it is information only"


@pytest.mark.parametrize(("gathered_ms", "part"), [(0, 0.1), (100, 0.08), (500, 0.0), (600, 0.0)])
def test_the_sleeps_of_a_worker_cost_no_throughput(run, gathered_ms, part):
    # 100 replies a second, each read 5 ms late.
    check = checks(run(delay=5.0, gathered_ms=gathered_ms))["delay"]
    assert check.value == pytest.approx(part, abs=0.005)
    assert check.state == ("remark" if part else "ok")


@pytest.mark.parametrize(
    ("manifest", "cpu", "busy", "state"),
    [
        (CLOSED, 0.81, 5, "ok"),
        (CLOSED, 0.81, 6, "remark"),
        (CLOSED, 0.80, 100, "ok"),
        (PYTHON, 0.90, 100, "ok"),
        (PYTHON, 0.91, 6, "remark"),
    ],
)
def test_a_worker_that_is_full_is_a_remark(run, manifest, cpu, busy, state):
    view = run(100, cpu=lambda second: cpu if second < busy else 0.1)
    check = checks(view, manifest)["cpu"]
    assert check.state == state
    if state == "remark":
        assert check_text(check).endswith("of their seconds, and sent and read in time all the same.")
        late = run(100, lag=lambda second: 5.0, cpu=lambda second: cpu if second < busy else 0.1)
        assert "one worker is full: use --processes 2" in check_text(checks(late, manifest)["cpu"])


@pytest.mark.parametrize(
    ("lag", "cpu", "state"),
    [
        (lambda second: 10.0 * second, {"cpu": 0.99}, "failed"),
        (lambda second: 10.0 * second, {"cpu": 0.5, "cpu_wait_ms": 480}, "ok"),
        (lambda second: 10.0 * second, {"cpu": 0.2, "cpu_wait_ms": 200}, "ok"),
        (lambda second: 90.0, {"cpu": 0.99}, "remark"),
        (lambda second: 0.1 * second, {"cpu": 0.99}, "remark"),
    ],
    ids=["falls behind", "beside others too", "late with time to spare", "late, but not more and more", "hardly late"],
)
def test_a_full_worker_that_falls_further_and_further_behind_spoils_the_run(run, lag, cpu, state):
    view = run(30, took=400.0, lag=lag, **cpu)
    check = checks(view, OPEN)["cpu"]
    assert (check.state, judge(view, OPEN, SOUND, "finished").valid) == (state, state != "failed")
    if state == "failed":
        assert "requests left later and later (45 ms to 240 ms late)" in check_text(check)


def test_lag_that_grows_with_the_users_spoils_no_run(run):
    ramp = run(30, took=400.0, lag=lambda second: 10.0 * second, cpu=0.99, users=lambda second: 10 * second + 1)
    assert checks(ramp, PYTHON)["cpu"].state == "remark"
    steady = run(30, took=400.0, lag=lambda second: 10.0 * second, cpu=0.99, users=300)
    assert checks(steady, PYTHON)["cpu"].state == "failed"


def test_a_worker_that_stood_still_is_said_with_its_seconds(run):
    view = run(silence_ms=lambda second: {3: 900, 4: 1700, 7: 400}.get(second, 0))
    check = checks(view)["silence"]
    assert (check.state, check.value) == ("remark", 1700)
    assert check_text(check).startswith(
        "A worker stood still for up to 1.7 s (seconds 3, 4): its process was stopped, or"
    )
    idle = run(users=0, silence_ms=3000)
    assert checks(idle)["silence"].state == "ok", "nobody was there to be kept waiting"


def test_a_fraction_of_a_second_tells_no_cpu(run):
    view = run(1, cpu=1.0)
    view.length = 0.4
    assert checks(view)["cpu"].state == "unknown"
