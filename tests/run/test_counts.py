"""A run reports of event streams, WebSockets, HTTP/2 and gRPC what the target has counted, whatever happens to either.

A message or request counts for the target as soon as it has all of it. With each fault but a kill, its count is ours to
the last one. A target that is killed may take along what it had not read; a worker that is killed takes along what it
had not reported, of at most `UNREPORTED_S`.
"""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest
from labs.robustness.journal_target import EVENTS, times
from labs.robustness.promise import REPORT_S
from labs.robustness.protocols import CLASS, PROTO, STEPS, TrialTarget, target_of
from tests.command import wait_until

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command, CommandResult

USERS = 6
UNSENT = ("connect", "dropped")
HTTP2 = ("h2", "grpc")
UNREPORTED_S = REPORT_S + 1.0
"""With a second for a busy machine, before and after the kill."""

PLAN = """
target = "http://{place}"
{options}
[[flow]]
{steps}
[[phase]]
users = {users}
"""


class Case(NamedTuple):
    protocol: str
    fault: str
    users: str
    """"native" or "python"."""


CASES = [
    Case(protocol, fault, users)
    for protocol in STEPS
    for fault in ("reset", "goaway", "slow", "killed", "worker killed")
    for users in ("native", "python")
    if fault != "goaway" or protocol in HTTP2
]


def load(case: Case, place: str, folder: Path) -> list[str]:
    """The arguments of `plimsoll run`."""
    body = "x" * (60_000 if case.fault == "slow" else 10)
    # A reset ends the requests of all users that share a connection, also those that have not arrived.
    shared = 1 if case.fault == "reset" else 3
    options = f"http2 = true\n{{}}users_per_connection = {shared}\n" if case.protocol in HTTP2 else ""
    if case.users == "native":
        if case.protocol == "grpc":
            (folder / "journal.proto").write_text(PROTO)
            options += 'proto = "journal.proto"\n'
        steps = STEPS[case.protocol].format(body=body)
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
    with target_of(case.protocol, tmp_path, case.fault) as target:
        arguments = ["run", *load(case, target.place, tmp_path), "--headless", "--summary", "run.json"]
        if "killed" in case.fault:
            process = plimsoll.start(*arguments, "-t", "60s", "--processes", "2")
            wait_until(lambda: len(target.arrivals()) >= 20 * USERS)
            victim = psutil.Process(target.pid) if case.fault == "killed" else _worker(process)
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


def judge(case: Case, target: TrialTarget, document: dict[str, Any], done: CommandResult, moment: float) -> None:
    rows = {each["method"]: each for each in document["endpoints"]}
    row = rows[{"ws": "message out", "grpc": "gRPC"}.get(case.protocol, "POST")]
    outcomes = {name: each["count"] for name, each in row["outcomes"].items() if each["count"]}
    sent = sum(count for name, count in outcomes.items() if name not in UNSENT)
    if case.fault != "goaway":  # requests beyond it have not been taken
        sent += row.get("retries", 0)
    answered = rows["WS receive"] if case.protocol == "ws" else row
    successes = answered["outcomes"].get("success", {"count": 0})["count"]
    received = target.arrivals()
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
        assert (successes - cut) * EVENTS <= events <= len(times(target.folder, "events")), done
        if case.fault == "slow":
            assert events == len(times(target.folder, "events")), done


def _worker(process: subprocess.Popen[str]) -> psutil.Process:
    """The worker with the index 1: the main node of a locustfile is another one."""
    found = psutil.Process(process.pid).children()
    return next(each for each in found if each.cmdline()[-2:-1] and each.cmdline()[-1] == "1")
