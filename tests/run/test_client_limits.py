"""Options that limit what users take in, and how often they try to connect, in whole runs."""

from __future__ import annotations

import socket
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from tests.users.recording_server import RecordingServer, answer

if TYPE_CHECKING:
    from tests.command import Command, CommandResult

LOCUSTFILE = """
from locust import FastHttpUser, HttpUser, task

class Http(HttpUser):
    @task
    def index(self):
        self.client.get("/x")

class Fast(FastHttpUser):
    @task
    def index(self):
        self.client.get("/x")
"""
PLAN = """
target = "URL"
[[request]]
get = "/x"
expect = { lacks = "y" }
"""
USERS = ("plan", "Http", "Fast")
TRIED_AGAIN = "users who could not connect waited before they tried again: "


def _run(plimsoll: Command, users: str, url: str, *arguments: str) -> CommandResult:
    if users == "plan":
        plimsoll.write(PLAN.replace("URL", url), "plan.toml")
        return plimsoll("run", "plan.toml", "--headless", *arguments)
    plimsoll.write(LOCUSTFILE)
    return plimsoll("run", "-f", "locustfile.py", users, "-H", url, "--headless", *arguments)


def _messages(plimsoll: Command) -> list[tuple[str, str]]:
    return [(each["outcome"], each["message"]) for each in plimsoll.stored()["failures"]]


@pytest.fixture
def deserted() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--max-body=2KiB", "the response body is over the limit of 2048 bytes"),
        ("--max-decoded-body=512KiB", "the decoded body is over the limit of 524288 bytes"),
        ("--max-body-memory=1000", "the bodies in memory are over the limit of 1000 bytes"),
    ],
)
def test_a_body_over_a_limit_is_a_failure_that_says_which(
    plimsoll: Command, users: str, option: str, words: str
) -> None:
    packed = zlib.compress(bytes(40 << 20))
    with RecordingServer({"/x": answer(200, packed, (("Content-Encoding", "deflate"),))}) as target:
        done = _run(plimsoll, users, target.url, "--iterations", "3", option)
    assert done.code == 1, done
    [(outcome, message)] = _messages(plimsoll)
    assert outcome == "protocol"
    assert words in message
    assert plimsoll.stored()["total"]["failures"] == 3


JSON_PLAN = """
target = "URL"
timeout = "60s"
[[request]]
get = "/x"
expect.json = { "/3/a" = 1 }
extract.id = { json = "/5/a" }
[[phase]]
users = 1
[stop]
requests = 2
"""
MOST_RESIDENT = 700 << 20
"""Bytes. A tree of the body below has 2 GB."""
MEASURED = """
import resource, subprocess, sys
command = [sys.executable, "-c", "from plimsoll.cli import main; main()", "run", "plan.toml", "--headless"]
subprocess.run(command, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
"""
"""The run, and then the most resident bytes of any of its processes. A process that has ended and that its parent has
waited for counts for that parent, with its own children."""


def test_json_costs_a_worker_little_more_than_its_body(plimsoll: Command) -> None:
    packed = zlib.compress(b"[" + b",".join([b'{"a":1}'] * 3_000_000) + b"]")
    with RecordingServer({"/x": answer(200, packed, (("Content-Encoding", "deflate"),))}) as target:
        plimsoll.write(JSON_PLAN.replace("URL", target.url), "plan.toml")
        # A process of its own: the largest child counts, and other tests of this process have had children too.
        measured = subprocess.run(
            [sys.executable, "-c", MEASURED],
            cwd=plimsoll.directory,
            env=plimsoll.environment,
            capture_output=True,
            text=True,
        )
    assert measured.returncode == 0, measured
    assert int(measured.stdout.splitlines()[-1]) < MOST_RESIDENT


@pytest.mark.parametrize("size", ["0", "-1", "64 parrots", "1e3", ""])
def test_what_is_no_size_is_refused(plimsoll: Command, size: str) -> None:
    done = plimsoll("run", "http://127.0.0.1:9/", f"--max-body={size}")
    assert done.code == 2
    assert "is not a size; valid are 64MiB, 1.5GiB, 100KiB, 1000000" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("users", USERS)
def test_users_who_cannot_connect_wait_before_they_try_again(plimsoll: Command, users: str, deserted: str) -> None:
    done = _run(plimsoll, users, deserted, "-u", "4", "-r", "4", "-t", "1s")
    assert done.code == 1, done
    # At least half of 10, 20, 40, 80, 160, 320 and 640 ms between two tries of each.
    assert 4 <= plimsoll.stored()["total"]["failures"] <= 4 * 12
    assert TRIED_AGAIN in done.out


@pytest.mark.parametrize("users", USERS)
def test_a_run_may_have_them_try_at_once(plimsoll: Command, users: str, deserted: str) -> None:
    done = _run(plimsoll, users, deserted, "-u", "4", "-r", "4", "-t", "1s", "--no-connect-backoff")
    assert plimsoll.stored()["total"]["failures"] > 4 * 12
    assert TRIED_AGAIN not in done.out


@pytest.mark.parametrize("users", USERS)
def test_arrivals_are_sent_when_they_are_due_whether_anybody_can_connect_or_not(
    plimsoll: Command, users: str, deserted: str
) -> None:
    done = _run(plimsoll, users, deserted, "--rate", "100/s", "-t", "1s", "--max-users", "5")
    run = plimsoll.stored()
    assert (run["total"]["failures"], run["generator"]["offered"], run["generator"]["dropped"]) == (100, 100, 0)
    assert TRIED_AGAIN not in done.out
