"""Workers on the machines of a Ray cluster: `--cluster`. Ray runs in a process of its own (`ray_driver`), because it
must not share one with gevent.

That process reads one line, the request, and after it `end`, or the end of the stream if the command is lost. What it
writes are lines that begin with `MARK`, with a JSON object of these keys:

    started true              it is connected, and asks for the machines
    waiting TEXT · news TEXT · failure TEXT          as in `Placement`
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import deque
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.distribution import pip_install
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.placers.placer import Placement, Placer
from plimsoll.run.placers.printed import LONGEST_LINE, MOST_LINES, plain_line
from plimsoll.run.transport.join_token import ensure_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.run.placers.placer import MasterAddress

AUTO = "auto"
"""The address that stands for RAY_ADDRESS, or else the cluster that this machine is a part of."""
MARK = "plimsoll-ray "
"""Begins the lines that are not Ray's."""
DRIVER = "from plimsoll.run.placers.ray_driver import main; main()"
"""What Python runs. It is no module of its own (-m), as what travels to the machines must not be of `__main__`."""
CONNECT_TIMEOUT_S = 60.0
"""Seconds to connect; Ray's own limit is longer than that."""
END_TIMEOUT_S = 20.0
"""Seconds to end the workers, and to give the machines back."""
MOST_WORKERS = 10_000

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class RayOptions:
    """What stands after `--on ray:`. Raises UsageError."""

    address: str = AUTO
    """HOST:PORT of the cluster's head, or `AUTO`."""
    nodes: int = 0
    """Machines with workers."""
    workers: int = 1
    """Workers of each machine, one core each."""

    def __post_init__(self) -> None:
        if self.address != AUTO and not _ADDRESS.fullmatch(self.address):
            raise UsageError(
                f"{self.address} is not HOST:PORT; for RAY_ADDRESS, or the cluster of this machine, write {AUTO}"
            )
        for name, count in (("nodes", self.nodes), ("workers", self.workers)):
            if not 1 <= count <= MOST_WORKERS:
                raise UsageError(f"{name}={count}: from 1 to {MOST_WORKERS}; nodes is how many machines get workers")

    @classmethod
    def of(cls, text: str) -> RayOptions:
        """Raises UsageError that names the key."""
        address, *settings = text.split(",")
        values: dict[str, int] = {}
        for setting in settings:
            key, _, value = setting.partition("=")
            if key not in ("nodes", "workers") or not value.isdecimal() or len(value) > len(str(MOST_WORKERS)):
                raise UsageError(f"{setting} is not understood; after the address there are nodes=8 and workers=4")
            values[key] = int(value)
        return cls(address or AUTO, **values)


class RayPlacer(Placer):
    """One process beside the command. Ray places the workers, and finds other machines for those that are lost."""

    def __init__(self, options: RayOptions) -> None:
        """Raises UsageError if Ray is not installed."""
        if find_spec("ray") is None:
            raise UsageError(f"Ray is not installed here: {pip_install('cluster')}")
        self._options = options
        self._driver: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._has_started = threading.Event()
        """It is connected, or has ended."""
        self._is_connected = False
        self._placement = Placement()
        self._news: deque[str] = deque(maxlen=MOST_LINES)
        self._last = ""
        """What Ray itself has printed last."""

    def start(self, master: MasterAddress) -> int:
        self._driver = subprocess.Popen(
            [sys.executable, "-P", "-c", DRIVER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=with_token(os.environ),
            # Ctrl-C at the terminal is the command's, which ends the workers in order.
            start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, args=(self._driver,), daemon=True)
        self._reader.start()
        request = {**asdict(self._options), "host": master.host, "port": master.port, "token": master.token}
        self._tell(json.dumps(request))
        if not self._has_started.wait(CONNECT_TIMEOUT_S) or not self._is_connected:
            address = self._options.address
            why = self._placement.failure or f"the Ray cluster {address} does not answer: {self._last or 'no word'}"
            raise PlimsollError(why)
        return self._options.nodes * self._options.workers

    def look(self) -> Placement:
        news = []
        while self._news:
            news.append(self._news.popleft())
        return replace(self._placement, news=tuple(news))

    def close(self) -> None:
        driver, self._driver = self._driver, None
        if driver is None:
            return
        assert driver.stdin is not None
        with contextlib.suppress(OSError), driver.stdin as orders:
            orders.write(b"end\n")
        try:
            driver.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            driver.kill()
            driver.wait()
            raise PlimsollError("the Ray cluster does not answer; it ends the workers once it notices") from None
        finally:
            assert self._reader is not None
            self._reader.join()

    def _tell(self, line: str) -> None:
        assert self._driver is not None and self._driver.stdin is not None
        with contextlib.suppress(OSError):
            self._driver.stdin.write(line.encode() + b"\n")
            self._driver.stdin.flush()

    def _read(self, driver: subprocess.Popen[bytes]) -> None:
        """A thread of its own."""
        assert driver.stdout is not None
        with driver.stdout as lines:
            while data := lines.readline(2 * LONGEST_LINE):
                if data.startswith(MARK.encode()):
                    self._take(json.loads(data[len(MARK) :]))
                else:
                    self._last = plain_line(data) or self._last
        code = driver.wait()
        if code and not self._placement.failure:
            self._placement = replace(self._placement, failure=f"the driver of Ray has ended: {self._last or code}")
        self._has_started.set()

    def _take(self, event: dict[str, Any]) -> None:
        if "started" in event:
            self._is_connected = True
            self._has_started.set()
        if "news" in event:
            self._news.append(event["news"])
        if "waiting" in event:
            self._placement = replace(self._placement, waiting=event["waiting"])
        if "failure" in event:
            self._placement = replace(self._placement, failure=event["failure"])


def with_token(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process with Ray: it sends a token, unless RAY_AUTH_MODE says otherwise.

    Where no token is given, it is the one in ~/.ray/auth_token; a file that is not there is made. Nobody else may read
    that file. Raises UsageError if that cannot be.
    """
    environment = {"RAY_AUTH_MODE": "token", **environment}
    if environment["RAY_AUTH_MODE"] == "token" and not environment.get("RAY_AUTH_TOKEN"):
        path = Path(environment.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
        try:
            ensure_token(path)
        except OSError as error:
            raise UsageError(f"the token of the Ray cluster, {path}: {error.strerror}") from error
        environment["RAY_AUTH_TOKEN_PATH"] = str(path)
    return environment
