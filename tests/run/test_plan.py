from __future__ import annotations

import msgpack

from plimsoll.run.plan import RunPlan


def test_a_plan_survives_the_message_that_carries_it() -> None:
    plan = RunPlan(
        locustfiles=("/a.py", "/b.py"), arguments=("--x", "1"), host="http://h", users=7, spawn_rate=2.5,
        run_time=10.0, tags=("t",), options=(("csv_prefix", None), ("json", True)),
    )  # fmt: skip
    assert RunPlan.from_dict(msgpack.unpackb(msgpack.packb(plan.to_dict()))) == plan
