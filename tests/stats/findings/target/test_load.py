from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.stats.findings.making import found, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.target.load import full, waits
from plimsoll.stats.machine import MACHINE
from plimsoll.stats.study import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Trial

SECONDS = np.arange(0.0, 30.0)


def _series(source: str, name: str, value: float | Sequence[float], unit: str = "cores") -> Series:
    return Series(source, name, unit, SECONDS, np.full(30, 1.0) * value)


def _run(users: float, cores: dict[str, float], processes: int = 4, **busy: float) -> Trial:
    """busy: cores by source; `machine` is the machine."""
    series = []
    for source, value in busy.items():
        name = MACHINE if source == "machine" else source
        series.append(_series(name, "cpu", value))
        if name != MACHINE:
            series.append(_series(name, "processes", processes, ""))
    return run(users, observed=tuple(series), cores=cores)


def test_a_full_machine_is_told_with_who_uses_it() -> None:
    cores = {"app": 2.0, "db": 2.0, MACHINE: 2.0}
    (finding,) = found(
        full,
        study(
            _run(10, cores, app=0.4, db=0.1, machine=0.7),
            _run(50, cores, app=1.1, db=0.4, machine=1.96),
            _run(100, cores, app=1.1, db=0.4, machine=1.99),
        ),
    )
    assert said(finding).statement == (
        "this machine is full from 50 users on: 1.96 of 2 cores are busy, 0.7 at 10 users (app 1.1, db 0.4 and the "
        "load generator and all else 0.46)."
    )
    assert finding.where.level is not None
    assert finding.where.level.value == 50


def test_a_full_machine_of_which_the_target_uses_little_is_a_caution() -> None:
    """The load generator or other programs fill it: what the target carries is not known."""
    cores = {"app": 2.0, MACHINE: 2.0}
    (finding,) = found(full, study(_run(10, cores, app=0.05, machine=2.0)))
    assert finding.weight == "warning"
    assert said(finding).statement == (
        "this machine is full: 2 of 2 cores are busy (app 0.05 and the load generator and all else 1.95). The target "
        "uses a small part of it, so it waits for the load generator or other programs: times and rates there are not "
        "its own."
    )
    (finding,) = found(full, study(_run(10, cores, app=0.6, machine=2.0)))
    assert finding.weight == "insight"


def test_one_process_that_runs_one_thread_is_full_at_one_core() -> None:
    cores = {"app": 8.0, MACHINE: 8.0}
    (finding,) = found(full, study(_run(10, cores, processes=1, app=0.98, machine=1.4)))
    assert said(finding).statement == (
        "the CPU of app is full: 0.98 of 1 core, which is all if its process runs one thread at a time."
    )


def test_a_quota_is_a_limit_of_its_own() -> None:
    cores = {"app": 0.5, MACHINE: 8.0}
    (finding,) = found(full, study(_run(10, cores, app=0.49, machine=1.4)))
    assert said(finding).statement == "the CPU of app is full: 0.49 of 0.5 cores."


@pytest.mark.parametrize(
    ("cores", "processes", "busy"),
    [
        ({"app": 8.0, MACHINE: 8.0}, 1, 1.9),  # one process, two threads at work
        ({"app": 8.0, MACHINE: 8.0}, 4, 2.0),
        ({}, 4, 1.0),
        ({"app": 2.0, MACHINE: 2.0}, 4, 1.95),  # told of the machine, not once more of the process
    ],
)
def test_what_is_not_full(cores: dict[str, float], processes: int, busy: float) -> None:
    assert found(full, study(_run(10, cores, processes=processes, app=busy))) == []


def test_the_warm_up_and_single_seconds_do_not_make_it_full() -> None:
    values = np.where(SECONDS < 10, 1.0, 0.2)
    values[20:24] = 1.0
    cores = {"app": 1.0}
    trial = run(10, observed=(_series("app", "cpu", list(values)),), cores=cores, warmup=10.0)
    assert found(full, study(trial)) == []


def _waiting(users: float, value: float | Sequence[float], name: str = "waiting for locks", **known: Any) -> Trial:
    return run(users, observed=(_series("db", name, value, known.pop("unit", "")),), **known)


def test_what_waits_is_told_with_where_it_does_not() -> None:
    (finding,) = found(waits, study(_waiting(10, 0.0), _waiting(50, list(SECONDS))))
    assert said(finding).statement == (
        "db: waiting for locks is 14.5 on average at 50 users (at most 29), 0 at 10 users."
    )
    assert evidence_of(finding)["lowest_level"] == 0


@pytest.mark.parametrize(
    "name", ["hikaricp_connections_pending", "db_pool_waiters{pool=\"a\"}", "tasks_queued", "queue depth", "backlog"]
)  # fmt: skip
def test_queues_are_known_by_their_names(name: str) -> None:
    (finding,) = found(waits, study(_waiting(10, 5.0, name)))
    assert said(finding).statement == f"db: {name} is 5 on average (at most 5)."


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("waiting_seconds", ""), ("queue_limit", ""), ("waiting", "/s"), ("unqueueable", ""), ("awaits", ""),
        ('requests{handler="queue"}', ""),
    ],
)  # fmt: skip
def test_what_is_called_alike_but_does_not_count_what_waits(name: str, unit: str) -> None:
    assert found(waits, study(_waiting(10, 5.0, name, unit=unit))) == []


def test_as_many_as_at_the_lowest_level_is_nothing_of_the_load() -> None:
    assert found(waits, study(_waiting(10, 5.0), _waiting(50, 6.0))) == []
