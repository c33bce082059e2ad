from __future__ import annotations

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.run.plan import RunPlan, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20", 20), ("20s", 20), ("3m", 180), ("2h", 7200), ("1h20m", 4800), ("3h30m10s", 12610), (" 5s ", 5), ("0", 0)],
)
def test_durations_are_read_as_locust_reads_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "abc", "5x", "-3", "1.5h", "10m5h", "s", "1 h"])
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="1h20m"):
        parse_duration(text)


@given(st.integers(0, 10**6))
def test_a_formatted_duration_is_read_back(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_a_plan_survives_the_message_that_carries_it() -> None:
    plan = RunPlan(
        locustfiles=("/a.py", "/b.py"), arguments=("--x", "1"), host="http://h", users=7, spawn_rate=2.5,
        run_time=10.0, tags=("t",), options=(("csv_prefix", None), ("json", True)),
    )  # fmt: skip
    assert RunPlan.from_dict(msgpack.unpackb(msgpack.packb(plan.to_dict()))) == plan
