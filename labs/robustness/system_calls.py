"""System calls that fail in the processes of a run: the rules, and the switch shared with the lab."""

import errno
import mmap
import os
import struct
from pathlib import Path

from labs.truth.target_process import ROOT

LIBRARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "libplimsoll_faults.so"
WORDS = 65
"""One says whether rules apply. The others count how often each applied."""

RECEIVING = ("recv", "recvmsg", "read")
SENDING = ("send", "sendmsg", "write", "writev")


def _rules(calls: tuple[str, ...], kind: str, effect: str | int, share: float) -> list[str]:
    return [f"{call} {kind} {effect} {share:g}" for call in calls]


RULES: dict[str, list[str]] = {
    "connections that break": [
        *_rules(RECEIVING, "tcp", errno.ECONNRESET, 0.005),
        *_rules(RECEIVING, "tcp", errno.ETIMEDOUT, 0.005),
        *_rules(SENDING, "tcp", errno.EPIPE, 0.005),
        *_rules(SENDING, "tcp", errno.ENOBUFS, 0.005),
    ],
    "connections that cannot be made": [
        *_rules(("connect",), "tcp", errno.ECONNREFUSED, 0.2),
        *_rules(("connect",), "tcp", errno.ENETUNREACH, 0.1),
        *_rules(("connect",), "tcp", errno.EADDRNOTAVAIL, 0.1),
        *_rules(("socket",), "any", errno.EMFILE, 0.1),
        *_rules(("socket",), "any", errno.ENOBUFS, 0.1),
    ],
    "signals in every call": _rules((*RECEIVING, *SENDING, "epoll_wait"), "any", errno.EINTR, 0.05),
    "messages in pieces": [
        *_rules(("read", "recv", "write", "send"), "unix", "short", 0.3),
        *_rules(("read", "write"), "pipe", "short", 0.3),
        *_rules(("write", "pwrite64"), "file", "short", 0.3),
    ],
    "a disk that fails": [
        *_rules(("pwrite64",), "file", errno.ENOSPC, 0.05),
        *_rules(("pwrite64",), "file", errno.EIO, 0.05),
        *_rules(("fsync", "fdatasync"), "file", errno.EIO, 0.1),
    ],
    "a terminal that fails": _rules(("write",), "pipe", errno.EIO, 0.3),
}


class Switch:
    """The file that switches the rules, and counts how often they applied."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(4 * WORDS))
        self._path = path
        with path.open("r+b") as file:
            self._words = mmap.mmap(file.fileno(), 4 * WORDS)

    def environment(self, name: str, seed: int) -> dict[str, str]:
        """The environment of a process in which the rules of this name apply while the switch is on."""
        return {
            "LD_PRELOAD": str(LIBRARY),
            "PLIMSOLL_FAULTS": "; ".join(RULES[name]),
            "PLIMSOLL_FAULTS_SEED": str(seed),
            "PLIMSOLL_FAULTS_SWITCH": str(self._path),
        }

    def turn(self, *, on: bool) -> None:
        self._words[0:4] = struct.pack("=I", on)

    @property
    def applied(self) -> int:
        """Calls that failed, in all processes."""
        return sum(struct.unpack(f"={WORDS - 1}I", self._words[4:]))
