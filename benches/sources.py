"""The source addresses of the connections to a port, from the kernel's table of sockets."""

import socket
from collections.abc import Iterable
from pathlib import Path

ESTABLISHED = "01"


def sources(port: int, lines: Iterable[str] | None = None) -> set[str]:
    """IPv4 addresses of this machine with established connections to the port."""
    if lines is None:
        with Path("/proc/net/tcp").open() as table:
            return sources(port, table)
    wanted = f"{port:04X}"
    found = set()
    for line in lines:
        words = line.split()
        if len(words) > 3 and words[3] == ESTABLISHED and words[2].endswith(":" + wanted):
            found.add(words[1].partition(":")[0])
    return {socket.inet_ntoa(bytes.fromhex(address)[::-1]) for address in found}
