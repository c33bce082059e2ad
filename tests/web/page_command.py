"""A `plimsoll run` or `plimsoll serve` with its page, and a target that it loads."""

from __future__ import annotations

import re
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command

ADDRESS = re.compile(r"the page: (?P<url>https?://\S+)")
TIMEOUT_S = 60.0


class PageCommand:
    """The command, started; `url` once it has said where its page is. What it prints is kept."""

    def __init__(self, command: Command, *arguments: str) -> None:
        self._command = command
        self._said = threading.Event()
        self._lines: list[str] = []
        self.url = ""
        self.process: subprocess.Popen[str] = command.start(*arguments)
        assert self.process.stderr is not None
        assert self.process.stdout is not None
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self.process.stderr, self.process.stdout)
        ]
        for each in self._readers:
            each.start()
        assert self._said.wait(TIMEOUT_S), f"no address was printed:\n{self.output}"
        assert self.url, f"it ended without a page:\n{self.output}"

    def _read(self, stream: object) -> None:
        for line in stream:  # type: ignore[attr-defined]
            self._lines.append(line)
            if found := ADDRESS.search(line):
                self.url = found["url"].rstrip("/")
                self._said.set()
        if stream is self.process.stderr:
            self._said.set()

    @property
    def output(self) -> str:
        return "".join(self._lines)

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def close(self) -> None:
        """May be repeated."""
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        for stream in (self.process.stderr, self.process.stdout):
            if stream is not None:
                stream.close()

    def wait(self) -> int:
        code = self.process.wait(TIMEOUT_S)
        for each in self._readers:
            each.join(TIMEOUT_S)
        return code
