from __future__ import annotations

import re
import subprocess
import sys

import pytest

from plimsoll.errors import StoreError
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


def test_run_ids_are_sortable_and_typable(store):
    ids = [store.start_run(Manifest(started=NOON + 60 * minute)).id for minute in (2, 0, 1)]
    assert all(re.fullmatch(r"20261120-120[0-2]-[0-9a-z]{4}", run) for run in ids)
    assert sorted(ids) == [ids[1], ids[2], ids[0]]


def test_runs_are_listed_the_latest_first(store):
    first, second = (store.start_run(Manifest(started=NOON + 60 * minute)).id for minute in (0, 1))
    assert [run.id for run in store.runs()] == [second, first]
    assert [run.id for run in store.runs(limit=1)] == [second]


def test_a_run_is_found_by_id_by_a_beginning_that_is_its_own_and_as_the_last(store):
    first, second = (store.start_run(Manifest(started=NOON + 60 * minute)).id for minute in (0, 1))
    assert store.run(first).id == store.run(first[:-2]).id == store.run("20261120-1200").id == first
    assert store.run("last").id == second


def test_a_run_that_is_not_one_run(store):
    with pytest.raises(StoreError, match="no runs yet"):
        store.run("last")
    for minute in (0, 1):
        store.start_run(Manifest(started=NOON + 60 * minute))
    with pytest.raises(StoreError, match="several runs start with '2026'"):
        store.run("2026")
    for unknown in ("2027", "%", "_", "\0", "\ud800"):
        with pytest.raises(StoreError, match="has no run"):
            store.run(unknown)


def test_a_run_keeps_its_manifest_without_passwords(store_location):
    manifest = {"started": NOON, "host": "http://ann:s3cret@host", "plan": {"users": 5, "µ": [1.5, None]}}
    with Store.open(store_location) as store:
        run = store.start_run(Manifest.from_json(manifest)).id
    assert manifest["host"] == "http://ann:s3cret@host"
    with Store.open(store_location) as store:
        kept = store.run(run)
    assert kept.manifest.to_json() == {**manifest, "host": "http://ann:***@host"}
    assert (kept.started, kept.ended, kept.status, kept.notes, kept.experiment) == (NOON, None, "running", [], None)


def test_runs_of_one_experiment_share_its_name(store):
    runs = [store.start_run(Manifest(started=NOON), experiment=name).id for name in ("a", "b", "a", None)]
    assert [store.run(run).experiment for run in runs] == ["a", "b", "a", None]


def test_a_finished_run(store):
    writer = store.start_run(Manifest(started=NOON))
    for _ in range(2):
        writer.finish(
            "stopped",
            NOON + 5,
            ["worker 1 died", "http://a:b@c"],
            RunFacts.from_json({"lost_workers": 1, "why": "http://a:b@c"}),
        )
    run = store.run(writer.id)
    assert (run.status, run.ended, run.notes) == ("stopped", NOON + 5, ["worker 1 died", "http://a:***@c"])
    assert run.facts.to_json() == {"lost_workers": 1, "why": "http://a:***@c"}


def test_of_a_run_that_goes_on_no_facts_are_known(store):
    writer = store.start_run(Manifest(started=NOON))
    assert store.run(writer.id).facts == RunFacts()
    writer.finish("finished", NOON + 5)
    assert store.run(writer.id).facts == RunFacts()


def test_who_only_reads_does_not_make_a_file(tmp_path):
    with pytest.raises(StoreError, match=r"no store at .*runs.db; `plimsoll run` makes one"):
        Store.open(str(tmp_path / "runs.db"), create=False)
    assert list(tmp_path.iterdir()) == []


def test_the_default_is_a_file_in_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open() as store:
        store.start_run(Manifest(started=NOON))
    assert (tmp_path / "plimsoll.db").is_file()


def test_several_processes_may_make_the_same_store(store_location):
    code = f"""
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store
with Store.open({store_location!r}) as store:
    store.start_run(Manifest(started={NOON}))
"""
    opened = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[1] for process in opened] == [""] * 4
    with Store.open(store_location) as store:
        assert len(store.runs()) == 4
