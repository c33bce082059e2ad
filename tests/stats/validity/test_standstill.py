"""Users that did nothing for seconds, and arrivals that left seconds late, are load that the target did not have."""

from __future__ import annotations

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.say.validity import check_text
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView

SOUND = RunFacts(lost_workers=0, clock_step_ms=0.0, coordinator_silence_s=0.1)
CLOSED = Manifest(model="closed", users_kind="native")
PYTHON = Manifest(model="closed", users_kind="python")
OPEN = Manifest(model="open", users_kind="native")


@pytest.fixture
def run(make_interval):
    """A view of so many seconds. Each worker reports what is given: a value, or a function of the second."""

    def make(seconds=10, **workers):
        view = RunView()
        for second in range(seconds):
            for worker, states in workers.items():
                row = Health(second, int(worker[1:]), Histogram(), Histogram())
                given = {name: value(second) if callable(value) else value for name, value in states.items()}
                for ms, count in given.pop("lags", [(0.1, 100)]):
                    row.lag.record(round(ms * 1000), count)
                for name, value in given.items():
                    setattr(row, name, value)
                view.add([make_interval([8.0] * 100, second=second)], [row])
        view.length = float(seconds)
        return view

    return make


def check(view, manifest, name):
    return next(each for each in judge(view, manifest, SOUND, "finished").checks if each.name == name)


def at(seconds, value):
    return lambda second: value if second in seconds else 0


def test_users_of_a_stopped_worker_are_missing_load(run):
    found = check(run(8, w0={"users": 20, "silence_ms": at(range(2, 7), 4943)}), PYTHON, "silence")
    assert (found.state, found.value) == ("failed", pytest.approx(98.86 / 160))
    assert check_text(found) == (
        "a worker stood still for up to 4.94 s (seconds 2 to 6), and its 20 users did nothing meanwhile: 99 of 160 "
        "seconds of users' time are missing (61.7 %); its process was stopped, this computer was busy, or the users' "
        "own code blocks, for example to read a file"
    )


def test_only_the_users_of_that_worker_are_missing(run):
    view = run(8, w0={"users": 20, "silence_ms": at(range(2, 7), 4900)}, w1={"users": 60})
    found = check(view, CLOSED, "silence")
    assert (found.state, found.value) == ("failed", pytest.approx(98 / 640))


@pytest.mark.parametrize(
    ("seconds", "silent", "state"),
    [(8, 1900, "remark"), (8, 2100, "failed"), (400, 2100, "remark"), (8, 400, "ok")],
    ids=["not for seconds", "for seconds", "less than a hundredth", "hardly"],
)
def test_a_short_silence_or_one_of_a_long_run_is_a_remark(run, seconds, silent, state):
    view = run(seconds, w0={"users": 20, "silence_ms": at({3}, silent)})
    assert check(view, CLOSED, "silence").state == state


def test_several_silences_add_up(run):
    view = run(400, w0={"users": 20, "silence_ms": at({30, 90}, 2100)})
    found = check(view, CLOSED, "silence")
    assert found.state == "failed"
    assert "(seconds 30, 90)" in check_text(found)


def test_the_code_of_a_single_user_in_python_may_take_its_time(run):
    view = run(8, w0={"users": 1, "silence_ms": at(range(2, 7), 4900)})
    assert check(view, PYTHON, "silence").state == "remark"
    assert check(view, CLOSED, "silence").state == "failed", "a native user has no code of its own"


@pytest.mark.parametrize(
    ("states", "native", "python"),
    [
        ({"cpu_wait_ms": 900}, "this computer was busy with something else", "this computer was busy with"),
        ({"cpu": 0.9}, "the worker was busy with itself", "the users' own code blocks"),
        (
            {},
            "its process was stopped, or this computer was busy",
            "its process was stopped, this computer was busy, or",
        ),
    ],
    ids=["starved", "burning CPU", "neither"],
)
def test_the_cause_is_told_by_what_the_worker_did_meanwhile(run, states, native, python):
    view = run(8, w0={"users": 20, "silence_ms": at(range(2, 7), 4900), **states})
    assert native in check_text(check(view, CLOSED, "silence"))
    assert python in check_text(check(view, PYTHON, "silence"))


def test_a_worker_that_reads_a_slow_file_is_not_one_of_a_busy_computer(run):
    view = run(8, w0={"users": 20, "silence_ms": at(range(2, 7), 4900), "cpu_wait_ms": 20, "cpu": 0.02})
    said = "its process was stopped, or the users' own code blocks, for example to read a file"
    assert check_text(check(view, PYTHON, "silence")).endswith(said)


def test_arrivals_that_left_seconds_late_are_missing_load(run):
    late = [(100.0, 300), (4900.0, 640)]
    view = run(
        8, w0={"users": 20, "offered": 200, "lags": lambda second: late if second == 7 else [(0.1, 100)],
               "silence_ms": at(range(2, 7), 4900)},
    )  # fmt: skip
    found = check(view, OPEN, "lag")
    assert found.state == "failed"
    assert check_text(found) == (
        "640 of 1600 arrivals left more than 2 s after they were due, up to 4.9 s, from second 3 to second 7: its "
        "process was stopped, or this computer was busy"
    )
    assert check(view, OPEN, "silence").state == "remark", "the arrivals of the open model came later"
    assert check(view, CLOSED, "lag").state != "failed"


@pytest.mark.parametrize(("late", "state"), [(16, "ok"), (17, "failed")])
def test_a_hundredth_of_the_arrivals_may_be_late(run, late, state):
    lags = lambda second: [(0.1, 200 - late), (2100.0, late)] if second == 4 else [(0.1, 200)]  # noqa: E731
    found = check(run(8, w0={"users": 20, "offered": 200, "lags": lags}), OPEN, "lag")
    assert (found.state == "failed") == (state == "failed")


def test_a_worker_that_waits_for_a_cpu_is_not_full(run):
    """All was sent, at a twentieth of a CPU; the computer was busy with something else."""
    lags = lambda second: [(10.0 * second, 100)]  # noqa: E731
    view = run(10, w0={"users": 20, "offered": 100, "lags": lags, "cpu": 0.05, "cpu_wait_ms": 930})
    assert judge(view, OPEN, SOUND, "finished").valid
    assert check(view, OPEN, "cpu").state == "ok"
