"""Options that limit what users take in, and how often they try to connect, in whole runs."""

from __future__ import annotations

import socket
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
