from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.spec import Limits, Load, Phase, ShapeSpec

LEVELS = st.floats(0, 1e6)
TIMES = st.floats(0.001, 1e5)
PAIRS = st.lists(st.tuples(TIMES, LEVELS), min_size=1, max_size=4).map(tuple)
SHAPES = st.one_of(
    st.builds(lambda level, seconds: ShapeSpec.of("constant", level=level, seconds=seconds), LEVELS, TIMES | st.none()),
    st.builds(lambda a, b, seconds: ShapeSpec.of("ramp", start=a, end=b, seconds=seconds), LEVELS, LEVELS, TIMES),
    st.builds(lambda steps: ShapeSpec.of("steps", steps=steps), PAIRS),
    st.builds(lambda stages, start: ShapeSpec.of("stages", stages=stages, start=start), PAIRS, LEVELS),
)
REPLAYS = st.builds(
    lambda times: ShapeSpec.of("replay", times=times), st.lists(st.floats(0, 1e4), min_size=1, max_size=9).map(tuple)
)


def phases(shapes: st.SearchStrategy[ShapeSpec], poisson: st.SearchStrategy[bool]) -> st.SearchStrategy[Any]:
    one = st.builds(
        lambda name, shape, start, poisson, warmup: Phase(name, shape, start, shape.build().seconds, poisson, warmup),
        st.text(max_size=5), shapes, st.floats(0, 1e5), poisson, st.booleans(),
    )  # fmt: skip
    return st.lists(one, min_size=1, max_size=4).map(tuple)


COUNTS = st.none() | st.integers(1, 2**53)
LOADS = st.one_of(
    st.builds(
        Load, st.just("open"), phases(SHAPES | REPLAYS, st.booleans()), COUNTS, st.sampled_from(["wait", "drop"]),
        COUNTS, COUNTS,
    ),
    st.builds(Load, st.just("closed"), phases(SHAPES, st.just(False)), iterations=COUNTS, requests=COUNTS),
)  # fmt: skip


@given(LOADS)
def test_a_load_survives_message_and_manifest(load: Load) -> None:
    assert Load.from_dict(msgpack.unpackb(msgpack.packb(load.to_dict()))) == load
    assert Load.from_dict(json.loads(json.dumps(load.to_dict()))) == load


@given(LOADS)
def test_what_came_back_builds_the_same_shapes(load: Load) -> None:
    again = Load.from_dict(json.loads(json.dumps(load.to_dict())))
    for phase, copy in zip(load.phases, again.phases, strict=True):
        assert phase.shape.build().seconds == copy.shape.build().seconds
        assert phase.shape.build().level(0.0) == copy.shape.build().level(0.0)


def test_a_load_is_kept_as_plain_values() -> None:
    phase = Phase("up", ShapeSpec.of("stages", stages=((10.0, 5.0),), start=0.0), 2.0, 10.0, poisson=True)
    assert Load("open", (phase,), max_users=7, on_saturation="drop").to_dict() == {
        "model": "open",
        "phases": [
            {
                "name": "up", "shape": {"kind": "stages", "values": {"stages": [[10.0, 5.0]], "start": 0.0}},
                "start": 2.0, "seconds": 10.0, "poisson": True, "warmup": False,
            }
        ],
        "max_users": 7, "on_saturation": "drop", "iterations": None, "requests": None,
    }  # fmt: skip


def users(level: float, start: float = 0.0, seconds: float | None = None, warmup: bool = False) -> Phase:
    return Phase("p", ShapeSpec.of("constant", level=level, seconds=seconds), start, seconds, warmup=warmup)


def test_users_are_the_rounded_sum_of_the_phases_under_way() -> None:
    ramp = Phase("r", ShapeSpec.of("ramp", start=0.0, end=10.0, seconds=10.0), 5.0, 10.0)
    load = Load("closed", (users(3, 0, 8), ramp))
    assert [load.users_at(at) for at in (0, 4.9, 5.4, 5.5, 7, 8, 14.9, 15)] == [3, 3, 3, 4, 5, 3, 10, 0]


def test_half_a_user_is_one() -> None:
    ramp = Load("closed", (Phase("r", ShapeSpec.of("ramp", start=0.0, end=10.0, seconds=10.0), 0.0, 10.0),))
    assert [ramp.users_at(at) for at in (0.25, 0.5, 1.5, 2.5)] == [0, 1, 2, 3]


def test_a_phase_that_is_cut_short_has_no_users_afterwards() -> None:
    load = Load("closed", (replace(users(3, 0, 8), seconds=5.0),))
    assert [load.users_at(4), load.users_at(5), load.seconds] == [3, 0, 5.0]


def test_length_and_warm_up_come_from_the_phases() -> None:
    load = Load("open", (users(1, 0, 3, warmup=True), users(1, 3, 4, warmup=True), users(1, 8, 2), users(1, 0, 1)))
    assert (load.warmup_seconds, load.seconds) == (7.0, 10.0)
    endless = Load("open", (users(1, 0, 3), users(1, 3)))
    assert (endless.warmup_seconds, endless.seconds) == (0.0, None)


PEAKS = [
    (ShapeSpec.of("constant", level=3.0, seconds=9.0), 3),
    (ShapeSpec.of("ramp", start=9.0, end=3.0, seconds=9.0), 9),
    (ShapeSpec.of("steps", steps=((1.0, 2.0), (1.0, 5.0), (1.0, 1.0))), 5),
    (ShapeSpec.of("stages", stages=((1.0, 2.0), (1.0, 5.0), (1.0, 1.0)), start=7.0), 7),
    (ShapeSpec.of("staircase", start=5.0, step=-1.0, each=1.0, count=3, rise=0.0), 5),
    (ShapeSpec.of("staircase", start=5.0, step=2.0, each=1.0, count=3, rise=0.0), 9),
    (ShapeSpec.of("spike", base=1.0, peak=8.0, at=1.0, hold=1.0, seconds=9.0, rise=0.0), 8),
    (ShapeSpec.of("sine", mean=5.0, amplitude=2.0, period=4.0, seconds=9.0), 7),
    (ShapeSpec.of("replay", times=(1.0,)), 1),
]


@pytest.mark.parametrize(("shape", "peak"), PEAKS, ids=[f"{shape.kind} {peak}" for shape, peak in PEAKS])
def test_a_shape_knows_its_highest_level(shape: ShapeSpec, peak: float) -> None:
    assert shape.peak == peak
    if shape.kind != "replay":
        assert max(shape.build().level(at / 100) for at in range(900)) == pytest.approx(peak)


@given(LOADS, st.lists(st.floats(0, 2e5), max_size=5))
def test_there_are_never_more_users_than_the_most(load: Load, times: list[float]) -> None:
    if load.model == "closed":
        times += [phase.start for phase in load.phases] + [phase.end or 0.0 for phase in load.phases]
        assert max(load.users_at(at) for at in times) <= load.most_users


def test_the_most_users_are_those_of_phases_that_overlap() -> None:
    assert Load("closed", (users(3, 0, 8), users(4, 8, 8), users(5, 15, 8), users(2, 16))).most_users == 9


def test_the_open_model_has_no_number_of_users() -> None:
    with pytest.raises(ValueError, match="open model"):
        Load("open", (users(1),)).users_at(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ShapeSpec.of("circle"),
        lambda: ShapeSpec.of("level"),
        lambda: users(1, -1),
        lambda: users(1, math.nan),
        lambda: users(1, math.inf),
        lambda: replace(users(1), seconds=-1.0),
        lambda: replace(users(1), seconds=math.nan),
        lambda: Load("open", ()),
        lambda: Load("half-open", (users(1),)),  # type: ignore[arg-type]
        lambda: Load("closed", (replace(users(1), poisson=True),)),
        lambda: Load("closed", (replace(users(1), shape=ShapeSpec.of("replay", times=(1.0,))),)),
        lambda: Load("open", (users(1),), max_users=0),
        lambda: Load("open", (users(1),), on_saturation="shrug"),  # type: ignore[arg-type]
        lambda: Limits(iterations=0),
        lambda: Limits(requests=-1),
    ],
)
def test_what_cannot_be_is_not_made(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


def test_values_come_without_what_reads_plans() -> None:
    code = "import sys; from plimsoll.load.spec import Load; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_peak_of_a_replay_is_its_fullest_second() -> None:
    times = (0.0, 0.5, 0.9, 1.2, 1.4, 1.89, 5.0)
    assert ShapeSpec.of("replay", times=times).peak == 4.0


def test_arrivals_are_those_of_all_phases_up_to_their_ends() -> None:
    stages = ShapeSpec.of("stages", stages=((10.0, 100.0), (10.0, 100.0)), start=0.0)
    assert Load("open", (Phase("a", stages, 0.0, 20.0),)).arrivals == pytest.approx(1500)
    assert Load("open", (Phase("a", stages, 0.0, 10.0),)).arrivals == pytest.approx(500)
    constant = ShapeSpec.of("constant", level=7.0, seconds=None)
    assert Load("open", (Phase("a", stages, 0.0, 20.0), Phase("b", constant, 5.0, 10.0))).arrivals == pytest.approx(
        1570
    )
    assert Load("open", (Phase("b", constant),)).arrivals is None
    assert Load("open", (Phase("b", constant),), iterations=9).arrivals == 9
    replay = ShapeSpec.of("replay", times=(0.0, 1.0, 2.5))
    assert Load("open", (Phase("c", replay, 0.0, 2.0),)).arrivals == 2
