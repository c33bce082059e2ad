"""CPU that unrelated work used during a measurement: a reason to doubt a figure."""

import os

import psutil

from .echo import Echo
from .nginx import Nginx
from .process import Measured

QUIET_CPUS = 0.1
"""A figure is good up to this many CPUs of unrelated work. The operating system itself uses a few hundredths."""


class Others:
    """Measures unrelated work. Create it at the start of a window."""

    def __init__(self, server: Nginx | Echo, generator: Measured) -> None:
        self._parties = server, generator
        self._start = self._foreign()

    def seconds(self) -> float:
        """CPU seconds since the start that were not used by the server, the generator or this process. They include
        time that the host took from a virtual machine (steal)."""
        return self._foreign() - self._start

    def _foreign(self) -> float:
        server, generator = self._parties
        machine, own = psutil.cpu_times(), os.times()
        busy = machine.user + machine.nice + machine.system + machine.steal
        # Packets of a loopback connection: the kernel counts their time here, and also as that of the sending process.
        busy += machine.irq + machine.softirq
        return float(busy - server.cpu_seconds() - generator.cpu_seconds()[0] - own.user - own.system)
