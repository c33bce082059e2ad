"""A proxy that records, and a browser that uses it. mitmdump of mitmproxy, a program of its own, writes a HAR when it
ends.

mitmproxy cannot be a library of this package: it needs versions of libraries that this package cannot have. No
certificate is installed for the user.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.supervised.process import Process, StartError

if TYPE_CHECKING:
    from typing import Self

PROGRAM = "mitmdump"
INSTALL = "install it with: pipx install mitmproxy (or uv tool install mitmproxy)"
OLDEST = (10, 1)
"""The first version of mitmproxy that writes a HAR."""
LONGEST_START_S = 60.0
WRITING_S = 60.0
"""Seconds that mitmdump may take to write the HAR."""
_LOOK_S = 0.1
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser")
"""Browsers of the Chromium family by their usual names: they take a profile and a proxy as options."""
CLOSING_S = 10.0
AUTHORITY = Path("~/.mitmproxy/mitmproxy-ca-cert.pem")
"""The certificate that mitmproxy makes and with which it signs those of other hosts."""


class RecordingProxy:
    """A proxy on this machine; a context manager that ends it. The HAR is complete when it has ended."""

    def __init__(self, har: Path, port: int, log: Path, *, insecure: bool = False) -> None:
        """har: is written by mitmdump. port: of 127.0.0.1; 0: a free one. log: of what mitmdump says. insecure: any
        certificate of a service is accepted. Raises UsageError without the program, for an old one, and for a port that
        is taken."""
        program = _program()
        self.port = _free_port(port)
        self._har = har
        command = [
            program, "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(self.port),
            "--set", f"hardump={har.absolute()}", "--set", f"ssl_insecure={str(insecure).lower()}",
        ]  # fmt: skip
        try:
            self._process = Process(command, output=log, ask=signal.SIGINT, grace=WRITING_S)
        except StartError as error:
            raise UsageError(str(error)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop(patient=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait_until_it_listens(self) -> None:
        """Raises PlimsollError if it does not begin."""
        end = time.monotonic() + LONGEST_START_S
        while time.monotonic() < end:
            if self.has_ended:
                said = " ".join(self._process.tail(3)) or str(self._process.poll())
                raise PlimsollError(f"{PROGRAM} has ended: {said}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(_LOOK_S)
            else:
                return
        raise PlimsollError(f"{PROGRAM} does not listen after {LONGEST_START_S:.0f} s")


def open_browser(name: str, proxy: str, page: str, folder: Path) -> Process:
    """Open a page. name: of the program; "": the first of `BROWSERS` that is there. proxy: its URL. folder: of the
    profile and the log, which the caller removes. Raises UsageError if it cannot be started."""
    program = shutil.which(name) if name else next((path for known in BROWSERS if (path := shutil.which(known))), None)
    if program is None:
        what = name or f"none of {', '.join(BROWSERS)}"
        raise UsageError(f"--browser: {what} is not there; name the program: --browser-program /path/to/chromium")
    command = [
        program, f"--user-data-dir={folder / 'profile'}", f"--proxy-server={proxy}",
        # Without this, requests to this machine would go around the proxy.
        "--proxy-bypass-list=<-loopback>", "--no-first-run", "--no-default-browser-check",
        # Requests of the browser itself are no part of a recording.
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
        *(["--no-sandbox"] if os.geteuid() == 0 else []), page,
    ]  # fmt: skip
    try:
        return Process(command, output=folder / "browser.log", grace=CLOSING_S)
    except StartError as error:
        raise UsageError(f"--browser: {error}") from error


def _program() -> str:
    program = shutil.which(PROGRAM)
    if program is None:
        raise UsageError(f"plimsoll record needs {PROGRAM}, a program of mitmproxy; {INSTALL}")
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{program} cannot be run: {error}") from error
    version = re.search(r"Mitmproxy:\s+(\d+)\.(\d+)", said)
    if version is not None and (int(version[1]), int(version[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UsageError(f"{program} is version {version[1]}.{version[2]}, and {oldest} is needed; {INSTALL}")
    return program


def _free_port(port: int) -> int:
    """Raises UsageError for a port that is taken."""
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            own.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror}; choose another one, or 0 for a free one") from error
        return int(own.getsockname()[1])
