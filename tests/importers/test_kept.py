from __future__ import annotations

import pytest

from plimsoll.errors import StoreError
from plimsoll.importers.kept import find, keep
from plimsoll.stats.study_json import to_json
from plimsoll.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.mark.parametrize("number", ["000", "001", "003", "004"])
def test_a_study_comes_back_as_it_was_kept(store, published, number):
    study = published(number, name="mine", think=0)
    key, _ = keep(store, study, digest="d", created=1.0)
    for ref in ("mine", key):
        assert to_json(find(store, ref)) == to_json(study)
    assert find(store, "other") is None


def test_a_damaged_study_names_the_field(store):
    document = {"plimsoll": "study", "version": 1, "name": "x", "trials": [{"id": "a"}]}
    store.imports.keep("x", document, source="x", digest="d", created=1.0)
    with pytest.raises(StoreError, match=r"is damaged: trials\[0\]\.variant: is missing"):
        find(store, "x")
