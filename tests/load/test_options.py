from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.load.options import load_from_options
from plimsoll.load.spec import Load, Phase, ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.load.plan_file import PlanFile


def constant(level: float, seconds: float | None = None) -> ShapeSpec:
    return ShapeSpec.of("constant", level=float(level), seconds=seconds)


def test_without_load_options_users_start_as_locust_starts_them() -> None:
    assert load_from_options() is None
    assert load_from_options(users=10, run_time=60.0, spawn_rate=2.0, rate=None, warmup=None) is None


@pytest.mark.parametrize(
    ("options", "model", "kind", "values", "seconds"),
    [
        ({"rate": "900/s"}, "open", "constant", {"level": 900.0, "seconds": None}, None),
        ({"rate": "54000/m", "run_time": 60.0}, "open", "constant", {"level": 900.0, "seconds": 60.0}, 60),
        ({"rate": 5, "run_time": "1m30s"}, "open", "constant", {"level": 5.0, "seconds": 90.0}, 90),
        (
            {"ramp": "100/s..900/s", "run_time": "1m"}, "open", "ramp",
            {"start": 100.0, "end": 900.0, "seconds": 60.0}, 60,
        ),
        (
            {"stages": "30s:100/s,1m:900/s"}, "open", "stages",
            {"stages": ((30.0, 100.0), (60.0, 900.0)), "start": 0.0}, 90,
        ),
        ({"stages": "5,30s:50,30s:0", "run_time": 90}, "closed", "stages",
         {"stages": ((30.0, 50.0), (30.0, 0.0)), "start": 5.0}, 60),
        ({"steps": "30s:5,30s:9", "run_time": "1m"}, "closed", "steps", {"steps": ((30.0, 5.0), (30.0, 9.0))}, 60),
        (
            {"staircase": "from=100/s,step=100/s,each=30s,count=5,rise=2s"}, "open", "staircase",
            {"start": 100.0, "step": 100.0, "each": 30.0, "count": 5, "rise": 2.0}, 158,
        ),
        (
            {"spike": "base=100/s,peak=1000/s,at=30s,hold=10s,rise=1s", "run_time": 60}, "open", "spike",
            {"base": 100.0, "peak": 1000.0, "at": 30.0, "hold": 10.0, "rise": 1.0, "seconds": 60.0}, 60,
        ),
        (
            {"sine": "mean=500/s,amplitude=200/s,period=1m"}, "open", "sine",
            {"mean": 500.0, "amplitude": 200.0, "period": 60.0, "seconds": None}, None,
        ),
    ],
)  # fmt: skip
def test_every_shape_has_its_option(
    options: dict[str, Any], model: str, kind: str, values: dict[str, Any], seconds: float | None
) -> None:
    load = load_from_options(**options)
    assert load is not None
    assert load.model == model
    (phase,) = load.phases
    assert phase == Phase(next(iter(options)), ShapeSpec.of(kind, **values), 0.0, seconds)


def test_a_replay_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "times").write_text("5\n7\n")
    load = load_from_options(replay=str(tmp_path / "times"))
    assert load is not None
    assert load.phases[0].shape == ShapeSpec.of("replay", times=(0.0, 2.0))


def test_limits_and_spacing_go_with_a_shape() -> None:
    load = load_from_options(
        rate="5/s", spacing="poisson", max_users="70", on_saturation="drop", iterations="1000", requests=2000
    )
    assert load == Load("open", (Phase("rate", constant(5), poisson=True),), 70, "drop", 1000, 2000)


def test_a_warm_up_keeps_the_first_level_and_comes_before_the_run_time() -> None:
    load = load_from_options(ramp="100/s..900/s", run_time=60.0, warmup="10s", spacing="poisson")
    ramp = ShapeSpec.of("ramp", start=100.0, end=900.0, seconds=60.0)
    assert load == Load(
        "open",
        (
            Phase("warm-up", constant(100, 10.0), 0.0, 10.0, poisson=True, warmup=True),
            Phase("ramp", ramp, 10.0, 60.0, poisson=True),
        ),
    )


def test_users_can_have_a_warm_up_and_an_end_after_so_many_iterations() -> None:
    load = load_from_options(users=50, warmup="10s", run_time=60.0, iterations=7)
    assert load is not None
    assert (load.model, load.iterations, load.warmup_seconds, load.seconds) == ("closed", 7, 10.0, 70.0)
    assert [load.users_at(at) for at in (0, 9.9, 10, 69.9, 70)] == [50, 50, 50, 50, 0]
    endless = load_from_options(users=50, requests=5)
    assert endless == Load("closed", (Phase("users", constant(50)),), requests=5)


RISES = (st.integers(1, 500), st.floats(0.5, 500), st.none() | st.integers(1, 60), st.none() | st.integers(1, 60))


@given(*RISES)
def test_users_rise_at_the_spawn_rate_through_the_warm_up(
    users: int, rate: float, warmup: int | None, run_time: int | None
) -> None:
    load = load_from_options(users=users, spawn_rate=rate, warmup=warmup, run_time=run_time, iterations=1)
    assert load is not None
    assert load.warmup_seconds == (warmup or 0)
    end = None if run_time is None else (warmup or 0) + run_time
    assert load.seconds == end or (end is not None and load.seconds == pytest.approx(end))
    for at in (0.0, 0.3, 1.7, 4.9, 20.1, 59.3, 700.0, 1100.0):
        if end is not None and at >= end:
            assert load.users_at(at) == 0
        else:
            assert abs(load.users_at(at) - min(users, math.floor(at * rate + 0.5))) <= 1


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rate": "fast"}, '^--rate: "fast" is not understood; valid are 900/s, 54000/m or 3600/h'),
    ({"rate": "0/s"}, "^--rate: is zero"),
    ({"rate": "-1/s"}, "^--rate: .* is below 0"),
    ({"rate": "1e10/s"}, "^--rate: .* at most 1000000000/s"),
    ({"rate": "1e9/s", "run_time": "87600h"}, "^--rate: "),
    ({"ramp": "1/s..9/s"}, "^--run-time is missing: --ramp needs one, as in -t 1m"),
    ({"ramp": "9/s", "run_time": 5}, '^--ramp: "9/s" is not understood; valid is 100/s..900/s'),
    ({"ramp": "1..9/s", "run_time": 5}, "^--ramp: mixes rates"),
    ({"spike": "base=1,peak=2,at=1s,hold=1s"}, "^--run-time is missing: --spike needs one"),
    ({"spike": "base=1,peak=2,at=1s,hold=9s", "run_time": 5}, "^--spike: seconds must be at least"),
    ({"staircase": "from=1,step=1,each=1s"}, "^--staircase: count: is missing"),
    ({"staircase": "from=1,step=1,each=x,count=1"}, '^--staircase: each: "x" is not a duration'),
    ({"staircase": "from=1,step=1,each=1s,count=one"}, '^--staircase: count: must be a whole number, not "one"'),
    ({"staircase": "from=1,stpe=1,each=1s,count=1,step=1"}, "^--staircase: stpe: .* did you mean step?"),
    ({"sine": "mean=1/s,amplitude=2/s,period=1s"}, "^--sine: amplitude must be"),
    ({"stages": "30s:100/s,900/s"}, "^--stages: 900 needs a time in front"),
    ({"steps": "30s:1/s,1m:x"}, r'^--steps\[1\]: "x" is not understood|^--steps: '),
    ({"replay": "/none"}, "^--replay: cannot read /none: No such file"),
    ({"rate": 5, "ramp": "1/s..2/s"}, "^--ramp contradicts --rate; give one of them"),
    ({"rate": 5, "users": 5}, "^--users contradicts --rate, .*; --max-users limits them"),
    ({"rate": 5, "spawn_rate": 5}, "^--spawn-rate contradicts --rate"),
    ({"stages": "30s:5", "users": 5}, "^--users contradicts --stages"),
    ({"stages": "30s:5", "run_time": 20}, "^the run ends after 20s, but --stages lasts 30s; leave --run-time out"),
    ({"stages": "30s:5", "max_users": 5}, "^--max-users is of the open model; --stages is a number of users"),
    ({"stages": "30s:5", "spacing": "poisson"}, "^--spacing is of the open model|^--spacing: is of the open model"),
    ({"stages": "30s:5/s", "warmup": 5}, "^--warmup keeps the first level of a shape, and --stages begins at 0"),
    ({"rate": 5, "spacing": "even"}, '^--spacing: must be "uniform" or "poisson", not "even"'),
    ({"rate": 5, "warmup": 0}, "^--warmup: must be longer than 0"),
    ({"rate": 5, "warmup": "soon"}, '^--warmup: "soon" is not a duration'),
    ({"rate": 5, "run_time": 0.0}, "^--run-time: must be longer than 0"),
    ({"rate": 5, "max_users": 0}, "^--max-users must be a whole number above 0, not 0"),
    ({"rate": 5, "iterations": "1.5"}, "^--iterations must be a whole number above 0, not 1.5"),
    ({"users": 5, "requests": "-1"}, "^--requests must be a whole number above 0"),
    ({"rate": 5, "on_saturation": "burn"}, "^--on-saturation must be wait or drop, not burn"),
    ({"users": 5, "max_users": 5}, "^--max-users is of the open model; it needs --rate, --ramp, "),
    ({"on_saturation": "drop"}, "^--on-saturation is of the open model; it needs "),
    ({"spacing": "poisson"}, "^--spacing is of the open model; it needs "),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(options) for options, _ in WRONG])
def test_a_mistake_is_told_by_its_option(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_from_options(**options)


def test_a_replay_cannot_be_warmed_up(tmp_path: Path) -> None:
    (tmp_path / "times").write_text("5\n7\n")
    with pytest.raises(UsageError, match="--replay has recorded times"):
        load_from_options(replay=str(tmp_path / "times"), warmup=5)


def test_an_option_that_is_none_is_a_fault_of_the_caller() -> None:
    with pytest.raises(TypeError, match=r"warm_up .*warmup"):
        load_from_options(warm_up=5)


PLAN = """\
max_users = 70
on_saturation = "drop"
[stop]
iterations = 9
[[phase]]
rate = 5
duration = "10s"
warmup = true
[[phase]]
name = "steady"
rate = 50
duration = "60s"
[[phase]]
rate = 500
"""


def test_a_plan_alone_is_its_own_load(plan: Callable[..., PlanFile]) -> None:
    found = plan(PLAN)
    assert load_from_options(plan=found) == found.load
    assert load_from_options(plan=plan('[request]\nget = "http://h"\n'), users=3) is None


def test_a_shape_replaces_the_phases_of_a_plan_and_keeps_its_limits(plan: Callable[..., PlanFile]) -> None:
    load = load_from_options(plan=plan(PLAN), rate="7/s", run_time=30.0, max_users=80)
    assert load == Load("open", (Phase("rate", constant(7, 30.0), 0.0, 30.0),), 80, "drop", 9)


def test_users_replace_the_phases_of_a_plan(plan: Callable[..., PlanFile]) -> None:
    load = load_from_options(plan=plan(PLAN), users=7, run_time=30.0)
    assert load == Load("closed", (Phase("users", constant(7, 30.0), 0.0, 30.0),), iterations=9)
    assert load_from_options(plan=plan("[phase]\nrate = 5\n"), users=7) == Load(
        "closed", (Phase("users", constant(7)),)
    )


def test_limits_of_the_command_line_are_stronger_than_a_plan_s(plan: Callable[..., PlanFile]) -> None:
    found = plan(PLAN)
    load = load_from_options(plan=found, iterations=3, on_saturation="wait")
    assert found.load is not None and load is not None
    assert (load.phases, load.max_users, load.on_saturation, load.iterations) == (found.load.phases, 70, "wait", 3)


def test_a_run_time_cuts_the_phases_of_a_plan_short(plan: Callable[..., PlanFile]) -> None:
    load = load_from_options(plan=plan(PLAN), run_time=30.0)
    assert load is not None
    assert [(phase.name, phase.start, phase.seconds) for phase in load.phases] == [
        ("warm-up", 0, 10),
        ("steady", 10, 20),
    ]
    load = load_from_options(plan=plan(PLAN), run_time=100.0)
    assert load is not None
    assert load.phases[2] == Phase("rate 2", constant(500, 30.0), 70.0, 30.0)


def test_the_run_time_of_a_plan_holds_for_other_shapes_too(plan: Callable[..., PlanFile]) -> None:
    found = plan('[request]\nget = "http://h"\n[stop]\ntime = "20s"\n')
    load = load_from_options(plan=found, rate=5)
    assert load is not None and load.seconds == 20.0
    load = load_from_options(plan=found, users=5, warmup=5)
    assert load is not None and load.seconds == 25.0
    load = load_from_options(plan=found, users=5, warmup=5, run_time=2)
    assert load is not None and load.seconds == 7.0


def test_a_shape_that_is_longer_than_the_plan_is_refused(plan: Callable[..., PlanFile]) -> None:
    found = plan('[request]\nget = "http://h"\n[stop]\ntime = "20s"\n')
    with pytest.raises(UsageError, match=r"ends after 20s, but --steps lasts 30s; the plan says so in stop\.time"):
        load_from_options(plan=found, steps="30s:5/s")


def test_the_end_that_a_plan_sets_is_kept_with_users(plan: Callable[..., PlanFile]) -> None:
    found = plan('[request]\nget = "http://h"\n[stop]\nrequests = 20\n')
    assert load_from_options(plan=found, users=5) == Load("closed", (Phase("users", constant(5)),), requests=20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"run_time": 10.0}, "--run-time ends after 10s, when the plan's warm-up is not over"),
        ({"warmup": 10.0}, "--warmup has no meaning for the phases of a plan; say it there"),
        ({"spacing": "poisson"}, "--spacing has no meaning for the phases of a plan"),
        ({"spawn_rate": 1.0}, "--spawn-rate has no meaning for the phases of a plan"),
    ],
)
def test_what_does_not_go_with_a_plan_is_refused(
    plan: Callable[..., PlanFile], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_from_options(plan=plan(PLAN), **options)


def test_a_plan_of_users_has_no_saturation(plan: Callable[..., PlanFile]) -> None:
    with pytest.raises(
        UsageError, match="--max-users is of the open model; the phases of this plan are numbers of users"
    ):
        load_from_options(plan=plan("[phase]\nusers = 5\n"), max_users=3)
