"""What machines were measured to send, kept for later runs; and whether that is enough for a load."""

from __future__ import annotations

import json
import logging
import math
import platform
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll import __version__
from plimsoll.run.coordinator.progress import Observer
from plimsoll.run.guard import places_of, requests_each
from plimsoll.run.limits import SPARE
from plimsoll.say.numbers import count, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plimsoll.run.coordinator.launch import Launch
    from plimsoll.run.plan import RunPlan

logger = logging.getLogger("plimsoll.run")

CAPACITIES = ".plimsoll/capacity.json"
"""A file in the home directory: what each machine can send, by host name."""
PART = 0.7
"""Of what a worker can send at most: what one should plan for, since replies and scripts are larger than those of the
measurement."""
CLEARLY = 1.25
"""A load is too large from so many times the measurement on: other work on a machine makes a measurement smaller."""


@dataclass(frozen=True, slots=True)
class MachineCapacity:
    """What was measured on a machine. Both rates are requests per second of one worker with a core for itself, for
    small responses and users that do nothing else: real ones send fewer."""

    host: str
    cpus: int
    native: float | None
    python: float | None
    ports: int | None
    """For connections to one address."""
    open_files: int | None
    """Of each worker; None: as many as one likes."""
    measured: str
    """The day: 2026-11-25."""
    version: str = __version__
    """Of the Plimsoll that was measured."""


def keep(measured: Iterable[MachineCapacity]) -> None:
    """Besides those of other machines. Raises OSError."""
    path = Path.home() / CAPACITIES
    path.parent.mkdir(mode=0o700, exist_ok=True)
    kept = {**_kept(path), **{each.host: asdict(each) for each in measured}}
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as stream:
        stream.write(json.dumps(kept, indent=2) + "\n")
    Path(stream.name).replace(path)


def known_capacities() -> dict[str, MachineCapacity]:
    """By host: those that this version of Plimsoll has measured. A file that cannot be read knows nothing."""
    found = {host: _read(kept) for host, kept in _kept(Path.home() / CAPACITIES).items()}
    return {host: each for host, each in found.items() if each is not None and each.version == __version__}


def _read(kept: Any) -> MachineCapacity | None:
    try:
        capacity = MachineCapacity(**kept)
    except TypeError:
        return None
    numbers = (capacity.native, capacity.python, capacity.ports, capacity.open_files)
    is_sound = isinstance(capacity.cpus, int) and all(each is None or isinstance(each, int | float) for each in numbers)
    return capacity if is_sound and isinstance(capacity.measured, str) else None


def _kept(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def shortfalls(plan: RunPlan, workers: Mapping[str, int], known: Mapping[str, MachineCapacity]) -> list[str]:
    """Why the load cannot fit the machines, each with what to do. Nothing without a measurement of all of them.

    workers: how many there are on each host.
    """
    measured = [(known[host], count) for host, count in workers.items() if host in known]
    if len(measured) < len(workers):
        return []
    found = (_too_fast(plan, measured), _too_many_users(plan, measured))
    return [each for each in found if each is not None]


def _too_fast(plan: RunPlan, measured: list[tuple[MachineCapacity, int]]) -> str | None:
    """Users of the closed model ask for no rate. Of the arrivals of a locustfile each sends one request at least."""
    if not plan.is_open or plan.load is None:
        return None
    asked = plan.load.peak * (requests_each(plan.scenario) if plan.scenario else 1.0)
    each = [(capacity.native if plan.scenario else capacity.python, capacity, n) for capacity, n in measured]
    known = [(rate * min(n, capacity.cpus), capacity.measured) for rate, capacity, n in each if rate is not None]
    most = sum(rate for rate, _ in known)
    if len(known) < len(measured) or asked <= CLEARLY * most:
        return None
    cores = sum(min(n, capacity.cpus) for capacity, n in measured)
    enough = math.ceil(asked / (PART * most / cores))
    kind = "native users" if plan.scenario else "Python users"
    others = "" if plan.scenario else ", native users (a plan),"
    return (
        f"the load asks for {_rate(asked)}, and {counted(plan.processes, 'worker')} with {kind} can send about "
        f"{_rate(most)} (measured on {min(day for _, day in known)}): "
        f"use about {counted(enough, 'worker')} with a core each{others} or a lower rate"
    )


def _too_many_users(plan: RunPlan, measured: list[tuple[MachineCapacity, int]]) -> str | None:
    """Each has a connection. To a target on the loopback interface they come from several addresses by themselves."""
    if plan.is_open:
        return None
    places = places_of(plan)
    addresses = len(plan.source_addresses) or 1
    has_more = not places or any(_is_loopback(place.url) for place in places)
    room = 0.0
    for capacity, workers in measured:
        files = math.inf if capacity.open_files is None else workers * max(0, capacity.open_files - SPARE)
        ports = math.inf if capacity.ports is None or has_more else capacity.ports * addresses
        room += min(files, ports)
    if plan.most_users <= room:
        return None
    return (
        f"the load has {count(plan.most_users)} users, and {counted(len(measured), 'machine')} can hold about "
        f"{count(room)} connections to one address (open files and ports): use more machines, more workers on each, or "
        "fewer users; plimsoll doctor says how to raise both limits"
    )


def _is_loopback(url: str) -> bool:
    """As far as its text says: a resolver would delay the run. No address is a Unix socket's."""
    host = urlsplit(url).hostname or ""
    return not host or host in ("localhost", "::1") or host.startswith("127.")


def _rate(each: float) -> str:
    return f"{count(float(f'{each:.2g}'))} requests/s"


class CapacityWarning(Observer):
    """Says before the load begins that it cannot fit. It refuses nothing.

    launch: of the run, once its workers are ready.
    """

    def __init__(self, launch: Callable[[], Launch]) -> None:
        self._launch = launch

    def start(self, started: float, stamp: str) -> None:
        launch = self._launch()
        plan = launch.plan
        if launch.shaped and not plan.is_open:
            return  # nobody knows how many users there will be
        workers: Counter[str] = Counter()
        for each in launch.machines:
            # Of several nodes of one machine the second is HOST/2.
            workers[each.host.partition("/")[0]] += len(each.workers)
        for text in shortfalls(plan, workers or {platform.node(): plan.processes}, known_capacities()):
            logger.warning("%s", text)
