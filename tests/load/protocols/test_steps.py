"""What one file with a step and one row make: `graphql_step.py` in place of a change of the sources."""

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

GRAPHQL = Path(__file__).with_name("graphql_step.py")


@pytest.fixture
def extended(plimsoll: Command) -> Callable[..., CommandResult]:
    """`plimsoll` with the row."""

    def run(*arguments: str) -> CommandResult:
        done = subprocess.run(
            [sys.executable, str(GRAPHQL), *arguments],
            cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True,
        )  # fmt: skip
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return run


def test_a_step_of_one_row_is_sent_from_a_flow_and_as_a_request(
    extended: Callable[..., CommandResult], plimsoll: Command, target: CountingTarget
) -> None:
    plan = f'target = "{target.url}"\n[stop]\niterations = 4\n[[phase]]\nusers = 1\n[[request]]\ngraphql = "{{ a }}"\n'
    plimsoll.write(f'{plan}[[flow]]\n[[flow.step]]\ngraphql = "{{ b }}"\nname = "b"\n', "plan.toml")
    done = extended("run", "plan.toml", "--headless")
    assert done.code == 0, done
    assert target.total == 4
    flows = plimsoll.stored()["run"]["manifest"]["plan"]["scenario"]["flows"]
    assert [(step["name"], step["method"], step["path"]) for flow in flows for step in flow["steps"]] == [
        ("query", "POST", "/graphql"), ("b", "POST", "/graphql"),
    ]  # fmt: skip


def test_a_step_of_one_row_is_refused_with_fields_of_others_and_in_them(
    extended: Callable[..., CommandResult], plimsoll: Command
) -> None:
    text = 'target = "http://127.0.0.1:9"\n'
    for step in ('graphql = "q"\nbody = ""', 'graphql = "q"\nsend = ""', 'grpc = "a.B/C"\ngraphql = "q"', "graphl = 1"):
        text += f"[[request]]\n{step}\n"
    plimsoll.write(text, "plan.toml")
    done = extended("run", "plan.toml", "--headless")
    assert done.code == 2
    for line, message in (
        (4, "request[0].body: does not go with graphql; the query is in graphql"),
        (6, "request[1].graphql: does not go with send; it is a field of a query"),
        (10, "request[2].graphql: does not go with grpc; it is a field of a query"),
        (12, "request[3].graphl: is not a known field"),
    ):
        assert f"plan.toml:{line}: {message}" in done.err


def test_a_step_of_one_row_is_in_the_schema(extended: Callable[..., CommandResult]) -> None:
    definitions = json.loads(extended("schema", "plan").out)["$defs"]
    assert definitions["GraphqlStep"]["properties"]["graphql"]["description"] == "The query."
    assert "weight" in definitions["WeightedGraphqlStep"]["properties"]
