"""What one file with a step and one row make: `soap_step.py` in place of a change of the sources."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.command import Command, CommandResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import CountingTarget

SOAP = Path(__file__).with_name("soap_step.py")


@pytest.fixture
def extended(plimsoll: Command) -> Callable[..., CommandResult]:
    """`plimsoll` with the row."""

    def run(*arguments: str) -> CommandResult:
        done = subprocess.run(
            [sys.executable, str(SOAP), *arguments],
            cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True,
        )  # fmt: skip
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return run


def test_a_step_of_one_row_is_sent_from_a_flow_and_as_a_request(
    extended: Callable[..., CommandResult], plimsoll: Command, target: CountingTarget
) -> None:
    plan = f'target = "{target.url}"\n[stop]\niterations = 4\n[[phase]]\nusers = 1\n[[request]]\nsoap = "{{ a }}"\n'
    plimsoll.write(f'{plan}[[flow]]\n[[flow.step]]\nsoap = "{{ b }}"\nname = "b"\n', "plan.toml")
    done = extended("run", "plan.toml", "--headless")
    assert done.code == 0, done
    assert target.total == 4
    flows = plimsoll.stored()["run"]["manifest"]["plan"]["scenario"]["flows"]
    assert [(step["name"], step["method"], step["path"]) for flow in flows for step in flow["steps"]] == [
        ("call", "POST", "/soap"), ("b", "POST", "/soap"),
    ]  # fmt: skip


def test_a_step_of_one_row_is_refused_with_fields_of_others_and_in_them(
    extended: Callable[..., CommandResult], plimsoll: Command
) -> None:
    text = 'target = "http://127.0.0.1:9"\n'
    for step in ('soap = "q"\nbody = ""', 'soap = "q"\nsend = ""', 'grpc = "a.B/C"\nsoap = "q"', "sopa = 1"):
        text += f"[[request]]\n{step}\n"
    plimsoll.write(text, "plan.toml")
    done = extended("run", "plan.toml", "--headless")
    assert done.code == 2
    for line, message in (
        (4, "request[0].body: does not go with soap; the call is in soap"),
        (6, "request[1].soap: does not go with send; it is a field of a call of SOAP"),
        (10, "request[2].soap: does not go with grpc; it is a field of a call of SOAP"),
        (12, "request[3].sopa: is not a known field"),
    ):
        assert f"plan.toml:{line}: {message}" in done.err


def test_a_step_of_one_row_is_in_the_schema(extended: Callable[..., CommandResult]) -> None:
    definitions = json.loads(extended("schema", "plan").out)["$defs"]
    assert definitions["SoapStep"]["properties"]["soap"]["description"] == "The call."
    assert "weight" in definitions["WeightedSoapStep"]["properties"]
