"""Uploads of files that are larger than a worker may become: they are read while they are sent."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from labs.truth.http2_target import Http2Target

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


OVER_HTTP2 = """
import io
from plimsoll import FastHttpUser, HttpUser, task

CONTENT = bytes(range(256)) * 8000

class Broken(io.BytesIO):
    def read(self, size=-1):
        if self.tell() > 500_000:
            raise OSError(5, "Input/output error")
        return super().read(size)

class Uploader(BASE):
    host = "HOST"
    http2 = True

    @task
    def upload(self):
        for body in (io.BytesIO(CONTENT), iter([CONTENT[:1000], b"", CONTENT[1000:]])):
            assert self.client.post("/echo", data=body).content == CONTENT
        assert CONTENT in self.client.post("/echo", files={"file": io.BytesIO(CONTENT)}).content
        failed = self.client.post("/echo", name="broken", data=Broken(CONTENT))
        assert "Input/output error" in repr(failed.error)
        assert self.client.post("/echo", data=b"fine").content == b"fine"
        self.environment.runner.quit()
"""


@pytest.mark.parametrize("user", ["HttpUser", "FastHttpUser"])
def test_over_http2_parts_are_frames_and_a_body_that_breaks_off_leaves_the_connection(
    plimsoll: Command, user: str
) -> None:
    server = Http2Target()
    plimsoll.write(OVER_HTTP2.replace("BASE", user).replace("HOST", f"http://{server.place}"))
    done = plimsoll("run", "-u", "1", "-t", "60s", "--headless")
    server.close()
    run = plimsoll.stored()
    assert run["exceptions"] == [], done
    assert [(each["name"], each["outcome"], each["count"]) for each in run["failures"]] == [("broken", "reset", 1)]
    assert server.connections == 1
