"""The load that the start form draws before a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.cli.run import run
from plimsoll.run.options.command import words_of
from plimsoll.run.planning import make_plan
from plimsoll.server.control.load_curve import POINTS, curve_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.run.page_session import PageSession

    from plimsoll.run.plan import RunPlan

URL = "http://127.0.0.1:1/"


def plan_of(*arguments: str) -> RunPlan:
    words = words_of(run.make_context("run", [URL, *arguments]))
    return make_plan(words.arguments, words.given)[0]


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "unit", "seconds", "is_endless", "first", "middle", "last"),
    [
        (("-u", "20", "-r", "2", "-t", "40s"), "users", 40, False, 0, 20, 20),
        (("-u", "20", "-r", "2"), "users", 15, True, 0, 15, 20),
        (("-u", "1", "-r", "1"), "users", 10, True, 0, 1, 1),
        (("--rate", "900/s", "-t", "1m"), "/s", 60, False, 900, 900, 900),
        (("--rate", "900/s"), "/s", 10, True, 900, 900, 900),
        (("--ramp", "0/s..600/s", "-t", "10s"), "/s", 10, False, 0, 300, 600),
        (("--steps", "6s:100/s,4s:300/s"), "/s", 10, False, 100, 100, 300),
    ],
)
def test_the_curve_is_the_load_of_the_command_line(
    arguments: tuple[str, ...], unit: str, seconds: float, is_endless: bool, first: float, middle: float, last: float
) -> None:
    curve = curve_of(plan_of(*arguments), is_shaped=False)
    assert (curve.unit, curve.seconds, curve.is_endless) == (unit, seconds, is_endless)
    assert len(curve.levels) == POINTS + 1
    assert (curve.levels[0], curve.levels[POINTS // 2], curve.levels[-1]) == pytest.approx((first, middle, last), abs=1)


def test_the_page_gets_the_curve_of_a_form_without_a_host_and_none_of_one_that_cannot_be_read(
    start_page: Callable[..., PageSession],
) -> None:
    page = start_page("-u", "4", "-r", "4", "-t", "9s")
    curve = page.answer("/api/live/curve", page.request(host=""))
    assert (curve["unit"], curve["seconds"], max(curve["levels"])) == ("users", 9.0, 4.0)
    assert page.answer("/api/live/curve", page.request(run_time="9 parsecs"))["levels"] == []


def test_a_shape_of_the_locustfile_has_no_curve() -> None:
    assert curve_of(plan_of("-t", "20s"), is_shaped=True).levels == ()
