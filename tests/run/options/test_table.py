from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.run.options.table import OPTIONS, defaults

if TYPE_CHECKING:
    from pathlib import Path

# In a process of its own, where the row is there before anything is made from the table.
ONE_ROW = """
import json, sys
from plimsoll.run.options.option import LocustOption, Option
from plimsoll.run.options.rows import ROWS, WHAT

ROWS.append(Option(("--toy",), WHAT, "What the toy does.", metavar="TEXT", locust=LocustOption(env="TOY")))

import click
from plimsoll.cli.run import run
from plimsoll.locust.options.parsed import get_parser, make_parser, parse
from plimsoll.run.options.command import words_of
from plimsoll.run.options.reference import reference
from plimsoll.run.planning import make_plan

words = words_of(run.make_context("run", sys.argv[1:]))
plan, _ = make_plan(words.arguments, words.given)
print(json.dumps({
    "help": run.get_help(click.Context(run)),
    "value": words.given["toy"],
    "parsed_options": parse(make_parser(), plan).toy,
    "parser": get_parser().parse_args([]).toy,
    "reference": reference(),
}))
"""


def run_with_a_row(folder: Path, *words: str, **variables: str) -> dict[str, Any]:
    (folder / "locustfile.py").touch()
    done = subprocess.run(
        [sys.executable, "-c", ONE_ROW, *words], cwd=folder, env={**os.environ, "HOME": str(folder), **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_row_is_all_that_an_option_needs_to_be_read_and_described(tmp_path: Path) -> None:
    found = run_with_a_row(tmp_path, "--toy", "given")
    assert (found["value"], found["parsed_options"]) == ("given", "given")
    assert "--toy TEXT" in found["help"]
    assert "What the toy does." in found["help"]
    assert "### `--toy`\n\nWhat the toy does.\n" in found["reference"]
    assert "- variables: `PLIMSOLL_TOY`, `LOCUST_TOY`\n- key: `toy`\n- `parsed_options`: `toy`" in found["reference"]


@pytest.mark.parametrize("variable", ["PLIMSOLL_TOY", "LOCUST_TOY"])
def test_its_variables_are_read(tmp_path: Path, variable: str) -> None:
    found = run_with_a_row(tmp_path, **{variable: "varied"})
    assert (found["value"], found["parsed_options"]) == ("varied", "varied")
    assert found["parser"] == ("varied" if variable == "LOCUST_TOY" else None)


def test_configuration_files_have_its_key(tmp_path: Path) -> None:
    (tmp_path / "locust.conf").write_text("toy = configured\n")
    found = run_with_a_row(tmp_path)
    assert [found[each] for each in ("value", "parsed_options", "parser")] == ["configured"] * 3


def test_no_two_options_share_a_flag_a_name_or_an_attribute() -> None:
    for names in (
        [flag for each in OPTIONS for flag in each.flags],
        [each.value_name for each in OPTIONS],
        [each.dest for each in OPTIONS if each.dest],
        [variable for each in OPTIONS for variable in each.variables],
    ):
        assert not [name for name, count in Counter(names).items() if count > 1]


def test_without_a_command_line_every_option_has_its_default() -> None:
    values = defaults()
    assert (values["processes"], values["loglevel"], values["times_of"]) == (1, "INFO", "all")
    assert (values["tags"], values["headless"], values["users"]) == ((), False, None)
