from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from tests.experiment.real_cells import TIMEOUT_S, all_ended

from plimsoll.experiment import hooks
from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.hooks import Commands
from plimsoll.experiment.spec import Hook, TargetFact

if TYPE_CHECKING:
    from pathlib import Path


def _commands(folder: Path, **values: object) -> Commands:
    return Commands({"url": "http://127.0.0.1:9", **values}, folder, {**os.environ, "COLOUR": "red"}, folder)


def _hook(*command: str, name: str = "seed", within: float = TIMEOUT_S) -> Hook:
    return Hook(name, command, within)


def test_what_it_prints_is_kept_and_placeholders_are_filled_in(tmp_path: Path, process_mark: str) -> None:
    commands = _commands(tmp_path, variant="index", port=12000)
    printed = commands.hook(_hook("sh", "-c", "echo {variant} {port} {print} $COLOUR $PWD; echo noise >&2"), "seed")
    assert printed == f"index 12000 {{print}} red {tmp_path}\n"


def test_each_has_files_of_its_own(tmp_path: Path, process_mark: str) -> None:
    commands = _commands(tmp_path)
    commands.hook(_hook("echo", "1"), "seed")
    commands.hook(_hook("echo", "2"), "seed")
    commands.hook(_hook("echo", "3", name="../plan of it"), "collect")
    names = sorted(path.name for path in tmp_path.glob("*.out"))
    assert names == ["collect-.._plan_of_it-1.out", "seed-1.out", "seed-2.out"]


def test_a_failing_one_is_told_with_its_last_words(tmp_path: Path, process_mark: str) -> None:
    code = "import sys; print('10 rows'); sys.exit('cannot connect to postgresql://me:s3cret@db/x')"
    with pytest.raises(CellError) as caught:
        _commands(tmp_path).hook(_hook(sys.executable, "-c", code), "seed")
    shown = shlex.join([sys.executable, "-c", code]).replace("s3cret", "***")
    assert caught.value.one_line == (
        f"`{shown}` failed: exit status 1; its last line: cannot connect to postgresql://me:***@db/x"
    )
    kept = caught.value.to_dict()
    assert (kept["ending"], kept["log"]) == ("exit status 1", ["cannot connect to postgresql://me:***@db/x"])
    assert "s3cret" not in repr(kept)


def test_what_it_printed_is_told_when_it_has_no_other_words(tmp_path: Path, process_mark: str) -> None:
    with pytest.raises(CellError, match=r"exit status 1$") as caught:
        _commands(tmp_path).hook(_hook("sh", "-c", "echo no rows; exit 1"), "seed")
    assert caught.value.log == ["no rows"]


def test_one_that_takes_too_long_is_ended(tmp_path: Path, process_mark: str) -> None:
    with pytest.raises(CellError) as caught:
        _commands(tmp_path).hook(_hook("sh", "-c", "echo waiting >&2; sleep 600", within=0.5), "seed")
    assert "did not end within 0.5 s" in caught.value.one_line
    assert caught.value.ending == "ended by SIGTERM"
    assert all_ended(process_mark)


def test_one_that_there_is_not_is_named(tmp_path: Path, process_mark: str) -> None:
    with pytest.raises(CellError, match="`no-such-program 1` cannot be started: no-such-program: No such file"):
        _commands(tmp_path).hook(_hook("no-such-program", "1"), "prepare")


def test_what_it_leaves_running_is_ended(tmp_path: Path, process_mark: str) -> None:
    assert _commands(tmp_path).hook(_hook("sh", "-c", "sleep 600 & echo done"), "prepare") == "done\n"
    assert all_ended(process_mark)


def test_of_much_only_the_beginning_is_kept(tmp_path: Path, process_mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "LONGEST_OUTPUT", 10)
    commands = _commands(tmp_path)
    assert commands.hook(_hook("printf", "0123456789"), "collect") == "0123456789"
    assert commands.hook(_hook("printf", "0123456789a"), "collect") == "0123456789\n[the first 10 of 11 bytes]\n"


def test_a_command_may_tell_a_fact(tmp_path: Path, process_mark: str) -> None:
    commands = _commands(tmp_path, variant="index")
    assert commands.fact(TargetFact("rows", command=("echo", "1200"))) == 1200
    assert commands.fact(TargetFact("build", command=("echo", "{variant}"))) == "index"
    with pytest.raises(CellError, match="`false` failed: exit status 1"):
        commands.fact(TargetFact("rows", command=("false",)))


def test_a_target_that_does_not_answer_has_no_facts(tmp_path: Path) -> None:
    with pytest.raises(CellError, match=r"rows: GET http://127.0.0.1:9/_rows: Connection refused"):
        _commands(tmp_path).fact(TargetFact("rows", path="/_rows"))
