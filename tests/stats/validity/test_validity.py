from __future__ import annotations

import random
from dataclasses import replace

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.record.events import WorkerLost, WorkerSeconds
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.say.validity import check_text, check_texts
from plimsoll.stats.validity import Validity, ValidityCheck, judge
from plimsoll.stats.validity.load import (
    ClockCheck,
    CoordinatorCheck,
    DroppedCheck,
    EndedCheck,
    OfferedCheck,
    WorkersCheck,
)
from plimsoll.stats.view import RunView

OPEN = Manifest(model="open", users_kind="native")
CLOSED = Manifest(model="closed", users_kind="native")
PYTHON = Manifest(model="closed", users_kind="python")
SOUND = RunFacts(lost_workers=0, clock_step_ms=0.0, coordinator_silence_s=0.1)
NAMES = [
    "ended", "offered", "dropped", "lag", "delay", "cpu", "silence", "workers", "coordinator", "clock", "exhausted",
    "percentiles", "little", "stored",
]  # fmt: skip


def health(second=0, worker=0, *, lag_us=100, delay_us=100, count=100, **state):
    row = Health(second, worker, Histogram(), Histogram(), **state)
    row.lag.record(lag_us, count)
    row.delay.record(delay_us, count)
    return row


@pytest.fixture
def run(make_interval):
    """A view of so many seconds. Each has 100 exchanges of `ms`, and the health that is given."""

    def make(seconds=10, ms=8.1, states=lambda second: {}, warmup=0.0):
        view = RunView(warmup)
        for second in range(seconds):
            view.add([make_interval([ms] * 100, second=second)], [health(second, **states(second))])
        view.length = float(seconds)
        return view

    return make


def checks(view, manifest=CLOSED, facts=SOUND) -> dict[str, ValidityCheck]:
    return {check.name: check for check in judge(view, manifest, facts, "finished").checks}


def test_a_sound_run_is_valid_and_the_checks_have_their_order(run):
    for manifest in (CLOSED, PYTHON, OPEN):
        validity = judge(run(states=lambda second: {"offered": 100}), manifest, SOUND, "finished")
        assert (validity.valid, check_texts(validity.failed)) == (True, [])
        assert [check.name for check in validity.checks] == NAMES
        assert all("\n" not in check_text(check) for check in validity.checks)


def test_an_empty_run_is_not_blamed(run):
    for manifest, facts in ((OPEN, SOUND), (CLOSED, RunFacts()), (Manifest(), RunFacts())):
        validity = judge(RunView(), manifest, facts, "finished")
        assert validity.valid
        assert {check.state for check in validity.checks} <= {"unknown", "n/a", "ok"}
    states = {check.name: check.state for check in judge(RunView(), Manifest(), RunFacts(), "finished").checks}
    assert states == {
        "offered": "n/a", "dropped": "n/a", "lag": "n/a", "delay": "n/a", "cpu": "unknown", "workers": "unknown",
        "clock": "unknown", "exhausted": "unknown", "percentiles": "n/a", "little": "n/a", "silence": "unknown",
        "coordinator": "unknown", "stored": "n/a", "ended": "ok",
    }  # fmt: skip


def test_only_what_failed_is_a_reason():
    validity = Validity((
        DroppedCheck("failed", 1), ClockCheck("unknown"), EndedCheck("failed", status="failed"), OfferedCheck("n/a"),
        WorkersCheck("ok", 0), CoordinatorCheck("remark", 3.0),
    ))  # fmt: skip
    assert not validity.valid
    assert [check.name for check in validity.failed] == ["dropped", "ended"]
    assert [check.name for check in validity.remarks] == ["coordinator"]
    assert Validity(validity.checks[-1:]).valid


@pytest.mark.parametrize(
    ("waiting", "state", "achieved"), [(0, "ok", 1.0), (20, "ok", 0.99), (21, "failed", 0.9895), (3000, "failed", 0.0)]
)
def test_arrivals_that_wait_when_the_last_was_offered_were_not_begun_in_time(run, waiting, state, achieved):
    # The queue is worked off after the schedule has ended, in seconds 10 to 14.
    view = run(15, states=lambda at: {"offered": 200, "waiting": waiting} if at < 10 else {})
    check = checks(view, OPEN)["offered"]
    assert (check.state, check.limit) == (state, 0.99)
    assert check.value == pytest.approx(achieved)


def test_rates_are_those_of_the_seconds_in_which_load_was_offered(run):
    view = run(
        12,
        states=lambda at: {"offered": 500, "dropped": 100} if 2 <= at < 10 else {"offered": 900 * (at < 2)},
        warmup=2,
    )
    check = checks(view, OPEN)["offered"]
    assert check.value == pytest.approx(0.8)
    assert check_text(check).startswith("only 400/s of 500/s offered were begun in time (80 %, less than 99 %)")
    assert "--max-users" in check_text(check)


def test_what_was_cut_off_waiting_is_not_counted_twice(run):
    # Of 50 that waited at the end, 30 were dropped when the run was cut.
    view = run(10, states=lambda at: {"offered": 100, "waiting": 50, "dropped": 30 * (at == 9)})
    assert checks(view, OPEN)["offered"].value == pytest.approx(0.95)


def test_a_dropped_arrival_makes_a_run_invalid(run, make_interval):
    view = run(states=lambda at: {"offered": 1000, "dropped": int(at == 3)})
    check = checks(view, OPEN)["dropped"]
    assert (check.state, check.value, check.limit) == ("failed", 1, 0)
    assert check_text(check).startswith("1 arrival dropped: due, but never sent")
    assert checks(run(states=lambda at: {"offered": 9}), OPEN)["dropped"].state == "ok"
    # Also when only the exchanges tell.
    recorded = run()
    recorded.add([make_interval(outcome="dropped", untimed=2)])
    assert check_text(checks(recorded)["dropped"]).startswith("2 arrivals dropped")


def test_an_open_run_without_arrivals_is_unknown(run):
    assert checks(run(), OPEN)["offered"].state == "unknown"


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "from then on"),
        ({"replaced": [{"to_second": 19}]}, "until another one took its place with second 19"),
        (
            {"replaced": [{"to_second": 19}], "load_taken_over": True},
            "until the others took it over; another one took its place with second 19",
        ),
        ({"incomplete": [{"from_second": 4}]}, "from then on; what was measured is incomplete from second 4 on"),
        (
            {"incomplete": [{"from_second": 4, "to_second": 7}, {"from_second": 3, "to_second": 5}]},
            "from then on; what was measured is incomplete from second 3 to 6",
        ),
    ],
)
def test_a_lost_worker_is_missing_until_another_one_has_its_load(run, facts, text):
    check = checks(run(), facts=RunFacts.from_json({**SOUND.to_json(), "lost_workers": 1, **facts}))["workers"]
    assert check_text(check) == f"1 worker lost: a part of the load was missing {text}"


def test_the_death_of_a_worker_is_said_with_who_it_was_and_what_became_of_its_load(run):
    lost = WorkerLost(worker=1, place="pid 5", how="was killed by SIGKILL", users=3, kept_to=4, load="taken over")
    missing = (WorkerSeconds(worker=1, from_second=5, to_second=7),)
    check = checks(run(), facts=replace(SOUND, lost_workers=1, lost=(lost,), incomplete=missing))["workers"]
    assert check_text(check) == (
        "worker 1 (pid 5) was killed by SIGKILL: its 3 users are lost, kept is what it measured up to second 4; "
        "the others take its load over; what was measured is incomplete from second 5 to 6"
    )


@pytest.mark.parametrize(
    ("name", "fact", "value", "state", "text"),
    [
        ("workers", "lost_workers", 1, "failed", "1 worker lost: a part of the load was missing from then on"),
        ("workers", "lost_workers", 0, "ok", "no worker was lost"),
        ("workers", "lost_workers", None, "unknown", "it is not known whether a worker was lost"),
        ("clock", "clock_step_ms", 1.0, "ok", "the clock was not set"),
        ("clock", "clock_step_ms", -250.0, "failed", "the clock was set by 250 ms: "),
        ("clock", "clock_step_ms", None, "unknown", "it is not known whether the clock was set"),
    ],
)
def test_facts(run, name, fact, value, state, text):
    check = checks(run(), facts=replace(SOUND, **{fact: value}))[name]
    assert check.state == state
    assert check_text(check).startswith(text)
    assert judge(run(), CLOSED, replace(SOUND, **{fact: value}), "finished").valid == (state != "failed")


def test_running_out_of_files_or_ports(run):
    check = checks(run(states=lambda at: {"exhausted": int(at < 2)}))["exhausted"]
    assert (check.state, check.value) == ("failed", 2)
    assert check_text(check).startswith("2 exchanges failed because files, ports or memory of the generator ran out")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"response_max": 5_000_000}, "p99.9 8.1 ms is above max 5 ms"),
        ({"response_min": 9_000_000}, "min 9 ms is above p50 8.1 ms"),
        ({"untimed": 1}, "100 times of 99 exchanges"),
    ],
)
def test_a_damaged_record_contradicts_itself(run, make_interval, damage, said):
    view = run()
    broken = make_interval([8.1] * 100, name="/broken")
    for name, value in damage.items():
        setattr(broken, name, value)
    view.add([broken])
    check = checks(view)["percentiles"]
    assert check.state == "failed"
    assert check_text(check).startswith(f"times contradict each other (GET /broken: {said}")


def test_times_of_every_size_are_in_order(make_interval):
    rng, view = random.Random(7), RunView()
    for name in range(50):
        times = [rng.lognormvariate(0, 4) + 0.001 for _ in range(rng.randint(1, 30))]
        view.add([make_interval(times, name=str(name)), make_interval([4_000_000.0], name="hours", outcome="timeout")])
    assert checks(view)["percentiles"].state == "ok"


def busy(make_interval, in_flight, seconds=60, ms=100.0, per_second=500, custom=0, silence_ms=0):
    """Seconds with `per_second` exchanges of `ms`, and what was counted in flight at the end of each."""
    view = RunView()
    for second in range(seconds):
        rows = [make_interval([ms] * (per_second + custom), second=second)]
        view.add(
            rows, [health(second, count=per_second, delay_us=1, in_flight=in_flight(second), silence_ms=silence_ms)]
        )
    view.length = float(seconds)
    return view


@pytest.mark.parametrize(
    ("in_flight", "state"),
    [
        (lambda second: 50, "ok"),
        (lambda second: 45 + second % 11, "ok"),
        (lambda second: 54, "ok"),
        (lambda second: 62, "failed"),
        (lambda second: 40, "remark"),
    ],
    ids=["exact", "noisy", "within", "missing", "too few"],
)
def test_littles_law(make_interval, in_flight, state):
    check = checks(busy(make_interval, in_flight))["little"]
    assert check.state == state, check_text(check)
    assert check_text(check).startswith("Little's law: the times add up to 50 in flight, ")


def test_littles_law_counts_what_lay_unread(make_interval):
    view = busy(make_interval, lambda second: 100)
    assert checks(view)["little"].state == "failed"
    for second in range(60):
        unread = Health(second, 0, Histogram(), Histogram())
        unread.delay.record(100_000, 500)
        view.add([], [unread])
    assert checks(view)["little"].state == "ok"


def test_littles_law_knows_its_edges(make_interval):
    # 50 users, each with an exchange of 6 s: those under way at the end of 20 s are in flight but never timed.
    def view(seconds):
        found = busy(make_interval, lambda second: 50, seconds=seconds, ms=6000.0, per_second=50 * 3 // seconds)
        return checks(found)["little"]

    assert view(10).state == "n/a"
    assert "exchanges took up to 6 s, the run only 10 s" in check_text(view(10))
    cut = busy(make_interval, lambda second: 50, seconds=20, ms=6000.0, per_second=6)
    assert checks(cut)["little"].state == "ok"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seconds": 9}, "9 samples of what was in flight, at least 10 are needed"),
        ({"in_flight": lambda second: 9}, "9 in flight on average, at least 10 are needed"),
        ({"in_flight": lambda second: 250 * (second % 5 == 4)}, "what was in flight changes too much between samples"),
        ({"silence_ms": 30}, "a worker often stood still, and counted late"),
        ({"custom": 100}, "a client of the user's own timed exchanges that the engine did not count"),
    ],
)
def test_where_littles_law_does_not_apply(make_interval, change, reason):
    check = checks(busy(make_interval, **{"in_flight": lambda second: 50, **change}))["little"]
    assert (check.state, check.value, check_text(check)) == ("n/a", None, f"Little's law is not applied: {reason}")


def test_the_last_part_of_a_second_is_no_sample(make_interval):
    view = busy(make_interval, lambda second: 10 if second < 10 else 0, seconds=11, ms=20.0)
    view.length = 10.3
    assert checks(view)["little"].state == "ok"


def test_a_record_with_less_than_was_recorded_is_not_valid(run):
    view = run(warmup=3.0)
    whole = {"exchanges": 1000, "reports": 10}
    assert checks(view, facts=RunFacts.from_json({**SOUND.to_json(), "recorded": whole}))["stored"].state == "ok", (
        "the warm-up is stored too"
    )
    for less in ({"exchanges": 1001}, {"reports": 11}, {"exchanges": 999}):
        found = judge(view, CLOSED, RunFacts.from_json({**SOUND.to_json(), "recorded": {**whole, **less}}), "finished")
        assert not found.valid
        assert "the store has 1000 and 10: a part of the record was lost or changed" in check_texts(found.failed)[0]


def test_a_run_that_says_what_it_lost_or_has_no_end_is_not_valid(run):
    lost = judge(run(), CLOSED, replace(SOUND, not_stored="seconds 3 to 4 (200 requests) were not stored"), "finished")
    assert check_texts(lost.failed) == ["seconds 3 to 4 (200 requests) were not stored"]
    assert check_texts(judge(run(), CLOSED, RunFacts(), "interrupted").failed) == [
        "the run was cut off before its end: seconds may be missing"
    ]


def test_a_run_that_failed_is_not_valid_and_one_that_goes_on_is_not_judged(run):
    assert check_texts(judge(run(), CLOSED, SOUND, "failed").failed) == ["the run failed before its end"]
    odd = judge(run(), CLOSED, SOUND, "paused")
    assert check_texts(odd.failed) == ["it is not known how the run ended: its status is 'paused'"]
    stopped, running = (judge(run(), CLOSED, SOUND, status) for status in ("stopped", "running"))
    assert (stopped.valid, stopped.unfit) == (True, ())
    assert check_texts(stopped.remarks) == ["The run was stopped before its end."]
    assert (running.valid, check_texts(running.unfit)) == (True, ["the run has not ended"])


def test_a_coordinator_that_stood_still_is_visible_and_load_that_it_cut_is_not_valid(run):
    assert checks(run())["coordinator"].state == "ok"
    stood = judge(run(), CLOSED, replace(SOUND, coordinator_silence_s=2.04), "finished")
    assert stood.valid
    assert check_text(stood.named("coordinator")) == (
        "the process that coordinates the run stood still for 2.0 s; the workers went on with their load"
    )
    cut = judge(run(), CLOSED, replace(SOUND, coordinator_silence_s=9.0, load_cut_s=4.2), "finished")
    assert check_texts(cut.failed) == [
        "the load ended early, after 4.2 s: the process that coordinates the run stood still"
    ]


def test_a_run_that_was_continued_is_not_valid_and_names_what_is_missing(run):
    once = {"from_second": 4, "to_second": 9, "incomplete": []}
    assert check_texts(
        judge(run(), CLOSED, RunFacts.from_json({**SOUND.to_json(), "resumed": [once]}), "finished").failed
    ) == [
        "the process that coordinates the run was lost, and another one continued it: no full load from second 4 to 9"
    ]
    again = {"from_second": 12, "to_second": 20, "incomplete": [{"worker": 1, "from_second": 11}]}
    assert check_texts(
        judge(run(), CLOSED, RunFacts.from_json({**SOUND.to_json(), "resumed": [once, again]}), "finished").failed
    ) == [
        "the process that coordinates the run was lost, and another one continued it: no full load from second 4 to 9, "
        "no full load from second 12 to 20; what 1 worker measured from second 11 until then is incomplete"
    ]
