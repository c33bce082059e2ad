"""Makes the `Script` of a process of a run: that of a locustfile, or that of native users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.worker.script import Script


def make_script(plan: RunPlan, *arguments: Any) -> Script:
    """The script of the plan's users. The arguments are those of every `ScriptFactory`. Raises PlimsollError."""
    # Only here: neither kind of users needs what the other does.
    if plan.scenario is not None:
        from plimsoll.run.worker.native_script import NativeScript

        return NativeScript(plan, *arguments)
    from plimsoll.locust.script.script import LocustScript

    return LocustScript(plan, *arguments)
