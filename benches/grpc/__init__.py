"""Calls of gRPC, and the generators that make them: 50 connections with ten calls at a time, as of HTTP/2."""

import json
from dataclasses import dataclass
from pathlib import Path

from plimsoll._engine import GrpcSchema, grpc_body

from ..subjects import K6, Load, PlimsollSubject, Subject, kept, plimsoll_run

PROTO = Path(__file__).with_name("bench.proto")
CALL = "bench.Bench/Call"
PATH = f"/{CALL}"
MESSAGE = {"text": "order 1042", "number": 7}
REPLY_BYTES = 100
"""With the five bytes before the message."""


def body(message: dict[str, object]) -> bytes:
    """A message as it is sent."""
    method = GrpcSchema.read([str(PROTO)], []).method(CALL)
    return grpc_body([method.encode(json.dumps(message))], False)


def reply() -> bytes:
    """What nginx answers."""
    text = "x" * (REPLY_BYTES - len(body({"text": "x"})) + 1)
    return body({"text": text})


@dataclass(frozen=True)
class Calls(PlimsollSubject):
    """`plimsoll run` with native users, several of which share a connection."""

    name: str = "plimsoll run URL, gRPC"

    def command(self, load: Load) -> list[str]:
        url = load.url.replace("http", "grpc", 1) + load.path
        return self.shared(load, url, "--proto", str(PROTO), "-d", json.dumps(MESSAGE))

    def reported(self, load: Load, output: str) -> int:
        """Successful ones: if calls fail, the count is not nginx's."""
        return kept(load, "success")

    def shared(self, load: Load, *what: str) -> list[str]:
        users = str(load.users * load.streams)
        streams = str(load.streams)
        return plimsoll_run(load, *what, "-u", users, "-r", users, "--users-per-connection", streams)


@dataclass(frozen=True)
class Posts(Calls):
    """The same bytes as a plain request over HTTP/2."""

    name: str = "plimsoll run URL, POST as gRPC"

    def command(self, load: Load) -> list[str]:
        file = load.folder / "message"
        file.write_bytes(body(MESSAGE))
        headers = ["--header", "Content-Type: application/grpc", "--header", "TE: trailers"]
        return self.shared(load, load.url + load.path, "--http2", "-d", f"@{file}", *headers)


@dataclass(frozen=True)
class Ghz(Subject):
    name: str = "ghz, gRPC"
    program = "ghz"
    hint = " (go install github.com/bojand/ghz/cmd/ghz@latest)"

    def version(self) -> str:
        # It does not say its name.
        return f"ghz {super().version()}"

    def command(self, load: Load) -> list[str]:
        host = load.url.partition("://")[2]
        command = ["ghz", "--insecure", "--proto", str(PROTO), "--call", CALL, "-d", json.dumps(MESSAGE)]
        command += ["-c", str(load.users * load.streams), "--connections", str(load.users)]
        command += ["-z", f"{load.seconds}s", "--duration-stop", "wait", "-O", "json", "-o", str(load.folder / "ghz")]
        return [*command, host]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads((load.folder / "ghz").read_text())["statusCodeDistribution"]["OK"])


@dataclass(frozen=True)
class K6Calls(K6):
    """Each user has a connection of its own: one call at a time."""

    name: str = "k6, gRPC"

    def command(self, load: Load) -> list[str]:
        command = ["k6", "run", "--quiet", "--no-usage-report", "--vus", str(load.users)]
        command += ["--duration", f"{load.seconds}s", "--env", f"BENCH_HOST={load.url.partition('://')[2]}"]
        command += ["--env", f"BENCH_MESSAGE={json.dumps(MESSAGE)}"]
        return [*command, "--summary-export", str(load.folder / "k6.json"), str(PROTO.with_name("k6.js"))]

    def reported(self, load: Load, output: str) -> int:
        return int(json.loads((load.folder / "k6.json").read_text())["metrics"]["iterations"]["count"])
