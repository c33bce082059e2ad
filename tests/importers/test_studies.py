from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import StoreError, UsageError
from plimsoll.importers import read
from plimsoll.importers.studies import combine, find, keep
from plimsoll.say.answer import answer_of
from plimsoll.stats.analysis import analyse
from plimsoll.stats.study_json import to_json
from plimsoll.store import Store

if TYPE_CHECKING:
    from pathlib import Path


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


TABLE = """| build | users | name | p50 (ms) | p99 (ms) |
|---|---|---|---|---|
| old | 10 | GET /a | 20 | 90 |
| old | 20 | GET /a | 30 | 180 |
| old | 30 | GET /a | 40 | 400 |
| new | 10 | GET /a | 21 | 80 |
| new | 20 | GET /a | 29 | 210 |
| new | 30 | GET /a | 41 | 390 |
| new again | 10 | GET /a | 22 | 85 |
| new again | 20 | GET /a | 28 | 190 |
| new again | 30 | GET /a | 43 | 380 |
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.md"
    path.write_text(TABLE)
    return path


def test_an_objective_decides_which_load_is_carried(table: Path) -> None:
    study = read(table, column=("build=variant",), slo='p99 of "GET /a" < 200ms')
    assert answer_of(analyse(study))[0] == (
        '`old` carries 20 users (p99 180 ms), at 30 users p99 is 400 ms, which breaks `p99 of "GET /a" < 200ms`; '
        '`new` carries 10 users (p99 80.0 ms), at 20 users p99 is 210 ms, which breaks `p99 of "GET /a" < 200ms`; '
        '`new again` carries 20 users (p99 190 ms), at 30 users p99 is 380 ms, which breaks `p99 of "GET /a" < 200ms`.'
    )


def test_a_variant_is_a_repeat_of_another(table: Path) -> None:
    study = read(table, column=("build=variant",), repeat_of=("new again=new",))
    assert study.variants == ("old", "new")
    assert [(trial.variant, trial.repeat) for trial in study.trials if trial.level and trial.level.value == 20] == [
        ("old", 0),
        ("new", 0),
        ("new", 1),
    ]


def test_the_levels_of_a_primary_metric_are_pairs(table: Path) -> None:
    """A single run of each at several levels: the mean change has an interval."""
    study = read(table, column=("build=variant",), variant=("old", "new", "third"), primary=("p50 of GET /a",))
    assert answer_of(analyse(study))[0] == (
        "p50 of `old` → `new` for `GET /a`, with its 3 levels as pairs: +1.3 % (−8.8 % to +13 %), no difference is "
        "certain; p50 of `old` → `third` for `GET /a`, with its 3 levels as pairs: +3.3 % (−17 % to +29 %), no "
        "difference is certain; one run each, so how much of that is noise is unknown."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"repeat_of": ("new=",)}, "repeat-of: 'new=' is not REPEAT=VARIANT"),
        ({"repeat_of": ("new=new",)}, "repeat-of: 'new=new' is not REPEAT=VARIANT"),
        ({"repeat_of": ("newer=new",)}, "repeat-of: there is no 'newer' in the file; found were old, new and new aga"),
        ({"primary": ("fastness",)}, "primary: 'fastness' is no metric"),
        ({"slo": "rps > 3/s"}, "slo: rps > 3/s: an objective of a study is about"),
        ({"slo": "p99 < 3"}, "a time with its unit"),
    ],
)
def test_what_does_not_fit_is_said(table: Path, given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(table, column=("build=variant",), **given)
