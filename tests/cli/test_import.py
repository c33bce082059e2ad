from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from plimsoll.importers.studies import find
from plimsoll.store import Store

TESTS = Path(__file__).parents[1]
STEPS = TESTS / "importers/files/steps.md"
LOCUST = TESTS / "importers/files/locust_stats.csv"


def kept(name):
    with Store.open(create=False) as store:
        return find(store, name)


def test_what_was_read_is_printed_and_kept(plimsoll):
    result = plimsoll("import", str(STEPS), "--name", "steps", "--users", "50", "--think", "0s")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].endswith(": 2 runs, times of locust in 2 significant digits, not below 1 ms, from the actual start")
    (index,) = ([*filter(None, line.split(" "))] for line in lines if line.startswith("Index"))
    assert index == ["Index", "50", "users", "1", "119.8", "1\u202f500", "3", "12.52", "10.0", "21.0", "30.0"]
    assert lines[-1].startswith("stored as steps (s")
    study = kept("steps")
    assert (len(study.trials), study.trials[0].think) == (2, 0)
    with Store.open() as store:
        (only,) = store.imports.all()
    assert only.digest == hashlib.sha256(STEPS.read_bytes()).hexdigest()
    assert Path(only.source).is_absolute()


def test_what_was_skipped_is_named_with_its_line(plimsoll):
    Path("r.csv").write_text("name,p50,p99\n/a,1,2\n" + "/b,1x,2x\n/c,3\n" * 20)
    result = plimsoll("import", "r.csv", "--dry-run")
    skipped = [line for line in result.output.splitlines() if line.startswith("skipped: ")]
    assert skipped[0] == "skipped: r.csv:3: '/b: 1x': is no number with a unit that is known here"
    assert skipped[-1].endswith("more; the study keeps all of them")


def test_columns_can_be_named(plimsoll):
    Path("r.csv").write_text("what,took\n/a,1.5\n")
    arguments = ("import", "r.csv", "--name", "r", "--column", "what=name", "--column", "took=p99 (s)")
    result = plimsoll(*arguments)
    assert result.exit_code == 0, result.output
    assert dict(kept("r").trials[0].endpoints[0].quantiles) == {0.99: 1500}


def test_a_dry_run_keeps_nothing(plimsoll):
    assert plimsoll("import", str(STEPS), "--dry-run").exit_code == 0
    assert not Path("plimsoll.db").exists()


def test_names_are_options(plimsoll):
    options = ("--variant", "Base=old", "--operation", "read", "--duration", "2m")
    assert plimsoll("import", str(STEPS), "--name", "t", *options).exit_code == 0
    study = kept("t")
    assert study.variants == ("old", "Index")
    assert {(trial.operation, trial.duration) for trial in study.trials} == {("read", 120)}


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
    assert "instead" not in plimsoll("import", str(STEPS), "--name", "t").output
    assert plimsoll("import", str(LOCUST), "--name", "t").output.endswith(", instead of the one of that name\n")
    assert len(kept("t").trials) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "plimsoll: nowhere.csv: No such file or directory"),
        ([str(STEPS), "--users", "0"], "plimsoll: users: must be greater than 0, not 0"),
        ([str(STEPS), "--duration", "soon"], 'plimsoll: --duration: "soon" is not a duration'),
        ([str(STEPS), "--variant", "a"], "plimsoll: variant: 1 name for 2 that were found (Base and Index)"),
        (
            [str(STEPS), "--column", "95%=speed"],
            "plimsoll: column: '95%=speed' is not TITLE=MEANING; a meaning is name",
        ),
        ([__file__], "test_import.py: no table with results was found"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_kept(plimsoll, arguments, message):
    result = plimsoll("import", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
    assert not Path("plimsoll.db").exists()
