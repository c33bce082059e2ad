"""`plimsoll doctor --on`: what each machine can send on which a placer starts workers."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import TYPE_CHECKING

from plimsoll.cli.parts.common import MachineCheck, say
from plimsoll.cli.parts.measured import capacity, kept, total
from plimsoll.run.options.command import read_words
from plimsoll.run.placers.request import PlacedWorkers, as_master
from plimsoll.run.sizing import MachineCapacity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.transport.master import JoinedMachine


def placed_checks(where: str) -> list[MachineCheck]:
    """where: as `run --on` has it. The workers are started, measured, one on each machine, and ended. Raises
    PlimsollError if they do not come."""
    workers = PlacedWorkers.of(as_master(read_words(["--on", where])))
    with workers.master(secrets.token_urlsafe(), say) as master:
        by_machine = {(machine.host, machine.address): machine for machine in reversed(master.ready)}
        machines = sorted(by_machine.values(), key=lambda machine: (machine.host, machine.address))
        say(f"measuring {len(machines)} machine{'s' * (len(machines) != 1)}, for some seconds")
        with ThreadPoolExecutor(len(machines)) as pool:
            measured = list(pool.map(_measured, machines))
    return [versions(machines), *_capacities(machines, measured)]


def versions(machines: Sequence[JoinedMachine]) -> MachineCheck:
    """Plimsoll is the same on all of them, or they could not join."""
    others = [f"{machine.host} {machine.difference}" for machine in machines if machine.difference]
    advice = "figures of users written in Python depend on it: install the same Python" if others else ""
    return MachineCheck("versions", "; ".join(others) or "the same Plimsoll and Python", advice)


def _capacities(machines: Sequence[JoinedMachine], measured: Sequence[MachineCapacity | None]) -> list[MachineCheck]:
    known = [each for each in measured if each is not None and each.native is not None]
    silent = [machine.host for machine, each in zip(machines, measured, strict=True) if each not in known]
    checks = [capacity(each) for each in known]
    checks += [
        MachineCheck(f"{host} capacity", "not measured", "run plimsoll doctor --measure on that machine")
        for host in silent
    ]
    if known:
        checks += [MachineCheck("all workers", total(known)), kept(known)]
    return checks


def _measured(machine: JoinedMachine) -> MachineCapacity | None:
    if (measured := machine.measure()) is None:
        return None
    return MachineCapacity(host=machine.host, measured=date.today().isoformat(), **measured)
