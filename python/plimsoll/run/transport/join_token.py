"""The secret that a master and the workers that join it share.

On one machine both find it in a file of their user. For other machines the user gives it, or the master makes one and
prints the command that starts the workers. No worker joins without a token, unless both sides have `--insecure-join`.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import shlex
import socket
from contextlib import suppress
from pathlib import Path

from plimsoll.errors import UsageError

SHORTEST_TOKEN = 16
"""Characters. A shorter one can be guessed."""
VARIABLE = "PLIMSOLL_JOIN_TOKEN"
MAKE_ONE = "python3 -c 'import secrets; print(secrets.token_urlsafe())' makes one"
ALL = "*"
"""The address that stands for all of this machine, as Locust spells it."""
_ALL_ADDRESSES = (ALL, "", "0.0.0.0", "::")
_SOMEWHERE = "192.0.2.1"
"""Of documentation: nothing is sent there, but the system says from which address it would be."""


def is_loopback(host: str) -> bool:
    """Only this machine reaches it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def given_token(token: str | None, *, insecure: bool) -> str | None:
    """The token that was given; None if there is none. Raises UsageError for one that can be guessed, and for one
    beside --insecure-join."""
    if not token:
        return None
    if insecure:
        raise UsageError("--insecure-join goes without a token; leave out --join-token (PLIMSOLL_JOIN_TOKEN)")
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token of --join-token ({VARIABLE}) has {len(token)} characters, and needs {SHORTEST_TOKEN} or more: "
            f"{MAKE_ONE}"
        )
    return token


def ensure_token(path: Path) -> None:
    """Make a file with a secret if there is none; nobody but this user can read it. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        # Under another name first: who finds the file reads all of it.
        draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(secrets.token_hex(32))
        # Of two processes that make it at the same time, the first one's stays.
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    status = path.stat()
    if status.st_mode & 0o077 and status.st_uid == os.getuid():
        path.chmod(0o600)


def own_token() -> str:
    """That of this user on this machine. Raises UsageError if there is no place for it."""
    path = Path.home() / ".plimsoll" / "join-token"
    try:
        ensure_token(path)
        return path.read_text().strip()
    except OSError as error:
        raise UsageError(
            f"the token that master and workers share on this machine cannot be in {path}: {error.strerror}. Set "
            f"{VARIABLE} to the same {SHORTEST_TOKEN} or more characters on both sides ({MAKE_ONE})"
        ) from error


def master_token(host: str, given: str | None, *, insecure: bool) -> tuple[str, bool]:
    """The token of a master that listens there, and whether it is a new one that has to be said."""
    if insecure:
        return "", False
    if given is not None:
        return given, False
    return (own_token(), False) if is_loopback(host) else (secrets.token_urlsafe(), True)


def worker_token(host: str, given: str | None, *, insecure: bool) -> str:
    """The token for the master on this host. Raises UsageError if there is none: who answers in the place of a master
    runs programs here."""
    if insecure:
        return ""
    if given is not None:
        return given
    if is_loopback(host):
        return own_token()
    raise UsageError(
        f"a worker joins a master on another machine with a token: set {VARIABLE} to the same {SHORTEST_TOKEN} or more "
        f"characters on the master and on its workers ({MAKE_ONE}), or give both --insecure-join to go without"
    )


def invitation(host: str, port: int, new_token: str, *, insecure: bool, own: bool) -> str:
    """What a master that listens there says to people who want to start workers. own: its token is that of this
    user."""
    if insecure:
        return (
            f"workers can join at port {port} without a token (--insecure-join): anybody who reaches it can join, read "
            "the files of the run, and report any figures"
        )
    if is_loopback(host):
        known = "" if own else ", with the token of this one"
        return (
            f"workers on this machine can join{known}: plimsoll run --worker --master-port {port}. For other machines "
            f"start this one with --master-bind-host '{ALL}', or with one address"
        )
    secret = f"{VARIABLE}={new_token} " if new_token else ""
    known = "" if new_token else ", with the token of this one"
    line = f"{secret}plimsoll run -f - --worker --master-host {shlex.quote(reachable(host))} --master-port {port}"
    return f"workers can join{known}: {line}"


def reachable(host: str) -> str:
    """An address at which others reach a master that listens there; HOST where it is not known."""
    if host not in _ALL_ADDRESSES:
        return host
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((_SOMEWHERE, 9))
        if not is_loopback(found := probe.getsockname()[0]):
            return str(found)
    return "HOST"
