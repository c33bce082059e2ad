from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from plimsoll.importers.kept import find
from plimsoll.store import Store

TESTS = Path(__file__).parents[1]
TODOS = next((TESTS / "published").glob("003_*.txt"))
LOCUST = TESTS / "importers/files/locust_stats.csv"


def kept(name):
    with Store.open(create=False) as store:
        return find(store, name)


def test_what_was_read_is_printed_and_kept(plimsoll):
    result = plimsoll("import", str(TODOS), "--name", "todos", "--think", "0s")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].endswith(": 7 runs, times of locust in 2 significant digits, not below 1 ms, from the actual start")
    (third,) = (line.split() for line in lines if line.startswith("step 3"))
    assert third == ["step", "3", "50", "users", "2", "119.8", "2973", "0", "24.82", "2000", "3800", "4500"]
    assert lines[-1].startswith("kept as todos (s")
    study = kept("todos")
    assert (len(study.trials), study.trials[0].think) == (7, 0)
    with Store.open() as store:
        (only,) = store.imports.all()
    assert only.digest == hashlib.sha256(TODOS.read_bytes()).hexdigest()
    assert Path(only.source).is_absolute()


def test_what_was_skipped_is_named_with_its_line(plimsoll):
    (report,) = (TESTS / "published").glob("000_*.txt")
    result = plimsoll("import", str(report), "--dry-run")
    skipped = [line for line in result.output.splitlines() if line.startswith("skipped: ")]
    assert skipped[0].startswith("skipped: 000_a0b59a2107bb9b6e.txt:205: ")
    assert "run together" in skipped[0]
    assert skipped[-1].endswith("more; the study keeps all of them")


def test_a_dry_run_keeps_nothing(plimsoll):
    assert plimsoll("import", str(TODOS), "--dry-run").exit_code == 0
    assert not Path("plimsoll.db").exists()


def test_names_are_told(plimsoll):
    options = ("--variant", "step 1=base", "--variant", "step 7=both", "--operation", "crud", "--duration", "2m")
    assert plimsoll("import", str(TODOS), "--name", "t", *options).exit_code == 0
    study = kept("t")
    assert study.variants == ("base", "step 2", "step 3", "step 4", "step 5", "step 6", "both")
    assert {(trial.operation, trial.duration) for trial in study.trials} == {("crud", 120)}


def test_several_files_are_kept_each_or_with_a_name_as_one(plimsoll):
    shutil.copy(LOCUST, "a_stats.csv")
    shutil.copy(LOCUST, "b_stats.csv")
    assert plimsoll("import", "a_stats.csv", "b_stats.csv", "--users", "5").exit_code == 0
    assert kept("a_stats").variants == ("a_stats",)
    arguments = ("a_stats.csv", "b_stats.csv", "--users", "5", "--name", "both", "--variant", "old", "--variant", "new")
    assert plimsoll("import", *arguments).exit_code == 0
    study = kept("both")
    assert (study.variants, len(study.trials)) == (("old", "new"), 2)


def test_importing_again_replaces_and_says_so(plimsoll):
    assert "instead" not in plimsoll("import", str(TODOS), "--name", "t").output
    assert plimsoll("import", str(LOCUST), "--name", "t").output.endswith(", instead of the one of that name\n")
    assert len(kept("t").trials) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "plimsoll: nowhere.csv: No such file or directory"),
        ([str(TODOS), "--users", "0"], "plimsoll: users: must be greater than 0, not 0"),
        ([str(TODOS), "--duration", "soon"], 'plimsoll: --duration: "soon" is not a duration'),
        ([str(TODOS), "--variant", "a"], "plimsoll: variant: 1 name for 7 that were found (step 1, step 2"),
        ([__file__], "test_import.py: no table with results was found"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_kept(plimsoll, arguments, message):
    result = plimsoll("import", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
    assert not Path("plimsoll.db").exists()
