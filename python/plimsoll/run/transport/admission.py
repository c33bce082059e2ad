"""Who is let in at the port of a master: how many connections may be without a proof at a time, and how long an address
must wait from which a wrong proof came."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_GREETING = 64
"""Connections that have not proved yet that they know the token."""
FIRST_LOCK_S = 0.1
LONGEST_LOCK_S = 30.0
FORGOTTEN_S = 120.0
"""Seconds without a wrong proof after which an address begins anew."""
MOST_ADDRESSES = 10_000
SAME_WORDS_S = 10.0
"""Seconds in which what is said of an address is said once."""


class MustWaitError(Exception):
    """No proof of this address is looked at now, since a wrong one came from it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


class AddressLocks:
    """Each wrong proof locks its address out for twice as long as the one before. A right one forgets them: workers
    behind one address, of which one has a wrong token, get in between.

    Which address that is: `key`. clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._wrong: dict[str, tuple[int, float]] = {}
        """By address, in the order of the last: how many in a row, and when the last one came."""

    def judge(self, address: str, is_right: Callable[[], bool]) -> bool:
        """Whether the proof is right. Raises MustWaitError without a look at it as long as the address is locked: of
        proofs that come together, one is looked at."""
        with self._lock:
            address = key(address)
            if (left := self._left(address)) > 0:
                raise MustWaitError(left)
            wrong, _ = self._wrong.pop(address, (0, 0.0))
            if is_right():
                return True
            while len(self._wrong) >= MOST_ADDRESSES:
                del self._wrong[next(iter(self._wrong))]
            self._wrong[address] = wrong + 1, self._clock()
            return False

    def _left(self, address: str) -> float:
        if (known := self._wrong.get(address)) is None:
            return 0.0
        wrong, last = known
        passed = self._clock() - last
        if passed > FORGOTTEN_S:
            del self._wrong[address]
            return 0.0
        lock: float = min(LONGEST_LOCK_S, FIRST_LOCK_S * 2 ** min(wrong - 1, 16))
        return max(0.0, lock - passed)


def key(address: str) -> str:
    """What stands for all addresses of one sender: of IPv6, a network of 64 bits."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class Greetings:
    """Connections that have not proved anything yet. Of too many, the oldest of the address that has most is closed."""

    def __init__(self, most: int = MOST_GREETING) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._open: dict[socket.socket, str] = {}
        """In the order in which they came."""

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: socket.socket, address: str) -> None:
        with self._lock:
            self._open[connection] = key(address)
            if len(self._open) <= self._most:
                return
            ((crowded, _),) = Counter(self._open.values()).most_common(1)
            oldest = next(each for each, known in self._open.items() if known == crowded)
            del self._open[oldest]
        # The thread that serves the connection notices this, and closes it.
        with contextlib.suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)

    def remove(self, connection: socket.socket) -> None:
        """It has proved who it is, or is closed. May be repeated."""
        with self._lock:
            self._open.pop(connection, None)


class Complaints:
    """Says what strangers do, but the same of one address only every few seconds. say: prints a line."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._lock = threading.Lock()
        self._said: dict[tuple[str, str], tuple[float, int]] = {}
        """By address and kind: when, and how often it came since."""

    def add(self, address: str, kind: str, line: str) -> None:
        """kind: what is the same, whatever the line says of it."""
        with self._lock:
            which = key(address), kind
            last, more = self._said.pop(which, (-SAME_WORDS_S, 0))
            is_new = self._clock() - last >= SAME_WORDS_S
            while len(self._said) >= MOST_ADDRESSES:
                del self._said[next(iter(self._said))]
            self._said[which] = (self._clock(), 0) if is_new else (last, more + 1)
        if is_new:
            self._say(f"{line} ({more} more times)" if more else line)
