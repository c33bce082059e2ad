from __future__ import annotations

from typing import get_args

import pytest

from plimsoll.record.events import (
    ClockStepped,
    EventName,
    FeederEnded,
    GuardStopped,
    LoadChanged,
    LoadCut,
    MissingRest,
    Resumed,
    RunEvent,
    StoreLost,
    WorkerLost,
    WorkerReplaced,
    WorkerReturned,
)
from plimsoll.say.events import event_text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            WorkerLost(worker=1, place="on b", how="was killed by SIGKILL", users=1, kept_to=3),
            "worker 1 (on b) was killed by SIGKILL: its user is lost, kept is what it measured up to second 3",
        ),
        (
            WorkerReplaced(worker=1, place="on c", from_second=4, to_second=6),
            "worker 1 (on c) takes the place of a lost one from second 6 on; its load was not complete since second 4",
        ),
        (WorkerReturned(worker=1, place="on b"), "worker 1 (on b) has handed over what was missing of it"),
        (
            Resumed(from_second=4, to_second=9, incomplete=(MissingRest(worker=1, from_second=3),)),
            "the process that coordinated this run was lost in second 4; another one continues it from second 9 on, "
            "and between them there was no load; what worker 1 measured from second 3 on is missing",
        ),
        (LoadChanged(second=5, what="50 users"), "the load was changed by hand in second 5: 50 users"),
        (LoadCut(seconds=8.25), "the coordinating process stood still, so the workers ended their load after 8.2 s"),
        (
            StoreLost(from_second=5, reason="the disk is full"),
            "the disk is full; the run goes on, its seconds since second 5 are held in memory and tried again",
        ),
        (
            StoreLost(from_second=5, to_second=7, reason="the disk is full"),
            "the store could not be written from second 5 to 7 (the disk is full); what was held in memory is stored",
        ),
        (ClockStepped(second=5, step_ms=12.0), "the clock was set by 12 ms in second 5"),
        (GuardStopped(limit="--max-run-time 5s"), "the run was ended by --max-run-time 5s"),
        (
            GuardStopped(limit="--max-rate 5/s", how="it sent 61 requests within 0.10 s"),
            "the run was ended by --max-rate 5/s: it sent 61 requests within 0.10 s",
        ),
        (
            FeederEnded(feeder="accounts", second=7),
            "the rows of feeder accounts ran out in second 7, which ended the run",
        ),
        (
            FeederEnded(feeder="accounts", second=2, is_measured=False),
            "the rows of feeder accounts ran out in second 2, before the end of the warm-up, which ended the run: "
            "nothing was measured",
        ),
    ],
)
def test_an_event_is_one_sentence(event: RunEvent, text: str) -> None:
    assert event_text(event) == text


def test_every_event_has_a_name_of_its_own() -> None:
    assert sorted(kind.NAME for kind in get_args(RunEvent)) == sorted(get_args(EventName))
