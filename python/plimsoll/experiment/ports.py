"""A port for a target."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from plimsoll.experiment.cell_values import CellError

LOWEST = 10_240
HIGHEST = 65_535
TRIES = 200


def free_port() -> int:
    """A TCP port of this machine that nobody uses at this moment, and no outgoing connection is given before the target
    binds it: it lies outside of the ephemeral range, if that leaves room. Raises CellError."""
    low, high = _ephemeral()
    outside = [*range(LOWEST, low), *range(high + 1, HIGHEST + 1)]
    candidates: list[int] = outside or list(range(LOWEST, HIGHEST + 1))
    tried = random.sample(candidates, min(TRIES, len(candidates)))
    found = next((port for port in tried if is_free(port)), None)
    if found is None:
        raise CellError(f"none of {len(tried)} ports that were tried is free")
    return found


def is_free(port: int) -> bool:
    """Whether it can be bound, of all addresses."""
    # No SO_REUSEADDR: a port with connections in TIME_WAIT is not ours to give away.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def _ephemeral() -> tuple[int, int]:
    try:
        low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return int(low), int(high)
    except (OSError, ValueError):
        return 49_152, HIGHEST  # IANA's
