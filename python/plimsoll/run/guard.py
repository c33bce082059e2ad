"""What is checked before a run begins: what the machine's limits allow, how much load it is, and where it goes.

Each run passes through `guarded`, whoever asks for it. While it goes on, the coordinator looks at users, rate and time,
and the engine of each worker at the hosts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Origin
from plimsoll.errors import UsageError
from plimsoll.load.durations import format_duration
from plimsoll.load.limits_file import machine_rails
from plimsoll.record import new_run_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.load.guard_rails import GuardRails
    from plimsoll.run.plan import RunPlan


def guarded(plan: RunPlan, now: float) -> RunPlan:
    """The plan with the limits of this machine, checked. now: Unix time.

    Raises UsageError for a run that must not begin.
    """
    plan = replace(plan, rails=plan.rails.joined(machine_rails()))
    if plan.identify is not None:
        plan = replace(plan, run_id=new_run_id(now))
    check_caps(plan)
    check_origins(plan.rails, origins_of(plan))
    return plan


def check_caps(plan: RunPlan) -> None:
    """What is known of a load before it begins. Raises UsageError."""
    rails, load = plan.rails, plan.load
    if rails.identify_file and plan.identify is None:
        raise UsageError(f"{rails.identify_file} requires that requests say who sends them: --identify you@example.com")
    if load is None:
        rails.check_users(plan.users, f"--users {plan.users}")
    elif load.model == "open":
        rails.check_users(plan.most_users, f"--max-users {plan.most_users}")
    else:
        rails.check_users(plan.most_users, f"a load of {plan.most_users} users")
    if plan.is_open:
        check_arrivals(plan, load.peak if load else 0.0)
    if plan.seconds is not None:
        rails.check_run_time(plan.seconds, f"a run of {format_duration(plan.seconds)}")


def check_arrivals(plan: RunPlan, rate: float) -> None:
    """rate: arrivals per second. Those of a locustfile may send any number of requests. Raises UsageError."""
    each = requests_each(plan.scenario) if plan.scenario else 1.0
    arrivals = f"{rate:.12g}/s" if each == 1 else f"{rate:.12g}/s with {each:.3g} requests each"
    plan.rails.check_rate(rate * each, f"a load of {arrivals}")


def requests_each(scenario: Mapping[str, Any]) -> float:
    """Requests of an iteration of native users, on average."""
    flows = scenario["flows"]
    in_turn = scenario.get("choice") == "in_turn"
    weights = [1.0 if in_turn or flow.get("weight") is None else float(flow["weight"]) for flow in flows]
    return sum(len(flow["steps"]) * weight for flow, weight in zip(flows, weights, strict=True)) / sum(weights)


def origins_of(plan: RunPlan) -> list[Origin]:
    """Where a run goes as far as its plan says: user classes of a locustfile may have hosts of their own."""
    if plan.scenario is None:
        return [] if plan.host is None else list(origins([plan.host]))
    return [Origin(each["url"], verify=False, proxy=each.get("proxy")) for each in plan.scenario["targets"]]


def origins(urls: Iterable[str]) -> Iterable[Origin]:
    """Those of URLs that can be connected to; what is wrong with the others is said elsewhere."""
    for url in urls:
        try:
            yield Origin(url, verify=False)
        except ValueError:
            continue


def check_origins(rails: GuardRails, found: Iterable[Origin]) -> None:
    """Raises UsageError for one that gets no load."""
    allowed = rails.allowed_hosts()
    if allowed is None:
        return
    for origin in found:
        if (refusal := allowed.refusal(origin)) is not None:
            raise UsageError(refusal)
