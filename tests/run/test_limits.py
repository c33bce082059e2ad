from __future__ import annotations

import re
import resource
import subprocess
import sys

import pytest

from plimsoll.run.limits import MANY, SPARE, _too_many, open_files, share, users_per_process

PROGRAM = """
import resource, sys
from plimsoll.errors import LimitError
from plimsoll.run.limits import ensure_open_files, _too_many
soft, hard, users, processes = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
plain = resource.setrlimit
def set_as_anybody(which, limits):
    if limits[1] > hard:
        raise ValueError("not allowed to raise maximum limit")
    plain(which, limits)
resource.setrlimit = set_as_anybody
try:
    ensure_open_files(users, processes)
except LimitError as error:
    print("refused:", error)
else:
    print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""
"""In a process of its own, as limits cannot be raised again; root, who could raise them, is held back."""


def _ensure(soft: int, hard: int, users: int, processes: int) -> str:
    command = [sys.executable, "-c", PROGRAM, str(soft), str(hard), str(users), str(processes)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(("users", "processes", "most"), [(10, 1, 10), (10, 3, 4), (9, 3, 3), (1, 4, 1)])
def test_users_are_dealt_evenly(users: int, processes: int, most: int) -> None:
    assert users_per_process(users, processes) == most


@pytest.mark.parametrize(("total", "of"), [(10, 3), (3, 3), (2, 5), (0, 2), (31, 2)])
def test_shares_add_up_and_differ_by_one_at_most(total: int, of: int) -> None:
    shares = [share(total, index, of) for index in range(of)]
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("hard", "expected"), [(1000, 2 * (1000 - SPARE)), (SPARE, 2), (resource.RLIM_INFINITY, 2 * MANY)]
)
def test_the_limit_of_open_files_says_how_many_users_there_can_be(
    monkeypatch: pytest.MonkeyPatch, hard: int, expected: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10, hard))
    assert open_files(2) == expected


def test_a_limit_that_is_high_enough_stays_as_it_is() -> None:
    assert _ensure(500, 1000, 100, 1) == "500 1000"


def test_the_soft_limit_is_raised_to_what_is_needed() -> None:
    assert _ensure(200, 1000, 500, 1) == f"{500 + SPARE} 1000"
    assert _ensure(200, 1000, 1000, 2) == f"{500 + SPARE} 1000"


def test_too_low_a_hard_limit_is_refused_with_what_to_do() -> None:
    refusal = _ensure(200, 400, 100_000, 4)
    assert re.match(
        r"refused: 400 open files are the limit of each process: 4 workers can have about 1,000 users"
        r"(, and \d+ workers, one for each CPU, about [\d,]+)?; raise `ulimit -n`",
        refusal,
    )


def test_more_processes_are_not_advised_where_they_would_not_help() -> None:
    assert "--processes" not in _ensure(100, 110, 1000, 1)


def test_a_number_of_workers_that_nobody_asked_for_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.run.limits.usable_cpus", lambda: 4)
    one = "each process: 1 worker can have about 370 users, and 4 workers, one for each CPU, about 1,400; raise"
    assert one in _too_many(10_000, 1, 500)
    assert "each process: 8 workers can have about 2,900 users; raise" in _too_many(10_000, 8, 500)


def test_this_machine_allows_a_few_users() -> None:
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] > SPARE


def test_a_limit_without_room_for_a_worker_says_so() -> None:
    message = _too_many(500, 1, 100)
    assert message.startswith(f"100 open files are the limit of each process, and a worker needs {SPARE} for itself")
    assert " 0 users" not in message
