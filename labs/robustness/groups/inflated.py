"""A target whose small replies grow to very much: the load ends in time, no request outlasts its limit, and memory is
bounded."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psutil
from labs.truth.plimsoll_run import PLIMSOLL

from ..inflating_target import InflatingTarget
from ..judgement import CommandOutcome, Judgement

MIB = 1 << 20
LOAD_S, TIMEOUT_S = 3.0, 1.0
MARGIN_S = 1.0
"""How much later than its limit a request, and than its time the load, may end on a machine that never stands still."""
END_S = 15.0
"""What comes after the load on any machine: the report, and connections that are closed."""
LIMIT_S = 60.0
MOST_BYTES = 1600 * MIB
"""The default limit of bodies is 1 GiB, and a process without any has up to 300 MiB."""
SAMPLE_S = 0.1
OUTCOMES = (0, 1, 3)

PLAN = """
target = "{scheme}://127.0.0.1:{port}"
timeout = "{timeout}s"
{proto}
{steps}
[[phase]]
users = {users}
[stop]
time = "{seconds}s"
"""
PROTO = 'syntax = "proto3"; package g; service S { rpc One(Q) returns (R); rpc All(Q) returns (stream R); } '
PROTO += "message Q { string a = 1; } message R { string t = 7; }"
SCRIPT = """
from plimsoll import HttpUser, task

class Inflated(HttpUser):
    host = "{scheme}://127.0.0.1:{port}"
    {proto}

    @task
    def go(self):
        try:
            {code}
        except OSError:
            pass  # requests raises it for a body over the limit
"""


@dataclass(frozen=True)
class Protocol:
    """One way in which a reply can be compressed."""

    scheme: str
    steps: str
    """Of a plan."""
    code: str
    """Of a task."""


PROTOCOLS = {
    "body": Protocol("http", '[[request]]\nget = "/"\nexpect.contains = "x"', 'self.client.get("/", timeout=1.0).text'),
    "events": Protocol(
        "http",
        '[[request]]\nget = "/"\nstream = "sse"',
        'with self.client.get("/", stream=True, catch_response=True, timeout=1.0) as reply:\n'
        "                list(reply.events())",
    ),
    "messages": Protocol(
        "http",
        '[[flow]]\nname = "f"\n[[flow.step]]\nconnect = "/"\ncompression = true\n'
        '[[flow.step]]\nreceive = "next"\nexpect.contains = "never"',
        'with self.client.websocket("/", compression=True) as socket:\n                socket.receive(timeout=1.0)',
    ),
    "call": Protocol("grpc", '[[request]]\ngrpc = "g.S/One"\nmessage = {}', 'self.grpc("g.S/One", {}, timeout=1.0)'),
    "replies": Protocol(
        "grpc", '[[request]]\ngrpc = "g.S/All"\nmessage = {}', 'list(self.grpc.stream("g.S/All", {}, timeout=1.0))'
    ),
}


@dataclass(frozen=True)
class Seen(CommandOutcome):
    """What a run did."""

    report: dict[str, Any] | None
    ended: float
    """s after its first connection."""
    peak_bytes: int
    stall: float
    """The longest time, s, for which this machine stopped the lab."""


def trial(folder: Path, chance: Random) -> Judgement:
    kind, is_python = chance.choice(list(PROTOCOLS)), chance.random() < 0.5
    size, count, users = chance.randint(1, 60) * MIB, chance.randint(1, 30), chance.randint(1, 30)
    what = f"{users} {'Python' if is_python else 'native'} users, {kind}: {count} x {size // MIB} MiB"
    with InflatingTarget(kind, size, count) as target:
        name = _write(folder, PROTOCOLS[kind], target.port, users, is_python)
        arguments = ["-u", str(users), "-t", f"{LOAD_S:g}s"] if is_python else []
        seen = _run(folder, target, "run", name, "-s", "1s", *arguments)
    return Judgement(what, list(broken(seen)), seen.words)


def broken(seen: Seen) -> Iterator[str]:
    """What the run did not keep. The time for which this machine stood still may come more than once."""
    slack = MARGIN_S + 4 * seen.stall
    if seen.exit_code is None:
        yield "the command did not end"
        return
    if seen.exit_code not in OUTCOMES:
        yield f"the exit code is {seen.exit_code}"
    if "Traceback (most" in seen.words or "panicked" in seen.words:
        yield "a traceback is shown"
    if "lost" in seen.words:
        yield "a worker was lost"
    if seen.ended > LOAD_S + END_S + slack:
        yield f"a load of {LOAD_S:g} s ended after {seen.ended:.1f} s"
    if seen.peak_bytes > MOST_BYTES:
        yield f"a process took {seen.peak_bytes // MIB} MiB"
    for row in (seen.report or {}).get("endpoints", []):
        longest = (row.get("response_ms") or {}).get("max") or 0.0
        if longest / 1000 > TIMEOUT_S + slack and row["method"] in ("GET", "gRPC", "WS receive"):
            yield f"a request of {row['method']} with a limit of {TIMEOUT_S:g} s took {longest / 1000:.1f} s"


def _write(folder: Path, protocol: Protocol, port: int, users: int, is_python: bool) -> str:
    """Write what is run. Returns the name of its file."""
    (folder / "g.proto").write_text(PROTO)
    proto = 'proto = "g.proto"' if protocol.scheme == "grpc" else ""
    if is_python:
        text = SCRIPT.format(scheme=protocol.scheme, port=port, proto=proto, code=protocol.code)
        (folder / "locustfile.py").write_text(text)
        return "locustfile.py"
    text = PLAN.format(
        scheme=protocol.scheme,
        port=port,
        timeout=TIMEOUT_S,
        proto=proto,
        steps=protocol.steps,
        users=users,
        seconds=LOAD_S,
    )
    (folder / "plan.toml").write_text(text)
    return "plan.toml"


def _run(folder: Path, target: InflatingTarget, *arguments: str) -> Seen:
    report, output = folder / "run.json", folder / "output"
    command = [str(PLIMSOLL), *arguments, "--headless", "--summary", str(report)]
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file, env=os.environ | {"NO_COLOR": "1"})
    peak, stall, began = 0, 0.0, time.monotonic()
    while process.poll() is None and time.monotonic() - began < LIMIT_S:
        before = time.monotonic()
        peak = max(peak, _largest(process.pid))
        threading.Event().wait(SAMPLE_S)
        stall = max(stall, time.monotonic() - before - SAMPLE_S)
    code = process.poll()
    if code is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait()
    ended = time.monotonic() - (target.first or began)
    document = json.loads(report.read_text()) if report.exists() and report.stat().st_size else None
    return Seen(code, output.read_text(errors="replace"), document, ended, peak, stall)


def _largest(pid: int) -> int:
    """The largest resident set of the process and its children, bytes."""
    try:
        process = psutil.Process(pid)
        return max(each.memory_info().rss for each in (process, *process.children(recursive=True)))
    except psutil.Error:
        return 0
