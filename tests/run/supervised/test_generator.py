from __future__ import annotations

import subprocess
import sys

import pytest

from plimsoll.run.supervised import generator


def test_the_command_is_ours_whatever_lies_in_the_folder(tmp_path):
    (tmp_path / "plimsoll.py").write_text("raise SystemExit('not this one')")
    command = generator.command_of(["--version"])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert command[0] == sys.executable
    assert (done.returncode, done.stdout[:9]) == (0, "plimsoll "), done.stderr


def test_what_it_prints_is_kept_and_what_cannot_begin_has_no_summary(tmp_path):
    with generator.start(["run", "nowhere.toml"], tmp_path, "run-1", grace=10) as run:
        ending = run.wait(60)
    assert ending is not None
    assert ending.status == generator.USAGE
    assert "nowhere.toml" in (tmp_path / "run-1.err").read_text()
    assert generator.summary_of(tmp_path / "summary.json") == {}


@pytest.mark.parametrize("text", ["", "{", "\0"])
def test_a_summary_that_was_cut_short_is_none(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    assert generator.summary_of(tmp_path / "summary.json") == {}


def test_a_summary_is_read(tmp_path):
    (tmp_path / "summary.json").write_text('{"run": {"id": "x"}}')
    assert generator.summary_of(tmp_path / "summary.json") == {"run": {"id": "x"}}
