"""What is checked before a run begins: what the machine's limits allow, how much load it is, and where it goes.

Each run passes through `guarded`, from every caller. While it goes on, the coordinator looks at users, rate and time,
and the engine of each worker at the hosts.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Origin
from plimsoll.errors import UsageError
from plimsoll.load.limits_file import machine_rails
from plimsoll.load.origins import http_url, target_urls
from plimsoll.plain_text import without_userinfo
from plimsoll.record.manifest import new_run_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.load.guard_rails import GuardRails
    from plimsoll.run.plan import RunPlan

MANY_USERS, HIGH_RATE = 100, 1000.0
"""A load with more users, or more requests per second, asks before it goes to a public address."""


def guarded(plan: RunPlan, now: float) -> RunPlan:
    """The plan with the limits of this machine, checked. now: Unix time.

    Raises UsageError for a run that must not begin.
    """
    plan = replace(plan, rails=plan.rails.joined(machine_rails()))
    # Workers of other machines keep what they measured by the id of the run.
    if plan.run_id is None and (plan.identify is not None or plan.joined):
        plan = replace(plan, run_id=new_run_id(now))
    check_identity(plan)
    check_caps(plan)
    check_places(plan.rails, places_of(plan))
    return plan


def check_caps(plan: RunPlan) -> None:
    """What is known of a load before it begins. Raises UsageError."""
    rails, load = plan.rails, plan.load
    if load is None:
        rails.check_users(plan.users, f"--users {plan.users}")
    elif load.model == "open":
        rails.check_users(plan.most_users, f"--max-users {plan.most_users}")
    else:
        rails.check_users(plan.most_users, f"a load of {plan.most_users} users")
    if plan.is_open:
        check_arrivals(plan, load.peak if load else 0.0)
    if plan.seconds is not None:
        rails.check_run_time(plan.seconds)


def check_identity(plan: RunPlan) -> None:
    """Raises UsageError for a run whose requests do not say who sends them, if they have to."""
    if plan.rails.identify_file and plan.identify is None:
        file = plan.rails.identify_file
        raise UsageError(f"{file} requires that requests say who sends them: --identify you@example.com")


def check_arrivals(plan: RunPlan, rate: float) -> None:
    """rate: arrivals per second. Those of a locustfile may send any number of requests. Raises UsageError."""
    each = requests_each(plan.scenario) if plan.scenario else 1.0
    arrivals = f"{rate:.12g}/s" if each == 1 else f"{rate:.12g}/s with {each:.3g} requests each"
    plan.rails.check_rate(rate * each, f"a load of {arrivals}")


def requests_each(scenario: Mapping[str, Any]) -> float:
    """Requests and messages of an iteration of native users: the average of flows, with as many repetitions as steps
    may have."""
    requests = 0.0
    for flow, share in shares(scenario):
        times = [int(_sends(step)) for step in flow["steps"]]
        for last, step in enumerate(flow["steps"]):
            if repeat := step.get("repeat"):
                for index in range(repeat.get("from", last), last + 1):
                    times[index] *= repeat["most"]
        requests += share * sum(times)
    return requests


def _sends(step: Mapping[str, Any]) -> bool:
    """Each iteration sends something with this step; a WebSocket is opened once."""
    return not step.get("websocket") or "send" in step["websocket"]


def shares(scenario: Mapping[str, Any]) -> list[tuple[dict[str, Any], float]]:
    """Each flow with its share of the iterations, 0…1."""
    in_turn = scenario.get("choice") == "in_turn"
    weighted = [
        (flow, 1.0 if in_turn or flow.get("weight") is None else float(flow["weight"])) for flow in scenario["flows"]
    ]
    total = sum(weight for _, weight in weighted)
    return [(flow, weight / total) for flow, weight in weighted]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run goes."""

    url: str
    proxy: str | None = None

    def origin(self) -> Origin:
        """Raises ValueError for what is no URL."""
        return Origin(http_url(self.url), verify=False, proxy=self.proxy)

    @property
    def shown_proxy(self) -> str | None:
        """The URL of its proxy with the password masked."""
        return None if self.proxy is None else without_userinfo(self.proxy)

    def addresses(self) -> list[str]:
        """Those of its host; none for a Unix socket. Asks the system's resolver.

        Raises OSError, or ValueError for what is no URL."""
        origin = self.origin()
        if origin.scheme == "http+unix":
            return []
        found = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(each[4][0]) for each in found))

    @staticmethod
    def is_public(addresses: Iterable[str]) -> bool:
        """One of them is reached over the internet."""
        return any(_plain(each).is_global for each in addresses)


def _plain(text: str) -> IPv4Address | IPv6Address:
    address = ip_address(text.partition("%")[0])
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def places_of(plan: RunPlan) -> list[Place]:
    """Where a run goes as far as its plan says: user classes of a locustfile may have hosts of their own."""
    if plan.scenario is None:
        return [Place(plan.host)] if plan.host else []
    urls = target_urls(plan.scenario)
    return [Place(url, each.get("proxy")) for url, each in zip(urls, plan.scenario["targets"], strict=True)]


def check_places(rails: GuardRails, places: Iterable[Place]) -> None:
    """Raises UsageError for one that gets no load. What else is wrong with one is said elsewhere."""
    allowed = rails.allowed_hosts()
    if allowed is None:
        return
    for place in places:
        try:
            refusal = allowed.refusal(place.origin())
        except ValueError:
            continue
        if refusal is not None:
            raise UsageError(refusal)


def public_load(plans: Iterable[RunPlan], more: Iterable[Place] = ()) -> str | None:
    """What to ask before much load goes to a public address; None if none does.

    more: places besides those of the plans. Asks the system's resolver about each place once.
    """
    sizes: dict[Place, str] = {}
    for plan in sorted(plans, key=lambda each: each.load.peak if each.load else each.users, reverse=True):
        if (size := _much(plan)) is not None:
            for place in (*places_of(plan), *more):
                sizes.setdefault(place, size)
    for place, size in sizes.items():
        try:
            addresses = place.addresses()
        except (OSError, ValueError):
            continue
        if place.is_public(addresses):
            host = place.origin().host
            named = host if host in addresses else f"{host} ({addresses[0]})"
            return f"This sends up to {size} to {named}, a public address. Go on?"
    return None


def _much(plan: RunPlan) -> str | None:
    if plan.is_open and plan.load is not None:
        rate = plan.load.peak * (requests_each(plan.scenario) if plan.scenario else 1.0)
        return f"{rate:,.6g} requests per second" if rate > HIGH_RATE else None
    return f"{plan.most_users:,} users' load" if plan.most_users > MANY_USERS else None
