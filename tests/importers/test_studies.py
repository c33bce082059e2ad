from __future__ import annotations

import pytest

from plimsoll.errors import StoreError, UsageError
from plimsoll.importers import read
from plimsoll.importers.studies import combine, find, keep
from plimsoll.stats.study_json import to_json
from plimsoll.store import Store


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
    study = combine(runs, "all")
    assert (study.name, study.variants) == ("all", ("run1", "run2", "run3"))
    assert described(study) == [("run1", 0, 10), ("run2", 0, 20), ("run3", 0, 30)]
    assert len({trial.id for trial in study.trials}) == 3


def test_files_of_one_name_are_repeats(runs):
    study = combine(runs, "all", ("old", "new", "old"))
    assert study.variants == ("old", "new")
    assert described(study) == [("old", 0, 10), ("new", 0, 20), ("old", 1, 30)]


def test_names_that_do_not_fit(runs, read_text):
    with pytest.raises(UsageError, match="2 names for 3 files"):
        combine(runs, "all", ("old", "new"))
    several = read_text("version,name,p50,p99\nA,/a,1,2\nB,/a,1,2\n", "both.csv")
    with pytest.raises(UsageError, match=r"holds 2 variants \(A, B\), so it cannot be one of several files"):
        combine([*runs, several], "all")


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


def test_a_study_comes_back_as_it_was_kept(store, runs):
    study = combine(runs, "mine")
    key, replaced = keep(store, study, digest="d", created=1.0)
    assert not replaced
    for ref in ("mine", key):
        assert to_json(find(store, ref))["trials"] == to_json(study)["trials"]
    assert find(store, "other") is None


def test_a_damaged_study_names_the_field(store):
    document = {"plimsoll": "study", "version": 1, "name": "x", "trials": [{"id": "a"}]}
    store.imports.keep("x", document, source="x", digest="d", created=1.0)
    with pytest.raises(StoreError, match=r"is damaged: trials\[0\]\.variant: Field required"):
        find(store, "x")
