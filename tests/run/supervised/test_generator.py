from __future__ import annotations

import pytest

from plimsoll.run.plan import RunPlan
from plimsoll.run.planned import Outputs, PlannedRun
from plimsoll.run.supervised import generator

RUN = PlannedRun(RunPlan(locustfiles=("/nowhere.py",), command=("plimsoll", "run")), Outputs())


def test_the_modules_are_ours_whatever_lies_in_the_folder(tmp_path):
    (tmp_path / "plimsoll.py").write_text("raise SystemExit('not this one')")
    with generator.start(RUN, tmp_path, "run", grace=10, cwd=tmp_path) as run:
        assert run.wait(60).status == generator.USAGE
    assert "/nowhere.py" in (tmp_path / "run.err").read_text()


def test_what_it_prints_is_kept_and_what_cannot_begin_has_no_summary(tmp_path):
    planned = PlannedRun(RunPlan(), Outputs(thresholds=("p99 ~ 3",)))
    with generator.start(planned, tmp_path, "run-1", grace=10) as run:
        ending = run.wait(60)
    assert ending is not None
    assert ending.status == generator.USAGE
    said = (tmp_path / "run-1.err").read_text().splitlines()
    assert said[0].startswith("plimsoll: threshold: ")
    assert "Traceback" not in "".join(said)
    assert generator.summary_of(tmp_path / "summary.json") == {}


def test_the_plan_is_not_on_the_command_line_and_its_file_is_gone(tmp_path):
    with generator.start(RUN, tmp_path, "run", grace=10) as run:
        run.wait(60)
    assert [*run.command[1:-1]] == ["-P", "-m", "plimsoll.run.supervised.child"]
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize("text", ["", "{", "\0"])
def test_a_summary_that_was_cut_short_is_none(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    assert generator.summary_of(tmp_path / "summary.json") == {}


def test_a_summary_is_read(tmp_path):
    (tmp_path / "summary.json").write_text('{"run": {"id": "x"}}')
    assert generator.summary_of(tmp_path / "summary.json") == {"run": {"id": "x"}}
