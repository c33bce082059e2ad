"""The protocols of trials: what users send, and the targets that write down what they receive.

With HTTP/1.1 it is the target of the truth lab, which fails some requests on purpose; else that of `journal_target`.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labs.truth.target_process import ROOT, Target, running_target

from .journal_target import times

HTTP = "http"
PROTOCOLS = (HTTP, "h2", "grpc", "sse", "ws")
LAB = Path(__file__).parent

PROTO = """
syntax = "proto3";
package journal;
service Journal { rpc Note(Nothing) returns (Nothing); }
message Nothing {}
"""
STEPS = {
    "h2": '[[flow.step]]\npost = "/x"\nbody = "{body}"\n',
    "grpc": '[[flow.step]]\ngrpc = "journal.Journal/Note"\nmessage = {{}}\n',
    "sse": '[[flow.step]]\npost = "/events"\nbody = "{body}"\nstream = "sse"\n',
    "ws": '[[flow.step]]\nconnect = "/chat"\n[[flow.step]]\nsend = "{body}"\n[[flow.step]]\nreceive = "next"\n',
}
"""Of a flow of native users."""
CLASS = """
from contextlib import suppress

from plimsoll import HttpUser

class User(HttpUser):
    host = "http://{place}"
    {options}
    socket = None

    def send_h2(self):
        self.client.post("/x", data=BODY)

    def send_grpc(self):
        self.grpc("journal.Journal/Note", b"")

    def send_sse(self):
        # Reading a stream that breaks raises, as in requests; the response has recorded it by then.
        with suppress(OSError), self.client.post("/events", data=BODY, stream=True, catch_response=True) as response:
            for _ in response.events():
                pass

    def send_ws(self):
        if not self.socket:
            self.socket = self.client.websocket("/chat")
        if self.socket.send(BODY):
            self.socket.receive()

    tasks = [send_{protocol}]

BODY = "{body}"
"""
"""A user in Python."""


@dataclass(frozen=True)
class TrialTarget:
    """A target in a process of its own."""

    place: str
    """HOST:PORT"""
    pid: int
    folder: Path
    """Of the journal."""
    truth: Target | None = None
    """Of HTTP/1.1."""

    def arrivals(self) -> list[float]:
        """When requests or messages were there, s on the monotonic clock, ascending."""
        if self.truth is None:
            return times(self.folder, "received")
        paths = self.truth.truth().paths.values()
        return sorted(each / 1e9 for path in paths for each in path.arrivals)

    def stall_accepting(self, seconds: float) -> None:
        """Accept no connection for this long. Only HTTP/1.1."""
        assert self.truth is not None
        self.truth.stall_accepting(seconds)


@contextmanager
def target_of(protocol: str, folder: Path, fault: str = "none") -> Iterator[TrialTarget]:
    """Serves within the block. folder: of the journal. fault: of `journal_target`. Raises TruthError."""
    if protocol == HTTP:
        with running_target() as target:
            yield TrialTarget(target.url.removeprefix("http://"), target.pid, folder, target)
        return
    command = [sys.executable, "-m", "labs.robustness.journal_target", protocol, fault, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield TrialTarget(process.stdout.readline().strip(), process.pid, folder)
    finally:
        process.kill()
        process.communicate()


def users_of(protocol: str, place: str, folder: Path, *, native: bool) -> list[str]:
    """Arguments of `plimsoll run`. folder: for the files that it names."""
    if protocol == HTTP:
        file = [str(LAB / "plan.toml")] if native else ["-f", str(LAB / "locustfile.py")]
        return [*file, "-H", f"http://{place}"]
    (folder / "journal.proto").write_text(PROTO)
    file = folder / ("users.toml" if native else "users.py")
    if native:
        options = {"h2": "http2 = true\n", "grpc": 'proto = "journal.proto"\n'}.get(protocol, "")
        steps = STEPS[protocol].format(body="x" * 10)
        file.write_text(f'target = "http://{place}"\n{options}[[flow]]\n{steps}')
        return [str(file)]
    options = "http2 = True" if protocol == "h2" else ""
    file.write_text(CLASS.format(place=place, options=options, protocol=protocol, body="x" * 10))
    return ["-f", str(file)]
