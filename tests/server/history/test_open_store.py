from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.server.stored_runs import store_file, store_location

from plimsoll.errors import RefError, StoreError
from plimsoll.record.manifest import Manifest
from plimsoll.server.history.open_store import OpenStore
from plimsoll.store import Store

__all__ = ["store_file", "store_location"]


def test_all_threads_share_one_store(store_location):
    Store.open(store_location).close()
    opened = OpenStore(store_location)
    with ThreadPoolExecutor(8) as threads:
        stores = set(threads.map(lambda _: opened.get(), range(32)))
    assert len(stores) == 1
    opened.close()


def test_it_is_not_made_by_who_only_looks(store_file):
    opened = OpenStore(store_file)
    assert opened.get_if_there() is None
    with pytest.raises(RefError, match="no store at"):
        opened.get()
    assert not Path(store_file).exists()
    Store.open(store_file).close()
    assert opened.get_if_there() is opened.get()
    opened.close()


def test_another_file_in_its_place_is_another_store(store_file):
    with Store.open(store_file) as store:
        store.start_run(Manifest(started=0.0))
    opened = OpenStore(store_file)
    first = opened.get()
    assert len(first.ids()) == 1
    other = f"{store_file}.new"
    Store.open(other).close()
    Path(other).replace(store_file)
    assert opened.get() is not first
    assert opened.get().ids() == []
    opened.close()


def test_it_is_found_from_wherever_the_process_goes(store_file, tmp_path, monkeypatch):
    Store.open(store_file).close()
    monkeypatch.chdir(tmp_path)
    opened = OpenStore(Path(store_file).name)
    monkeypatch.chdir("/")
    assert opened.get().ids() == []
    opened.close()
    assert opened.get().ids() == []  # opened again
    opened.close()


def test_what_is_no_store_says_so(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("these are notes, not a database\n" * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        OpenStore(str(notes)).get_if_there()
