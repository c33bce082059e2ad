"""The network interface on the way to the target, and its speed. Only physical interfaces of Linux have a known one."""

from __future__ import annotations

import ipaddress
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from plimsoll.record.manifest import NetworkLink

if TYPE_CHECKING:
    from collections.abc import Iterable

LOOKUP_TIMEOUT_S = 1.0
"""A run does not wait longer for the address of a name, only to know its interface."""
_ANY_PORT = 9
INTERFACES = Path("/sys/class/net")


def link_to(urls: Iterable[str], interfaces: Path = INTERFACES) -> NetworkLink | None:
    """The interface on the way to all of these targets; None if they have several, or its speed is not known.
    interfaces: where the system describes them."""
    if not interfaces.is_dir():
        return None
    names = {_interface(host) for url in urls if (host := _host(url))}
    if len(names) != 1 or (name := names.pop()) is None:
        return None
    return link_of(name, interfaces)


def link_of(name: str, interfaces: Path = INTERFACES) -> NetworkLink | None:
    """None for loopback and virtual interfaces, which have no device, and for one that does not tell its speed."""
    if not (interfaces / name / "device").exists():
        return None
    try:
        speed = int((interfaces / name / "speed").read_text())
    except (OSError, ValueError):
        return None
    return NetworkLink(interface=name, mbit_s=speed) if speed > 0 else None


def _host(url: str) -> str | None:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:
        return None


def _interface(host: str) -> str | None:
    """The name of the interface through which packets to this host leave; None for this machine itself."""
    address = _address(host)
    if address is None:
        return None
    source = _source(address)
    if source is None or source == address:
        return None
    # Only here: few other parts of a run need it.
    import psutil

    names = [name for name, own in psutil.net_if_addrs().items() for each in own if each.address == source]
    return names[0] if len(set(names)) == 1 else None


def _address(host: str) -> str | None:
    """The first one; None for one of this machine, and for a name that has none so soon."""
    if host == "localhost":
        return None
    try:
        found: list[str] = [str(ipaddress.ip_address(host))]
    except ValueError:
        found = []
        thread = threading.Thread(target=_look_up, args=(host, found), name="address of the target", daemon=True)
        thread.start()
        thread.join(LOOKUP_TIMEOUT_S)
    return None if not found or ipaddress.ip_address(found[0].partition("%")[0]).is_loopback else found[0]


def _look_up(host: str, found: list[str]) -> None:
    try:
        found += [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return


def _source(address: str) -> str | None:
    """The own address from which packets would go there. Nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, _ANY_PORT))
            return str(probe.getsockname()[0])
    except OSError:
        return None
