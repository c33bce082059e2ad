from __future__ import annotations

import numpy as np
import pytest
from tests.stats.headline.runs import OPEN, SOUND, view_of

from plimsoll.record.manifest import Manifest
from plimsoll.say.headline.target import target_judgement
from plimsoll.stats.capacity.backlog import growth, growth_in
from plimsoll.stats.headline.target import target
from plimsoll.stats.validity import judge

SECONDS = np.arange(6)


@pytest.mark.parametrize(
    ("backlog", "replies", "rate", "grows"),
    [
        (90 * SECONDS + 90, [170] * 6, 260.0, 90.0),
        (90 * SECONDS + 90, [0, 20, 60, 140, 180, 200], 260.0, None),  # a slow target answers more and more
        (90 * SECONDS + 90, [0] * 6, 260.0, None),  # it has not answered yet
        (5 * SECONDS + 90, [255] * 6, 260.0, None),  # too little for so few seconds
        ([90, 180, 170, 300, 400, 500], [170] * 6, 260.0, None),
        (90 * SECONDS + 90, None, 260.0, None),
    ],
)
def test_a_short_run_shows_a_backlog_that_grows_all_the_time_beside_steady_replies(backlog, replies, rate, grows):
    assert growth(SECONDS, backlog, replies, rate) == (None if grows is None else pytest.approx(grows))


def test_three_seconds_show_nothing():
    assert growth([0, 1, 2], [100, 200, 300], [50, 50, 50], 150.0) is None


def overloaded(seconds, *, cpu=0.3, grows=90):
    def state(second):
        return {"offered": 260, "in_flight": grows * (second + 1), "cpu": cpu}

    return view_of(seconds, 170, length=float(seconds), state=state)


@pytest.mark.parametrize("seconds", [5, 12])
def test_a_target_with_more_arrivals_than_it_serves_is_overloaded_and_not_healthy(seconds):
    view = overloaded(seconds)
    assert growth_in(view) == (pytest.approx(90), 260)
    sound = view_of(12, 170, length=12.0)
    health = target(view, OPEN, (), None, judge(sound, Manifest(), SOUND, "finished"))
    judged = target_judgement(health)
    assert (judged.tone, judged.title) == ("warning", "Overloaded")
    assert judged.text.startswith("260 arrivals/s are more than it serves: the backlog grows by 90 requests/s")


def test_a_backlog_that_is_steady_or_the_generators_is_no_overload():
    assert growth_in(overloaded(12, grows=0)) is None
    assert growth_in(overloaded(12, cpu=0.9)) is None
    assert growth_in(view_of(12, 170, length=12.0)) is None, "no arrivals: the closed model"
