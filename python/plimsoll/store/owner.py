"""The process that writes a run. If it died, the run is not shown as running any more."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Collection

    import psutil

OWNER_TIMEOUT_S = 60.0
"""Seconds without a commit after which a writer on another machine is taken for dead."""


def this_process() -> str:
    """Names this process among all that ever wrote to a store: machine, process id, start of the process."""
    import psutil

    return _name(psutil.Process())


def is_gone(writer: str, written: float, now: float) -> bool:
    """Whether the process that `this_process` named has ended. written, now: Unix seconds of its last commit, and now.

    A process on another machine counts as ended if it has been silent for too long.
    """
    # Here, as in the others: who only reads runs that are over needs no processes.
    import psutil

    try:
        machine, pid, created = writer.split(" ")
        if machine != _machine():
            return now - written > OWNER_TIMEOUT_S
        return f"{psutil.Process(int(pid)).create_time():.2f}" != created
    except psutil.NoSuchProcess:
        return True
    except (psutil.Error, ValueError):
        return now - written > OWNER_TIMEOUT_S


def interrupt(writer: str, leaders: Collection[str]) -> None:
    """Ask the process that `this_process` named to end, as Ctrl-C does. Nothing happens if it has ended.

    leaders: names of processes; if one of them has started it, that one is asked instead.

    Raises StoreError for a process that is on another machine, or is another user's.
    """
    import psutil

    machine, pid, created = writer.split(" ")
    if machine != _machine():
        raise StoreError("it runs on another machine or in another container; use `plimsoll stop` there")
    try:
        process = psutil.Process(int(pid))
        if f"{process.create_time():.2f}" == created:
            leader = next((each for each in process.parents() if _name(each) in leaders), process)
            leader.send_signal(signal.SIGINT)
    except psutil.NoSuchProcess:
        pass
    except psutil.AccessDenied:
        raise StoreError(f"its process (pid {pid}) belongs to another user") from None


def _name(process: psutil.Process) -> str:
    return f"{_machine()} {process.pid} {process.create_time():.2f}"


def _machine() -> str:
    """This boot of this machine, and on Linux the namespace in which process ids mean anything."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname().replace(" ", "_")
