"""The file of hosts that SSH reaches, and what `ssh` says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""It asks for nothing: keys and known hosts are as they are for `ssh` itself."""
PYTHON = "python3"

_HOST = re.compile(r"([\w.-]+@)?[\w.:-]+")


@dataclass(frozen=True, slots=True)
class Host:
    """A line of the file: `[USER@]HOST [cpus=N] [python=PATH]`."""

    name: str
    """As `ssh` takes it."""
    cpus: int | None = None
    """Workers there; None: one for each core."""
    python: str = PYTHON
    """The interpreter there that has Plimsoll."""


def read_hosts(path: str) -> list[Host]:
    """One host a line; what follows # is a comment. Raises UsageError that names file, line and field."""
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    hosts: list[Host] = []
    for number, line in enumerate(lines, 1):
        if words := line.partition("#")[0].split():
            host = _host(words, f"{path}:{number}")
            if host.name in {each.name for each in hosts}:
                raise UsageError(f"{path}:{number}: {host.name} is there twice")
            hosts.append(host)
    if not hosts:
        raise UsageError(f"{path} has no hosts; write one on each line, as ann@10.0.0.2 cpus=4")
    return hosts


def listed_hosts(text: str) -> list[Host]:
    """Hosts with commas between: ann@10.0.0.2,10.0.0.3. Raises UsageError."""
    hosts: list[Host] = []
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


def _host(words: Sequence[str], where: str) -> Host:
    name, *settings = words
    # A name that begins with a dash would be an option of ssh.
    if not _HOST.fullmatch(name) or name.startswith("-"):
        raise UsageError(f"{where}: {name} is not a host; write [USER@]HOST")
    cpus, python = None, PYTHON
    for each in settings:
        field, _, value = each.partition("=")
        if field == "cpus" and value.isdecimal() and int(value) > 0:
            cpus = int(value)
        elif field == "python" and value:
            python = value
        else:
            raise UsageError(f"{where}: {each} is not understood; after the host there may be cpus=4 and python=PATH")
    return Host(name, cpus, python)
