"""How much of the machine was taken by work that is not ours while we measured: the reason to doubt a figure."""

import os

import psutil

from .nginx import Nginx
from .process import Measured

QUIET_CPUS = 0.1
"""Up to this many CPUs taken by others a figure is good; the operating system itself takes a few hundredths."""


class Others:
    """A stopwatch of foreign work. Made at the start of a window."""

    def __init__(self, nginx: Nginx, generator: Measured) -> None:
        self._parties = nginx, generator
        self._start = self._foreign()

    def seconds(self) -> float:
        """CPU seconds since the start that were neither the server's, the generator's nor this process's own. What the
        host took from a virtual machine (steal) is among them."""
        return self._foreign() - self._start

    def _foreign(self) -> float:
        nginx, generator = self._parties
        machine, own = psutil.cpu_times(), os.times()
        busy = machine.user + machine.nice + machine.system + machine.steal
        return float(busy - nginx.cpu_seconds() - generator.cpu_seconds()[0] - own.user - own.system)
