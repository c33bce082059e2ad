from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plimsoll.load.guard_rails import Cap, GuardRails
from plimsoll.record.events import GuardStopped
from plimsoll.run.coordinator.run_guard import SECOND, RateAllowance, RunGuard
from plimsoll.run.loop import Loop
from plimsoll.run.plan import RunPlan
from plimsoll.run.result import Result
from plimsoll.run.transport.messages import Sent
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

    from plimsoll.errors import PlimsollError

TICK = SECOND // 20


def test_a_rate_at_the_cap_goes_on_for_ever() -> None:
    allowance = RateAllowance(100.0, 0)
    assert all(allowance.take(5, tick * TICK) is None for tick in range(1, 10_000))


def test_so_much_at_once_as_is_allowed_in_a_second() -> None:
    assert RateAllowance(100.0, 0).take(100, TICK) is None
    assert RateAllowance(100.0, 0).take(101, TICK) == "101 requests within 0.05 s"


def test_a_rate_above_the_cap_is_found_out_once_it_is_a_second_ahead() -> None:
    allowance = RateAllowance(100.0, 0)
    found = next(tick for tick in range(1, 10_000) if allowance.take(10, tick * TICK))
    assert 20 <= found <= 22, "200/s instead of 100/s are 100 ahead after a second"


def test_what_was_not_used_is_not_saved_up() -> None:
    allowance = RateAllowance(100.0, 0)
    assert allowance.take(0, 1000 * SECOND) is None
    assert allowance.take(101, 1000 * SECOND) == "101 requests within 0.00 s"


def test_stamps_of_several_workers_may_be_out_of_order() -> None:
    allowance = RateAllowance(100.0, 0)
    for tick in range(20, 400, 20):
        assert allowance.take(50, tick * TICK) is None
        assert allowance.take(50, (tick - 10) * TICK) is None


def test_less_than_one_per_second_still_lets_one_through() -> None:
    allowance = RateAllowance(0.5, 0)
    assert allowance.take(1, TICK) is None
    assert allowance.take(1, SECOND) is not None


def test_the_counts_of_the_workers_add_up_and_the_run_fails_once() -> None:
    loop = Loop()
    failed: list[PlimsollError] = []
    result = Result(RunView())
    guard = RunGuard(loop, result, failed.append, lambda _: None)
    guard.begin(RunPlan(rails=GuardRails(max_rate=Cap(100.0, "/etc/x"))), 0)
    for worker in (0, 1, 0, 1):
        guard.count(worker, Sent(0, 60))
    loop.close()
    assert [str(error) for error in failed] == [
        "the run was ended by max_rate = 100/s (/etc/x): it sent 120 requests within 0.00 s"
    ]
    assert result.facts.guard_stopped == GuardStopped(
        limit="max_rate = 100/s (/etc/x)", how="it sent 120 requests within 0.00 s"
    )


def test_a_closed_model_run_over_the_cap_ends_soon_and_says_why(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "5", "-t", "30s", "--headless", "--max-rate", "50")
    assert done.code == 2, done
    assert "plimsoll: the run was ended by --max-rate 50/s: it sent " in done.err
    assert target.total > 50
    run = plimsoll.stored()["run"]
    assert (run["status"], run["ended"] - run["started"] < 15) == ("failed", True), "it was to take 30 s"
    assert run["facts"]["guard_stopped"]["limit"] == "--max-rate 50/s"


def test_python_users_are_counted_over_all_processes(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        "from locust import HttpUser, task\nclass A(HttpUser):\n    @task\n    def a(self): self.client.get('/')\n"
    )
    done = plimsoll(
        "run", "-H", target.url, "-u", "4", "-r", "4", "-t", "30s", "--headless", "--processes", "2", "--max-rate", "40"
    )
    assert done.code == 2, done
    assert "the run was ended by --max-rate 40/s: it sent " in done.err
    assert target.total > 40


def test_an_open_model_run_at_the_cap_is_left_alone(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "--rate", "50/s", "-t", "3s", "--headless", "--max-rate", "50/s")
    assert done.code == 0, done
    assert target.total == 150


def test_a_run_without_an_end_is_ended_by_the_cap_on_its_time(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "--rate", "20/s", "--headless", "--max-run-time", "1s", "--out", "jsonl=o")
    assert done.code == 0, done
    assert "the run was ended by --max-run-time 1s" in done.err
    assert "the run was ended by --max-run-time 1s" in plimsoll.stored()["run"]["notes"]
    lines = map(json.loads, (plimsoll.directory / "o").read_text().splitlines())
    (stopped,) = (line for line in lines if line["type"] in ("guard_stopped", "note"))
    assert (stopped["text"], stopped["limit"]) == ("the run was ended by --max-run-time 1s", "--max-run-time 1s")
