"""A run reports of event streams, WebSockets and HTTP/2 what the target has counted, whatever happens to either.

A message or request counts for the target as soon as it has all of it. With each fault but a kill, its count is ours to
the last one. A target that is killed may take along what it had not read; a worker that is killed takes along what it
had not reported, of at most `UNREPORTED_S`.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest
from labs.robustness.promise import REPORT_S
from tests.command import wait_until
from tests.run.faulty_target import EVENTS, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command, CommandResult

USERS = 6
UNSENT = ("connect", "dropped")
UNREPORTED_S = REPORT_S + 1.0
"""With a second for a busy machine, before and after the kill."""

PLANS = {
    "sse": '[[flow.step]]\npost = "/events"\nbody = "{body}"\nstream = "sse"\n',
    "ws": '[[flow.step]]\nconnect = "/chat"\n[[flow.step]]\nsend = "{body}"\n[[flow.step]]\nreceive = "next"\n',
    "h2": '[[flow.step]]\npost = "/x"\nbody = "{body}"\n',
}
PLAN = """
target = "http://{place}"
{options}
[[flow]]
{steps}
[[phase]]
users = {users}
"""

CLASS = """
from plimsoll import HttpUser

class User(HttpUser):
    host = "http://{place}"
    {options}
    socket = None

    def sse(self):
        with self.client.post("/events", data=BODY, stream=True, catch_response=True) as response:
            for _ in response.events():
                pass

    def ws(self):
        if not self.socket:
            self.socket = self.client.websocket("/chat")
        if self.socket.send(BODY):
            self.socket.receive()

    def h2(self):
        self.client.post("/x", data=BODY)

    tasks = [{protocol}]

BODY = "{body}"
"""


class Case(NamedTuple):
    protocol: str
    fault: str
    users: str
    """"native" or "python"."""


CASES = [
    Case(protocol, fault, users)
    for protocol in PLANS
    for fault in ("reset", "goaway", "slow", "killed", "worker killed")
    for users in ("native", "python")
    if fault != "goaway" or protocol == "h2"
]


class Target:
    """Another process."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        assert process.stdout is not None
        self.process, self._folder = process, folder
        self.place = process.stdout.readline().strip()

    def received(self) -> list[float]:
        return times(self._folder, "received")

    def events(self) -> int:
        return len(times(self._folder, "events"))


@contextmanager
def running(case: Case, folder: Path) -> Iterator[Target]:
    command = [sys.executable, "-m", "tests.run.faulty_target", case.protocol, case.fault, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    try:
        yield Target(process, folder)
    finally:
        process.kill()
        process.communicate()


def load(case: Case, place: str, folder: Path) -> list[str]:
    """The arguments of `plimsoll run`."""
    body = "x" * (60_000 if case.fault == "slow" else 10)
    # A reset ends the requests of all users that share a connection, also those that have not arrived.
    shared = 1 if case.fault == "reset" else 3
    options = f"http2 = true\n{{}}users_per_connection = {shared}\n" if case.protocol == "h2" else ""
    if case.users == "native":
        steps = PLANS[case.protocol].format(body=body)
        file = folder / "plan.toml"
        file.write_text(PLAN.format(place=place, options=options.format(""), steps=steps, users=USERS))
        return [str(file)]
    file = folder / "own.py"
    text = CLASS.format(
        place=place, options=options.format(" " * 4).replace("true", "True"), protocol=case.protocol, body=body
    )
    file.write_text(text)
    return ["-f", str(file), "-u", str(USERS), "-r", str(USERS * 10)]


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_the_target_has_counted_what_is_reported(plimsoll: Command, tmp_path: Path, case: Case) -> None:
    with running(case, tmp_path) as target:
        arguments = ["run", *load(case, target.place, tmp_path), "--headless", "--summary", "run.json"]
        if "killed" in case.fault:
            process = plimsoll.start(*arguments, "-t", "60s", "--processes", "2")
            wait_until(lambda: len(target.received()) >= 20 * USERS)
            victim = target.process if case.fault == "killed" else _worker(process)
            moment = time.monotonic()
            victim.kill()
            time.sleep(1.0)  # the run goes on without it
            process.send_signal(signal.SIGINT)
            done = plimsoll.end(process)
        else:
            moment = 0.0
            done = plimsoll(*arguments, "--iterations", "80", "-s", "30s")
        document = json.loads((plimsoll.directory / "run.json").read_text())
        judge(case, target, document, done, moment)


def judge(case: Case, target: Target, document: dict[str, Any], done: CommandResult, moment: float) -> None:
    rows = {each["method"]: each for each in document["endpoints"]}
    row = rows["message out" if case.protocol == "ws" else "POST"]
    outcomes = {name: each["count"] for name, each in row["outcomes"].items() if each["count"]}
    sent = sum(count for name, count in outcomes.items() if name not in UNSENT)
    if case.fault != "goaway":  # requests beyond it have not been taken
        sent += row.get("retries", 0)
    answered = rows["WS receive"] if case.protocol == "ws" else row
    successes = answered["outcomes"].get("success", {"count": 0})["count"]
    received = target.received()
    assert successes > 0, done
    if case.fault == "killed":
        assert successes <= len(received) <= successes + USERS, done
    elif case.fault == "worker killed":
        near = sum(abs(at - moment) <= UNREPORTED_S for at in received)
        assert sent <= len(received) <= sent + near, done
    else:
        assert len(received) == sent, done
        assert (len(received) - successes > 0) == (case.fault == "reset"), done
    if case.protocol == "sse":
        events = rows["each event"]["requests"]
        # Events are in the second of their arrival. What a killed worker has reported ends with one.
        cut = USERS if case.fault == "worker killed" else 0
        assert (successes - cut) * EVENTS <= events <= target.events(), done
        if case.fault == "slow":
            assert events == target.events(), done


def _worker(process: subprocess.Popen[str]) -> psutil.Process:
    """The worker with the index 1: the main node of a locustfile is another one."""
    found = psutil.Process(process.pid).children()
    return next(each for each in found if each.cmdline()[-2:-1] and each.cmdline()[-1] == "1")
