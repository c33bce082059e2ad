from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

from plimsoll.cli import doctor
from plimsoll.cli.checks import MachineCheck


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
