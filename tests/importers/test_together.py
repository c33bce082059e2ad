from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import read
from plimsoll.importers.together import together


@pytest.fixture
def runs(tmp_path):
    """Three runs of one endpoint, with 10, 20 and 30 requests."""
    studies = []
    for number in (1, 2, 3):
        path = tmp_path / f"run{number}.csv"
        path.write_text(f"Name,Requests,p50\n/a,{10 * number},{number}\n")
        studies.append(read(path, users=5))
    return studies


def described(study):
    return [(trial.variant, trial.repeat, trial.endpoints[0].requests) for trial in study.trials]


def test_each_file_is_a_variant(runs):
    study = together(runs, "all")
    assert (study.name, study.variants) == ("all", ("run1", "run2", "run3"))
    assert described(study) == [("run1", 0, 10), ("run2", 0, 20), ("run3", 0, 30)]
    assert len({trial.id for trial in study.trials}) == 3


def test_files_of_one_name_are_repeats(runs):
    study = together(runs, "all", ("old", "new", "old"))
    assert study.variants == ("old", "new")
    assert described(study) == [("old", 0, 10), ("new", 0, 20), ("old", 1, 30)]


def test_names_that_do_not_fit(runs, published):
    with pytest.raises(UsageError, match="2 names for 3 files"):
        together(runs, "all", ("old", "new"))
    with pytest.raises(UsageError, match=r"holds 3 variants \(A, B1, B2\), so it cannot be one of several files"):
        together([*runs, published("000")], "all")
