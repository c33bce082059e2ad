"""What `plimsoll doctor` says about what machines can send."""

from __future__ import annotations

import platform
from datetime import date

from plimsoll.cli.parts.common import MachineCheck
from plimsoll.run.calibration import calibrate
from plimsoll.run.machine import machine
from plimsoll.run.sizing import CAPACITIES, PART, MachineCapacity, keep
from plimsoll.say.numbers import count, counted, short_percent


def capacity_checks() -> list[MachineCheck]:
    """Of this machine; takes some seconds."""
    found = machine()
    usable = found.cpus or 1
    cpus = max(1, int(min(usable, found.cpu_quota or usable)))
    measured = MachineCapacity(platform.node(), cpus, **calibrate(), measured=date.today().isoformat())
    if measured.native is None:
        return [MachineCheck("capacity", "not measured", "plimsoll run http://127.0.0.1:PORT/ does not work here")]
    return [capacity(measured), kept([measured])]


def capacity(of: MachineCapacity) -> MachineCheck:
    """Of a worker."""
    python = "" if of.python is None else f", {count(round(of.python, -2))} (Python users that do nothing else)"
    each = f"about {count(round(of.native or 0, -2))} requests/s each (native users){python}, small responses"
    return MachineCheck(f"{of.host} capacity", f"{counted(of.cpus, 'worker')}, {each}")


def total(machines: list[MachineCapacity]) -> str:
    """Of those that were measured."""
    workers = sum(each.cpus for each in machines)
    native = sum(each.cpus * (each.native or 0) for each in machines)
    rate = count(round(native, -2))
    return f"{counted(workers, 'worker')}, about {rate} requests/s; plan for {short_percent(PART)} of it"


def kept(measured: list[MachineCapacity]) -> MachineCheck:
    """Later runs know it."""
    try:
        keep(measured)
    except OSError as error:
        why = f"~/{CAPACITIES} cannot be written: {error.strerror}"
        return MachineCheck("measurements", "not kept", f"{why}; no run will say that its load is too large")
    return MachineCheck("measurements", f"kept in ~/{CAPACITIES}: a run whose load is too large for them says so")
