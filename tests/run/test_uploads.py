"""Uploads of files that are larger than a worker may become: they are read while they are sent."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command

SIZE = 200 << 20
MOST_KIB = 100 << 10
"""Of a worker, at its largest. Without uploads it has about 60 MiB."""

SCRIPT = """
import re
from pathlib import Path
from plimsoll import FastHttpUser, HttpUser, events, task

class Uploader(BASE):
    host = "HOST"

    @task
    def upload(self):
        with open("large.bin", "rb") as file:
            response = self.client.post("/", BODY)
        assert response.status_code == 200, response.error
        Path("largest").write_text(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
        self.environment.runner.quit()
"""
BODIES = {
    "a file": "data=file",
    "a generator": "data=iter(lambda: file.read(65536), b'')",
    "a form": "files={'file': file}, data={'field': 'value'}",
}


class Reader:
    """A server that reads bodies, keeps nothing of them, and counts their bytes, with the lines of chunks."""

    def __init__(self) -> None:
        self.count = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @contextmanager
    def running(self) -> Iterator[Reader]:
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        buffer = bytearray(1 << 20)
        with connection, connection.makefile("rb", buffering=1 << 20) as stream:
            head = b"".join(iter(stream.readline, b"\r\n"))
            length = re.search(rb"(?i)content-length: (\d+)", head)
            left = int(length[1]) if length else _chunk(stream)
            while left:
                count = stream.readinto(memoryview(buffer)[: min(left, len(buffer))])
                self.count += count
                left -= count
                if not left and length is None:
                    stream.readline()
                    left = _chunk(stream)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def _chunk(stream: object) -> int:
    return int(stream.readline(), 16)  # type: ignore[attr-defined] # a file


@pytest.mark.parametrize("user", ["HttpUser", "FastHttpUser"])
@pytest.mark.parametrize("body", BODIES)
def test_a_worker_does_not_grow_with_what_it_uploads(plimsoll: Command, user: str, body: str) -> None:
    with (plimsoll.directory / "large.bin").open("wb") as file:
        file.truncate(SIZE)
    with Reader().running() as target:
        script = SCRIPT.replace("BASE", user).replace("HOST", target.url).replace("BODY", BODIES[body])
        plimsoll.write(script)
        done = plimsoll("run", "-u", "1", "-t", "60s", "--headless")
        assert target.count >= SIZE, done
    assert done.code == 0, done
    largest = int((plimsoll.directory / "largest").read_text())
    assert largest < MOST_KIB
