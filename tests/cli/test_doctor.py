from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys

import pytest

from plimsoll.cli import doctor
from plimsoll.cli.doctor import UNKNOWN, MachineCheck
from plimsoll.cli.parts import measured
from plimsoll.run.sizing import known_capacities


@pytest.fixture
def found(monkeypatch):
    """Makes the doctor find these checks."""

    def find(*checks: MachineCheck) -> None:
        monkeypatch.setattr(sys.modules["plimsoll.cli.doctor"], "all_checks", lambda: list(checks))

    return find


def test_all_is_well(plimsoll, found):
    found(MachineCheck("clock source", "tsc"), MachineCheck("CPUs", "8 usable"))
    result = plimsoll("doctor")
    assert result.exit_code == 0
    assert result.output == "ok    clock source  tsc\nok    CPUs          8 usable\n"


def test_a_warning_says_what_to_change(plimsoll, found):
    found(MachineCheck("clock source", "hpet", "use tsc"), MachineCheck("CPUs", "8 usable"))
    result = plimsoll("doctor")
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "warn  clock source  hpet",
        "                    → use tsc",
        "ok    CPUs          8 usable",
    ]


def test_json(plimsoll, found):
    found(MachineCheck("clock source", "hpet", "use tsc"), MachineCheck("CPUs", "8 usable"))
    result = plimsoll("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "schema": "plimsoll.doctor",
        "version": 1,
        "checks": [
            {"name": "clock source", "value": "hpet", "verdict": "warn", "advice": "use tsc"},
            {"name": "CPUs", "value": "8 usable", "verdict": "ok", "advice": ""},
        ],
    }


def test_a_real_limit_is_seen():
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 512))

    command = [sys.executable, "-c", "from plimsoll.cli import main; main()", "doctor", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, preexec_fn=few_files)
    assert done.returncode == 1
    files = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "open files")
    assert (files["verdict"], files["value"]) == ("warn", "soft 256, hard 512: about 412 users per worker")


def test_the_module_and_the_command_have_one_name():
    assert doctor.doctor.name == "doctor"


@pytest.mark.parametrize(
    ("check", "fact", "ok", "value"),
    [
        (doctor.ports, "32768\t60999", True, "32768–60999: 28232 connections to one address"),
        (doctor.ports, "50000 60999", False, "50000–60999: 11000 connections to one address"),
        (doctor.ports, None, True, UNKNOWN),
        (doctor.time_wait, "0", False, "0: ports in TIME_WAIT are reused never"),
        (doctor.time_wait, "1", True, "1: ports in TIME_WAIT are reused always"),
        (doctor.time_wait, "2", True, "2: ports in TIME_WAIT are reused on loopback only"),
        (doctor.time_wait, None, True, UNKNOWN),
        (doctor.backlog, 4096, True, "4096"),
        (doctor.backlog, 128, False, "128"),
        (doctor.backlog, None, True, UNKNOWN),
        (doctor.clock, "tsc", True, "tsc"),
        (doctor.clock, "kvm-clock", True, "kvm-clock"),
        (doctor.clock, "hpet", False, "hpet"),
        (doctor.clock, None, True, UNKNOWN),
        (doctor.cpus, 8.0, True, "8 usable: as many workers (--processes -1)"),
        (doctor.cpus, 1.5, False, "1.5 usable: as many workers (--processes -1)"),
        (doctor.governor, "performance", True, "performance"),
        (doctor.governor, "powersave", False, "powersave"),
        (doctor.governor, None, True, "none: the host sets the speed"),
        (doctor.stamps, True, True, "by the kernel"),
        (doctor.stamps, False, False, "by this program"),
        (doctor.memory, 8 << 30, True, "8.00 GiB available"),
        (doctor.memory, 100 << 20, False, "100 MiB available"),
    ],
)
def test_one_fact_each(check, fact, ok, value):
    result = check(fact)
    assert (result.ok, result.value) == (ok, value)
    assert bool(result.advice) != ok


def test_open_files_are_judged_by_the_hard_limit_because_a_run_raises_the_soft_one():
    assert doctor.open_files(1024, 1_048_576).ok
    assert not doctor.open_files(1024, 4096).ok
    assert "4096 allow 3996 users" in doctor.open_files(1024, 4096).advice
    unlimited = doctor.open_files(1024, resource.RLIM_INFINITY)
    assert (unlimited.ok, unlimited.value) == (True, "soft 1024, hard unlimited")


def test_the_limits_of_a_container_count_where_they_are_lower():
    assert doctor.cpus(8, 0.2).value == "0.2 usable of 8: the control group (container) has a quota"
    assert "raise the CPU limit" in doctor.cpus(8, 0.2).advice
    assert doctor.cpus(8, 4.0).ok
    assert doctor.cpus(2, 16.0).value == "2 usable: as many workers (--processes -1)"
    few = doctor.memory(8 << 30, 300 << 20, 287 << 20)
    assert few.value == "287 MiB left of 300 MiB, the limit of the control group (container)"
    assert not few.ok
    assert doctor.memory(2 << 30, 16 << 30, 15 << 30).value == "2.00 GiB available"


def test_this_machine_has_a_value_for_each():
    names = [check.name for check in doctor.all_checks()]
    assert len(set(names)) == len(names) == 9
    assert all(check.value for check in doctor.all_checks())


def test_what_a_worker_of_this_machine_can_send_is_measured_and_kept(plimsoll, found, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        measured, "calibrate", lambda: {"native": 51_234.0, "python": None, "ports": None, "open_files": None}
    )
    found(MachineCheck("CPUs", "8 usable"))
    result = plimsoll("doctor", "--measure")
    assert result.exit_code == 0, result
    assert "about 51\u202f200 requests/s each (native users), small responses" in result.output
    assert known_capacities()[platform.node()].native == 51_234.0


def test_a_home_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    check = measured.kept([])
    assert "cannot be written: Not a directory" in check.advice
