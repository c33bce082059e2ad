"""The local addresses that users come from."""

from __future__ import annotations

import os
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network, summarize_address_range
from typing import TYPE_CHECKING

from plimsoll.errors import LocustfileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.users.user import User

Address = IPv4Address | IPv6Address

MOST = 1 << 16
"""Addresses that may be given: a /16 network has so many."""


def parse(text: str) -> tuple[str, ...]:
    """`10.0.0.1,10.0.0.5-10.0.0.9,10.1.0.0/24` spelt out, in this order. Raises UsageError for what is none, and for
    addresses that are not this machine's."""
    addresses: list[str] = []
    for part in text.split(","):
        try:
            addresses += map(str, _spread(part.strip(), MOST - len(addresses)))
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"--source-address {part.strip()}: {error}; say A, A,B,C, FIRST-LAST or NETWORK/BITS"
            ) from error
    try:
        require_ours(addresses)
    except ValueError as error:
        raise UsageError(f"--source-address {error}") from error
    return tuple(addresses)


def _spread(part: str, room: int) -> Iterator[Address]:
    first, dash, last = part.partition("-")
    if "/" in part:
        networks = [ip_network(part)]
    elif dash:
        networks = list(summarize_address_range(ip_address(first.strip()), ip_address(last.strip())))
    else:
        networks = [ip_network(ip_address(part))]
    if sum(network.num_addresses for network in networks) > room:
        raise ValueError(f"more than {MOST} addresses")
    for network in networks:
        # The address of a network and its broadcast address are nobody's, unless the network is all there is.
        yield from network.hosts() if "/" in part else network


def require_ours(addresses: Iterable[str]) -> None:
    """Raises ValueError for an address that connections cannot come from."""
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.bind((address, 0))
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise ValueError(f"{address}: this machine cannot send from there ({reason})") from error


def settle(classes: Iterable[type[User]], given: tuple[str, ...], worker: int) -> None:
    """Leave each class with the addresses that its users get in this worker; `given` on the command line goes before
    what the classes say. Raises LocustfileError for what cannot be an address of a class."""
    for each in classes:
        own = each.source_address
        addresses = [own] if isinstance(own, str) else list(own or ())
        try:
            require_ours(str(ip_address(address)) for address in addresses)
        except ValueError as error:
            raise LocustfileError(f"{each.__name__}.source_address: {error}") from error
        each.source_address = None if given else of_worker(tuple(addresses), worker) or None


def of_worker(addresses: tuple[str, ...], worker: int) -> tuple[str, ...]:
    """The same addresses, beginning with another one in each worker."""
    start = worker % len(addresses) if addresses else 0
    return addresses[start:] + addresses[:start]
