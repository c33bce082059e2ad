from __future__ import annotations

import resource

import pytest

from plimsoll.cli import checks
from plimsoll.cli.checks import UNKNOWN


@pytest.mark.parametrize(
    ("check", "fact", "ok", "value"),
    [
        (checks.ports, "32768\t60999", True, "32768–60999: 28232 connections to one address"),
        (checks.ports, "50000 60999", False, "50000–60999: 11000 connections to one address"),
        (checks.ports, None, True, UNKNOWN),
        (checks.time_wait, "0", False, "0: ports in TIME_WAIT are reused never"),
        (checks.time_wait, "1", True, "1: ports in TIME_WAIT are reused always"),
        (checks.time_wait, "2", True, "2: ports in TIME_WAIT are reused on loopback only"),
        (checks.time_wait, None, True, UNKNOWN),
        (checks.backlog, 4096, True, "4096"),
        (checks.backlog, 128, False, "128"),
        (checks.backlog, None, True, UNKNOWN),
        (checks.clock, "tsc", True, "tsc"),
        (checks.clock, "kvm-clock", True, "kvm-clock"),
        (checks.clock, "hpet", False, "hpet"),
        (checks.clock, None, True, UNKNOWN),
        (checks.cpus, 8.0, True, "8 usable: as many workers (--processes -1)"),
        (checks.cpus, 1.5, False, "1.5 usable: as many workers (--processes -1)"),
        (checks.governor, "performance", True, "performance"),
        (checks.governor, "powersave", False, "powersave"),
        (checks.governor, None, True, "none: the host sets the speed"),
        (checks.stamps, True, True, "by the kernel"),
        (checks.stamps, False, False, "by this program"),
        (checks.memory, 8 << 30, True, "8.00 GiB available"),
        (checks.memory, 100 << 20, False, "100 MiB available"),
    ],
)
def test_one_fact_each(check, fact, ok, value):
    result = check(fact)
    assert (result.ok, result.value) == (ok, value)
    assert bool(result.advice) != ok


def test_open_files_are_judged_by_the_hard_limit_because_a_run_raises_the_soft_one():
    assert checks.open_files(1024, 1_048_576).ok
    assert not checks.open_files(1024, 4096).ok
    assert "4096 allow 3996 users" in checks.open_files(1024, 4096).advice
    unlimited = checks.open_files(1024, resource.RLIM_INFINITY)
    assert (unlimited.ok, unlimited.value) == (True, "soft 1024, hard unlimited")


def test_this_machine_has_a_value_for_each():
    names = [check.name for check in checks.all_checks()]
    assert len(set(names)) == len(names) == 9
    assert all(check.value for check in checks.all_checks())
