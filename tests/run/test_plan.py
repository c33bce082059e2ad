from __future__ import annotations

import msgpack
import pytest

from plimsoll.run.plan import RunPlan, format_duration


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (20, "20s"), (90, "1m30s"), (12610, "3h30m10s"), (59.6, "1m")]
)
def test_durations_are_shown_to_whole_seconds(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_a_plan_survives_the_message_that_carries_it() -> None:
    plan = RunPlan(
        locustfiles=("/a.py", "/b.py"), arguments=("--x", "1"), host="http://h", users=7, spawn_rate=2.5,
        run_time=10.0, tags=("t",), options=(("csv_prefix", None), ("json", True)),
    )  # fmt: skip
    assert RunPlan.from_dict(msgpack.unpackb(msgpack.packb(plan.to_dict()))) == plan
