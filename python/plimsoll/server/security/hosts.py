"""Addresses and names of this machine, as a page on it must know them."""

from __future__ import annotations

import functools
import ipaddress
import socket


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect to this address; "" is loopback."""
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_of_this_machine(name: str, given: str) -> bool:
    """Whether a name that a browser asked for cannot be one that somebody else has made point at this machine. given:
    the address that is listened on."""
    name = name.lower()
    if name in ("localhost", given.lower()):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in _own_names()
    return True


@functools.cache
def _own_names() -> frozenset[str]:
    """Asked for once: the resolver may take its time."""
    return frozenset({socket.gethostname().lower(), socket.getfqdn().lower()})
