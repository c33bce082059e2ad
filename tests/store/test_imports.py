from __future__ import annotations

import pytest

from plimsoll.errors import StoreError
from plimsoll.store import Store

DOCUMENT = {"plimsoll": "study", "version": 1, "name": "x", "trials": [{"id": "µ", "variant": "\0"}]}


def keep(store, name, created=1.0, document=None, digest="d"):
    return store.imports.keep(name, document or DOCUMENT, source="/a/x.csv", digest=digest, created=created)


def test_a_study_is_found_by_name_by_id_and_by_the_beginning_of_its_id(store_location):
    with Store.open(store_location) as store:
        key, replaced = keep(store, "todos")
    assert not replaced
    with Store.open(store_location) as store:
        kept = store.imports.find("todos")
        assert kept == store.imports.find(key) == store.imports.find(key[:6])
        assert store.imports.find("other") is None
        assert store.imports.find("%") is None
    assert (kept.id, kept.name, kept.created, kept.source, kept.digest) == (key, "todos", 1.0, "/a/x.csv", "d")
    assert kept.document["trials"] == [{"id": "µ", "variant": "\ufffd"}]  # no database takes NUL


def test_another_one_of_the_name_replaces_it(store):
    first, _ = keep(store, "todos")
    second, replaced = keep(store, "todos", digest="e")
    assert replaced
    assert first != second
    assert [each.id for each in store.imports.all()] == [second]


def test_the_same_again_has_the_same_id(store):
    first = keep(store, "todos")
    assert keep(store, "todos") == (first[0], True)


def test_the_latest_come_first(store):
    for name, created in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
        keep(store, name, created)
    assert [each.name for each in store.imports.all()] == ["b", "c", "a"]


def test_the_beginning_of_several_ids_is_refused(store):
    keep(store, "a")
    keep(store, "b")
    with pytest.raises(StoreError, match="several studies start with 's'"):
        store.imports.find("s")


def test_a_list_of_them_does_without_their_documents(store):
    keep(store, "a", 1.0, {**DOCUMENT, "question": "Is µ it?", "trials": [1, 2, 3]})
    key, _ = keep(store, "b", 2.0, {"name": "b"})
    store.labels.of_study(key, tags=["x"], note="y")
    listed = [
        (each.name, each.created, each.question, each.trials, each.tags, each.note) for each in store.imports.listed()
    ]
    assert listed == [("b", 2.0, "", 0, ("x",), "y"), ("a", 1.0, "Is µ it?", 3, (), "")]


def test_passwords_of_urls_are_masked(store):
    keep(store, "a", document={**DOCUMENT, "command": "wrk http://ann:s3cret@host"})
    assert store.imports.find("a").document["command"] == "wrk http://ann:***@host"
