"""Requests without a response, in whole runs: none is lost, and those that waited for long are failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CommandResult, CountingTarget

LOCUSTFILE = """
from locust import FastHttpUser, HttpUser, task

class Http(HttpUser):
    @task
    def ask(self):
        self.client.get("PATH")

class Fast(FastHttpUser):
    @task
    def ask(self):
        self.client.get("PATH")
"""
USERS = ("native", "Http", "Fast")


def _run(plimsoll: Command, target: CountingTarget, users: str, path: str, *arguments: str) -> CommandResult:
    if users == "native":
        return plimsoll("run", f"{target.url}{path}", "--headless", *arguments)
    plimsoll.write(LOCUSTFILE.replace("PATH", path))
    return plimsoll("run", "-f", "locustfile.py", users, "-H", target.url, "--headless", *arguments)


def _accounted(run: dict[str, Any]) -> int:
    total = run["total"]
    ended = sum(each["count"] for name, each in total["outcomes"].items() if name not in ("unanswered", "dropped"))
    assert ended == total["completed"] == total["requests"] - total["overdue"]
    return total["completed"] + total["unanswered"] + total["dropped"]


@pytest.mark.parametrize("users", USERS)
def test_arrivals_that_get_no_response_are_failures(plimsoll: Command, target: CountingTarget, users: str) -> None:
    limits = ("--threshold", "p50 < 60s", "--threshold", "errors < 1%", "--threshold", "unanswered < 1%")
    done = _run(plimsoll, target, users, "/never", "--rate", "20/s", "-t", "1s", "-s", "1s", *limits)
    assert done.code == 1, done
    run = plimsoll.stored()
    total = run["total"]
    assert _accounted(run) == run["generator"]["offered"] == 20
    assert (total["unanswered"], total["overdue"], total["failures"], total["requests"]) == (20, 20, 20, 20)
    assert total["response_ms"]["at_least"][:2] == ["mean", "50"]
    assert total["response_ms"]["percentiles"]["50"] >= 1000
    assert run["duration_s"] == pytest.approx(1, abs=0.5)
    assert "All 20 requests failed, with no response 1 s after the last arrival of the run." in done.out
    assert "p50: ≥" in done.out and "not shown to be < 60000 ms" in done.out
    assert "✗ errors < 1%" in done.out and "✗ unanswered < 1%" in done.out


@pytest.mark.parametrize("users", USERS)
def test_the_open_model_waits_for_its_responses(plimsoll: Command, target: CountingTarget, users: str) -> None:
    """Each takes 2 s: they all come after the load."""
    done = _run(plimsoll, target, users, "/late", "--rate", "20/s", "-t", "1s")
    assert done.code == 0, done
    run = plimsoll.stored()
    total = run["total"]
    assert _accounted(run) == run["generator"]["offered"] == 20
    assert (total["completed"], total["unanswered"], total["failures"]) == (20, 0, 0)
    assert total["response_ms"]["percentiles"]["50"] >= 2000 and not total["response_ms"]["at_least"]
    assert total["rps"] == 0, "nothing came within the time of the load"


@pytest.mark.parametrize("users", USERS)
def test_users_who_wait_for_a_target_that_hangs_are_failures(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    done = _run(plimsoll, target, users, "/never", "-u", "3", "-r", "3", "-t", "3s")
    assert done.code == 1, done
    run = plimsoll.stored()
    total = run["total"]
    assert _accounted(run) == target.total == 3
    assert (total["unanswered"], total["overdue"], total["failures"]) == (3, 3, 3)
    assert run["failures"][0]["outcome"] == "unanswered"


@pytest.mark.parametrize("users", USERS)
def test_requests_that_were_merely_in_flight_are_no_failures(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    done = _run(plimsoll, target, users, "/slow", "-u", "3", "-r", "3", "-t", "2s")
    assert done.code == 0, done
    run = plimsoll.stored()
    total = run["total"]
    assert _accounted(run) == target.total
    assert (total["overdue"], total["failures"]) == (0, 0)
    assert total["unanswered"] <= 3
    unanswered = total["outcomes"].get("unanswered")
    assert unanswered is None or unanswered["time_ms"]["count"] == unanswered["count"]
