"""Whole runs in the open model: what the schedule says, what was sent, what the target counted and what is reported."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll.record import merge
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.command import Command, CommandResult, CountingTarget

    from plimsoll.record import Interval

LOCUSTFILE = """
from locust import HttpUser, task

class Visitor(HttpUser):
    @task
    def index(self):
        self.client.get("PATH")
"""


def _run(plimsoll: Command, target: CountingTarget, users: str, *arguments: str, path: str = "/index") -> CommandResult:
    """A run of native or Python users who request one path."""
    if users == "native":
        return plimsoll("run", target.url + path, "--headless", *arguments)
    plimsoll.write(LOCUSTFILE.replace("PATH", path))
    return plimsoll("run", "-f", "locustfile.py", "-H", target.url, "--headless", *arguments)


def _kept(plimsoll: Command) -> list[Interval]:
    with Store.open(str(plimsoll.store), create=False) as store:
        return merge(store.run("last").intervals())


def _balance(run: dict[str, Any]) -> tuple[int, int, int, int]:
    """Offered, completed, dropped, unanswered."""
    total = run["total"]
    return run["generator"]["offered"], total["completed"], total["dropped"], total["unanswered"]


@pytest.mark.parametrize(
    ("users", "processes", "shape", "expected"),
    [
        ("native", 2, ("--rate", "197/s", "-t", "1s"), 197),
        ("python", 2, ("--rate", "197/s", "-t", "1s"), 197),
        ("native", 1, ("--steps", "500ms:60/s,500ms:0/s,1s:11/s"), 41),
        ("python", 1, ("--ramp", "20/s..100/s", "-t", "1s"), 60),
        ("native", 2, ("--spike", "base=40/s,peak=200/s,at=500ms,hold=250ms", "-t", "1s"), 80),
    ],
)
def test_offered_is_what_the_schedule_says_and_what_the_target_counted(
    plimsoll: Command, target: CountingTarget, users: str, processes: int, shape: Sequence[str], expected: int
) -> None:
    done = _run(plimsoll, target, users, *shape, "--processes", str(processes))
    assert done.code == 0, done
    assert target.total == expected
    assert _balance(plimsoll.stored()) == (expected, expected, 0, 0)


def test_poisson_arrivals_are_the_same_again_from_the_same_seed(plimsoll: Command, target: CountingTarget) -> None:
    counted = []
    for seed, processes in (("1", "1"), ("1", "2"), ("2", "1")):
        before = target.total
        arguments = ("--rate", "600/s", "--spacing", "poisson", "-t", "500ms", "--seed", seed, "--processes", processes)
        done = _run(plimsoll, target, "native", *arguments)
        assert done.code == 0, done
        counted.append(target.total - before)
        assert _balance(plimsoll.stored()) == (counted[-1], counted[-1], 0, 0)
    assert counted[0] == counted[1] != counted[2]
    assert all(200 < each < 400 for each in counted)


@pytest.mark.parametrize("users", ["native", "python"])
def test_a_warm_up_is_kept_but_in_no_figure(plimsoll: Command, target: CountingTarget, users: str) -> None:
    # The last of the warm-up are answered after it, and are no results either.
    done = _run(plimsoll, target, users, "--rate", "40/s", "--warmup", "1s", "-t", "1s", path="/slow")
    assert done.code == 0, done
    assert target.total == 80
    kept = _kept(plimsoll)
    assert sum(each.count for each in kept) == 80
    run = plimsoll.stored()
    assert run["warmup_s"] == 1
    assert _balance(run) == (40, 40, 0, 0)
    assert run["total"]["requests"] == 40
    assert "Aggregated 100 % 40 0" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("users", "arguments"),
    [
        ("native", ("--rate", "200/s", "-t", "50s", "--iterations", "31")),
        ("native", ("--rate", "200/s", "-t", "50s", "--requests", "31")),
        ("native", ("-u", "4", "--iterations", "31")),
        ("native", ("-u", "4", "--requests", "31")),
        ("native", ("-u", "1", "--iterations", "31")),
        ("python", ("--rate", "200/s", "--iterations", "31")),
    ],
)
def test_a_number_of_iterations_or_requests_is_exact_over_two_workers(
    plimsoll: Command, target: CountingTarget, users: str, arguments: Sequence[str]
) -> None:
    done = _run(plimsoll, target, users, *arguments, "--processes", "2")
    assert done.code == 0, done
    assert target.total == 31
    run = plimsoll.stored()
    offered, *others = _balance(run)
    assert others == [31, 0, 0]
    assert offered == (0 if "-u" in arguments else 31)
    assert run["run"]["status"] == "finished"
    assert run["duration_s"] < 30


@pytest.mark.parametrize(("users", "processes"), [("native", 1), ("native", 2), ("python", 1)])
def test_what_finds_all_users_busy_is_dropped_and_counted(
    plimsoll: Command, target: CountingTarget, users: str, processes: int
) -> None:
    done = _run(
        plimsoll, target, users, "--rate", "40/s", "-t", "1s", "--max-users", str(processes), "--on-saturation", "drop",
        "--processes", str(processes), path="/slow",
    )  # fmt: skip
    assert done.code == 0, done
    offered, requests, dropped, cancelled = _balance(plimsoll.stored())
    assert (offered, cancelled, requests + dropped) == (40, 0, 40)
    assert requests == target.total
    # Each user is busy for 0.3 s, and so is there for 4 arrivals in a second at the most.
    assert 1 <= requests <= 4 * processes + processes
    assert "dropped" in done.out


@pytest.mark.parametrize("users", ["native", "python"])
def test_what_finds_all_users_busy_waits_and_its_wait_is_response_time(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    done = _run(plimsoll, target, users, "--rate", "8/s", "-t", "1s", "--max-users", "1", "-s", "50s", path="/slow")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert _balance(run) == (8, 8, 0, 0)
    assert target.total == 8
    # The last is due at 0.875 s, and sent after seven of 0.3 s.
    assert run["total"]["response_ms"]["max"] >= 8 * 300 - 875
    assert run["total"]["service_ms"]["min"] < run["total"]["response_ms"]["max"] / 2
    assert max(run["generator"]["waiting_by_second"].values()) >= 1


PLAN = """
target = "TARGET"

[[flow]]
name = "two"

[[flow.step]]
name = "first"
get = "/first"
extract.word = { regex = "h(el+)o" }

[[flow.step]]
name = "second"
get = "/second/${word}"

[[phase]]
rate = "20/s"
duration = "1s"

[[phase]]
rate = "30/s"
duration = "1s"
"""


def test_a_plan_with_two_phases_steps_and_a_value_from_one_for_the_other(
    plimsoll: Command, target: CountingTarget
) -> None:
    plimsoll.write(PLAN.replace("TARGET", target.url), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "--processes", "2")
    assert done.code == 0, done
    assert dict(target.counts) == {"/first": 50, "/second/ell": 50}
    run = plimsoll.stored()
    assert {each["name"]: each["requests"] for each in run["endpoints"]} == {"first": 50, "second": 50}
    assert _balance(run) == (50, 100, 0, 0)


def test_the_targets_of_a_vegeta_file_are_sent_in_turn(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write("\n".join(f"GET {target.url}/{each}\n" for each in "abc"), "targets.txt")
    done = plimsoll("run", "targets.txt", "--headless", "--rate", "30/s", "-t", "1s", "--processes", "2")
    assert done.code == 0, done
    assert dict(target.counts) == {"/a": 10, "/b": 10, "/c": 10}


@pytest.mark.parametrize(("users", "processes"), [("native", 2), ("python", 1)])
def test_after_a_signal_everything_that_was_offered_is_accounted_for(
    plimsoll: Command, target: CountingTarget, users: str, processes: int
) -> None:
    plimsoll.write(LOCUSTFILE.replace("PATH", "/late"))
    what = (f"{target.url}/late",) if users == "native" else ("-H", target.url)
    process = plimsoll.start(
        "run", *what, "--headless", "--rate", "50/s", "-t", "50s", "-s", "1", "--processes", str(processes),
        start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: target.total > 40)
    os.killpg(process.pid, signal.SIGINT)
    done = plimsoll.end(process)
    assert done.code == 1, "the target takes 2 s, and had 1 s after the last arrival"
    run = plimsoll.stored()
    offered, requests, dropped, cancelled = _balance(run)
    assert offered == requests + dropped + cancelled
    assert cancelled > 0
    assert run["run"]["status"] == "stopped"
    assert target.total == requests + cancelled


@pytest.mark.parametrize("users", ["native", "python"])
def test_a_target_that_never_answers_does_not_hold_the_run_up(
    plimsoll: Command, target: CountingTarget, users: str
) -> None:
    done = _run(plimsoll, target, users, "--rate", "20/s", "-t", "1s", "-s", "1", path="/never")
    assert done.code == 1, done
    run = plimsoll.stored()
    assert _balance(run) == (20, 0, 0, 20)
    assert run["run"]["status"] == "finished"
    assert target.total == 20
