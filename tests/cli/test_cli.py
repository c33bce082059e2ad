from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from plimsoll.cli import VERBS, Verbs, main
from plimsoll.errors import UsageError

WITHOUT = (
    "import sys; import {}; "
    "print({{'gevent', 'requests', 'sqlalchemy', 'rich', 'alembic', 'pydantic', 'numpy'}} & set(sys.modules))"
)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_there_and_its_help_has_examples(plimsoll, verb):
    result = plimsoll(verb, "--help")
    assert result.exit_code == 0, result.output
    assert f"Usage: plimsoll {verb}" in result.output
    assert "Example" in result.output
    assert f"  plimsoll {verb}" in result.output or f"(plimsoll {verb}" in result.output


def test_the_help_lists_the_verbs_in_the_order_of_use(plimsoll):
    result = plimsoll("--help")
    assert result.exit_code == 0
    listed = [line.split()[0] for line in result.output.split("Verbs:")[1].splitlines() if line[:3].strip()]
    assert listed[: len(VERBS)] == list(VERBS)
    assert plimsoll("-h").output == result.output


@pytest.mark.parametrize("verb", VERBS)
def test_the_line_in_the_help_is_the_first_of_the_verbs_own(verb):
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    assert command.get_short_help_str(limit=200) == VERBS[verb]


def test_an_error_may_have_lines_but_no_control_characters(monkeypatch):
    @click.command()
    def broken():
        raise UsageError("said \x1b[2J\x9b2J\r\nby a target")

    monkeypatch.setattr(Verbs, "get_command", lambda *_: broken)
    result = CliRunner().invoke(main, ["show"], color=True)
    assert result.exit_code == 2
    assert result.stderr == "plimsoll: said \ufffd[2J\ufffd2J\ufffd\nby a target\n"


def test_without_a_verb_the_help_is_shown(plimsoll):
    result = plimsoll()
    assert result.exit_code == 2
    assert "Verbs:" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shw"], "no such command 'shw'. Did you mean 'show'? (`plimsoll --help` has all)"),
        (["http://h/"], "http://h/ is no verb; to load it, write plimsoll run http://h/ (`plimsoll --help` has all)"),
        (["xyz"], "no such command 'xyz'. (`plimsoll --help` has all)"),
        (["--versio"], "no such option '--versio'. Did you mean '--version'? (`plimsoll --help` has all)"),
        (["show", "--jsn"], "no such option '--jsn'. Did you mean '--json'? (`plimsoll show --help` has all)"),
        (
            ["runs", "-n", "0"],
            "invalid value for '-n' / '--limit': 0 is not in the range x>=1. (`plimsoll runs --help`",
        ),
        (["show", "a", "b"], "got unexpected extra argument (b) (`plimsoll show --help` has all)"),
    ],
)
def test_misuse_is_one_line_and_exit_code_2(plimsoll, arguments, message):
    result = plimsoll(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"plimsoll: {message}")
    assert result.stderr.count("\n") == 1


def test_our_errors_are_one_line_with_their_exit_code(plimsoll):
    result = plimsoll("show")
    assert result.exit_code == 2
    assert result.stderr.startswith("plimsoll: no store at ")
    assert result.stderr.count("\n") == 1


def test_the_version(plimsoll):
    result = plimsoll("--version")
    assert (result.exit_code, result.output.split()[0]) == (0, "plimsoll")
    assert result.output.split()[1][0].isdigit()


@pytest.mark.parametrize("modules", ["plimsoll.cli", "plimsoll.cli.run, plimsoll.run.perform, plimsoll.run.manifest"])
def test_neither_the_help_nor_the_beginning_of_a_run_loads_what_other_verbs_need(modules):
    code = WITHOUT.format(modules)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_reader_that_goes_away_is_no_error(plimsoll, stored_run_ids):
    # As in `plimsoll show | head -1`; the output is larger than a pipe holds when it is written many times.
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", "from plimsoll.cli import main; main()", "show", "--json"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert "Traceback" not in done.stderr
