"""Native users in this process; that they request what they should is asked in test_worker and test_perform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll._engine import Engine, Recorder, now
from plimsoll.errors import UsageError
from plimsoll.run.native import NAME, NativePopulation

if TYPE_CHECKING:
    from harness import Target


def test_users_are_added_to_those_there_are(target: Target) -> None:
    population = NativePopulation(Engine(), Recorder(now()), target.url)
    population.adjust({NAME: 2})
    population.adjust({NAME: 5})
    assert population.counts() == {NAME: 5}


def test_some_of_them_cannot_be_taken_away(target: Target) -> None:
    population = NativePopulation(Engine(), Recorder(now()), target.url)
    population.adjust({NAME: 2})
    with pytest.raises(ValueError, match="end together"):
        population.adjust({NAME: 1})


def test_those_in_flight_when_time_is_up_are_counted_as_cancelled(target: Target) -> None:
    recorder = Recorder(now())
    population = NativePopulation(Engine(), recorder, f"{target.url}/slow")
    population.adjust({NAME: 3})
    population.drain(0)
    intervals, _, failures = recorder.take()
    assert [(row[1], row[2], row[3], row[4]) for row in intervals] == [("GET", "/slow", "cancelled", 3)]
    assert failures == []


def test_a_url_that_names_no_server_is_refused() -> None:
    with pytest.raises(UsageError, match="http://"):
        NativePopulation(Engine(), Recorder(now()), "http://")
