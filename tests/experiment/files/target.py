"""A target for tests: `python target.py PORT [MODE [ARGUMENT]]`.

Answers every GET with 200 and "hello"; /count with how many there were, /build with $BUILD, /port with its port.
Modes: crash N (ends with status 7 at request N), stubborn (ignores SIGTERM), sick (answers 503), leak N (keeps N bytes
per request), stillborn (ends with status 3 before it listens), deaf (never listens), parent (has a child in a session
of its own, which would go on for ever).
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

PORT = int(sys.argv[1])
MODE = sys.argv[2] if len(sys.argv) > 2 else ""
NUMBER = int(sys.argv[3]) if len(sys.argv) > 3 else 0


class Target:
    def __init__(self) -> None:
        self.count = 0
        self.leak: list[bytes] = []

    def answer(self, path: str) -> bytes:
        self.count += 1
        if MODE == "crash" and self.count >= NUMBER:
            print(f"cannot bear request {self.count}", flush=True)
            os._exit(7)
        if MODE == "leak":
            self.leak.append(os.urandom(NUMBER))
        special = {"/count": str(self.count), "/build": f'"{os.environ.get("BUILD", "")}"', "/port": str(PORT)}
        return special.get(path, "hello").encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readline():
            path = head.split()[1].decode()
            while (await reader.readline()).strip():
                pass
            body = self.answer(path)
            status = b"503 Sick" if MODE == "sick" else b"200 OK"
            writer.write(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body))
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(Target().serve, "127.0.0.1", PORT)
    print(f"listening on {PORT}", flush=True)
    await server.serve_forever()


if MODE == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if MODE == "stillborn":
    print("no licence found", flush=True)
    sys.exit(3)
if MODE == "deaf":
    print("thinking", flush=True)
    signal.pause()
if MODE == "parent":
    subprocess.Popen(["sleep", "600"], start_new_session=True)
asyncio.run(main())
