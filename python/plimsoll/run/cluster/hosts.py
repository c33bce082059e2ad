"""The machines of a cluster that is reached by SSH: the file that lists them, and commands on them."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""It asks for nothing: keys and known hosts are as they are for `ssh` itself."""
TIMEOUT_S = 120.0
PYTHON = "python3"
AT_ONCE = 32
"""Hosts."""

_HOST = re.compile(r"([\w.-]+@)?[\w.:-]+")


@dataclass(frozen=True, slots=True)
class ClusterHost:
    """A line of the file: `[USER@]HOST [cpus=N] [python=PATH] [address=IP]`."""

    name: str
    """As `ssh` takes it."""
    cpus: int | None = None
    """Cores for workers; None: all."""
    python: str = PYTHON
    """The interpreter there that has Plimsoll and Ray."""
    address: str | None = None
    """That by which the other nodes reach it; None: Ray finds one."""


def read_hosts(path: str) -> list[ClusterHost]:
    """One host a line; what follows # is a comment. Raises UsageError that names file, line and field."""
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    hosts: list[ClusterHost] = []
    for number, line in enumerate(lines, 1):
        if words := line.partition("#")[0].split():
            host = _host(words, f"{path}:{number}")
            if host.name in {each.name for each in hosts}:
                raise UsageError(f"{path}:{number}: {host.name} is there twice")
            hosts.append(host)
    if not hosts:
        raise UsageError(f"{path} has no hosts; write one on each line, as ann@10.0.0.2 cpus=4")
    return hosts


def listed_hosts(text: str) -> list[ClusterHost]:
    """Hosts with commas between: ann@10.0.0.2,10.0.0.3. Raises UsageError."""
    hosts: list[ClusterHost] = []
    for name in text.split(","):
        if "/" in name or name.endswith((".txt", ".csv", ".ini")):
            raise UsageError(f"there is no file {name}")
        host = _host([name.strip()], "hosts")
        if host.name in {known.name for known in hosts}:
            raise UsageError(f"{host.name} is there twice; cpus=N in a file of hosts says how many workers it has")
        hosts.append(host)
    return hosts


def with_hint(why: str, host: str) -> str:
    """What `ssh` says of a host, with what to do about it. It asks nothing here, so a person must have done that."""
    name = host.rpartition("@")[2]
    if why.startswith("Host key verification failed"):
        return (
            f"{why.rstrip('.')}; compare the fingerprint of ssh-keyscan {name} | ssh-keygen -lf - with that of the "
            f"host, then: ssh-keyscan {name} >> ~/.ssh/known_hosts"
        )
    if "Permission denied" in why:
        return f"{why.rstrip('.')}; ssh must get in without a question: ssh-copy-id {host}, or a running ssh-agent"
    return why


def _host(words: Sequence[str], where: str) -> ClusterHost:
    name, *settings = words
    # A name that begins with a dash would be an option of ssh.
    if not _HOST.fullmatch(name) or name.startswith("-"):
        raise UsageError(f"{where}: {name} is not a host; write [USER@]HOST")
    cpus, python, address = None, PYTHON, None
    for each in settings:
        field, _, value = each.partition("=")
        if field == "cpus" and value.isdecimal() and int(value) > 0:
            cpus = int(value)
        elif field == "python" and value:
            python = value
        elif field == "address" and _HOST.fullmatch(value):
            address = value
        else:
            raise UsageError(
                f"{where}: {each} is not understood; after the host there may be cpus=4, python=PATH and address=IP"
            )
    return ClusterHost(name, cpus, python, address)


def on_all(hosts: Sequence[ClusterHost], script: Callable[[ClusterHost], str]) -> dict[str, str]:
    """Run a script of the shell on all of them at once; what each has printed, by name. The script goes through the
    standard input: its text is in no list of processes. Raises PlimsollError that names all hosts where it failed."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(lambda host: _run(host, script(host)), hosts))
    failed = [f"{host.name}: {why}" for host, (why, _) in zip(hosts, done, strict=True) if why]
    if failed:
        raise PlimsollError("; ".join(failed))
    return {host.name: out for host, (_, out) in zip(hosts, done, strict=True)}


def _run(host: ClusterHost, script: str) -> tuple[str, str]:
    """Why it failed, and what it has printed."""
    try:
        done = subprocess.run(
            [*SSH, host.name, "sh -s"], input=script, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        return "there is no program ssh on this machine", ""
    except subprocess.TimeoutExpired:
        return f"no answer within {TIMEOUT_S:g} s", ""
    if done.returncode == 0:
        return "", done.stdout
    said = [each.strip() for each in (done.stderr or done.stdout).splitlines() if each.strip()]
    return with_hint(said[-1], host.name) if said else f"exit status {done.returncode}", ""
