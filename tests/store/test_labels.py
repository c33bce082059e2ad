from __future__ import annotations

import threading

import pytest

from plimsoll.errors import ReadOnlyError, RefError, UsageError
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store
from plimsoll.store.cells import ExperimentFile
from plimsoll.store.labels import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS, words_of

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC
FILE = ExperimentFile({}, "d", {}, "Which is faster?", 1, False, "")


def start(store, minute=0, experiment=None, **manifest) -> str:
    return store.start_run(Manifest.from_json({"started": NOON + 60 * minute, **manifest}), experiment=experiment).id


def found(store, search="", tag="") -> list[str]:
    runs, total = store.part(None, search=search, tag=tag)
    assert total == len(runs)
    assert store.runs(search=search, tag=tag) == runs
    return [run.id for run in runs]


def test_a_run_has_none_at_first_and_then_those_it_is_given(store_location):
    with Store.open(store_location) as store:
        run = start(store)
        assert (store.run(run).tags, store.run(run).note) == ((), "")
        store.labels.of_run(run, tags=["nightly", "new index"], note=" two\nlines ")
    with Store.open(store_location) as store:
        kept = store.run(run)
        assert (kept.tags, kept.note) == (("nightly", "new index"), "two\nlines")
        store.labels.of_run(run, note="another")
        assert (store.run(run).tags, store.run(run).note) == (kept.tags, "another")
        store.labels.of_run(run, tags=[])
        assert (store.run(run).tags, store.run(run).note) == ((), "another")
        store.labels.of_run(run)
        assert store.run(run).note == "another"


def test_labels_do_not_change_the_run(store):
    run = start(store)
    before = store.run(run)
    store.labels.of_run(run, tags=["a"], note="b")
    after = store.run(run)
    assert (before.written, before.manifest) == (after.written, after.manifest)


def test_an_experiment_and_a_study_have_them_too(store):
    store.experiments.begin("todos", FILE, [])
    study, _ = store.imports.keep("wrk", {"trials": []}, source="/x", digest="d", created=NOON)
    store.labels.of_experiment("todos", tags=["a"], note="b")
    store.labels.of_study(study, tags=["c"], note="d")
    experiment, kept = store.experiments.find("todos"), store.imports.find("wrk")
    assert (experiment.tags, experiment.note) == (("a",), "b")
    assert (kept.tags, kept.note) == (("c",), "d")
    run = start(store)
    store.labels.of_run(run, tags=["B"])
    assert store.labels.tags() == ["a", "B", "c"]


def test_a_study_that_is_read_again_keeps_them(store):
    first, _ = store.imports.keep("wrk", {"trials": []}, source="/x", digest="d", created=NOON)
    store.labels.of_study(first, tags=["a"], note="b")
    store.imports.keep("wrk", {"trials": [1]}, source="/x", digest="e", created=NOON)
    assert (store.imports.find("wrk").tags, store.imports.find("wrk").note) == (("a",), "b")


def test_what_does_not_fit_is_refused_and_changes_nothing(store):
    run = start(store)
    store.labels.of_run(run, tags=["x" * LONGEST_TAG] + [str(each) for each in range(MOST_TAGS - 1)])
    store.labels.of_run(run, note="x" * LONGEST_NOTE)
    before = store.run(run)
    with pytest.raises(UsageError, match=r"tag x{40}… is too long: at most 40 characters"):
        store.labels.of_run(run, tags=["x" * (LONGEST_TAG + 1)])
    with pytest.raises(UsageError, match="21 tags are too many: at most 20"):
        store.labels.of_run(run, tags=[str(each) for each in range(MOST_TAGS + 1)])
    with pytest.raises(UsageError, match="a note of 10001 characters is too long: at most 10000"):
        store.labels.of_run(run, tags=[], note="x" * (LONGEST_NOTE + 1))
    assert store.run(run) == before


def test_what_is_not_there_cannot_be_labelled(store):
    for label, what in (
        (store.labels.of_run, "run"),
        (store.labels.of_experiment, "experiment"),
        (store.labels.of_study, "study"),
    ):
        with pytest.raises(RefError, match=rf"there is no {what} 'x.+x00'"):
            label("x\0", note="y")


def test_text_that_no_database_takes_and_passwords(store):
    run = start(store)
    store.labels.of_run(run, tags=["a\0b", "\ud800", "http://ann:s3cret@x"], note="\0 http://ann:s3cret@x")
    kept = store.run(run)
    assert kept.tags == ("a\ufffdb", "?", "http://ann:***@x")
    assert kept.note == "\ufffd http://ann:***@x"
    assert found(store, tag="a\0b") == [run]
    assert found(store, "s3cret") == []


def test_runs_are_found_by_every_word_that_is_said_of_them(store):
    files = [{"path": "/home/Ann/Checkout.py", "sha256": "0"}]
    scenario = {"name": "Evening", "files": files}
    git = {"commit": "c0ffee", "dirty": True}
    one = start(store, 1, "Winter", scenario=scenario, host="http://ÄPFEL.example", git=git)
    two = start(store, 2, host="http://b.example")
    store.labels.of_run(two, tags=["Smoke"], note="After the index")
    for words in ("winter", "EVENING", "checkout.py ann", "äpfel", "c0ff", one[-4:], "  winter\tc0ffee "):
        assert found(store, words) == [one], words
    for words in ("smoke", "index AFTER"):
        assert found(store, words) == [two], words
    assert found(store, "example") == [two, one]
    assert found(store) == [two, one]
    for words in ("%", "_", "\\", "winter smoke", "EveningWinter", "\0"):
        assert found(store, words) == [], words
    store.labels.of_run(two, tags=[])
    assert found(store, "smoke") == []
    assert found(store, "index") == [two]


def test_a_tag_is_found_whole_and_as_it_is(store):
    one, two = start(store, 1), start(store, 2)
    store.labels.of_run(one, tags=["smoke", 'a "quoted", one', "100%"])
    store.labels.of_run(two, tags=["smoke test", "Smoke", ", "])
    for tag, expected in {
        "smoke": [one], "Smoke": [two], "smoke test": [two], 'a "quoted", one': [one], "100%": [one],
        "smok": [], "%": [], ",": [two], '", "': [],
    }.items():  # fmt: skip
        assert found(store, tag=tag) == expected, tag


def test_a_part_of_the_runs_comes_with_how_many_there_are(store):
    runs = [start(store, minute) for minute in range(5)][::-1]
    assert [run.id for run in store.part(2, 1)[0]] == runs[1:3]
    assert store.part(2, 4)[1] == store.part(0)[1] == store.part(None, 9)[1] == 5
    assert store.ids() == runs
    assert [run.id for run in store.several([runs[0], runs[2], "other"])] == [runs[2], runs[0]]


def test_two_who_label_one_run_do_not_undo_one_another(store_location):
    with Store.open(store_location) as store:
        run = start(store)
        done = []

        def say(**label):
            with Store.open(store_location) as own:
                for _ in range(20):
                    own.labels.of_run(run, **label)
            done.append(label)

        threads = [threading.Thread(target=say, kwargs=label) for label in ({"tags": ["a"]}, {"note": "b"})]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(done) == 2
        assert found(store, "a b", tag="a") == [run]


def test_where_nothing_may_be_written_nothing_is_labelled(postgresql_url):
    with Store.open(postgresql_url) as store:
        run = start(store)
    with Store.open(f"{postgresql_url}&options=-c%20default_transaction_read_only%3Don") as store:
        with pytest.raises(ReadOnlyError, match=r"cannot label the run: .*read-only transaction"):
            store.labels.of_run(run, note="x")
        assert store.run(run).note == ""


def test_words_of_different_things_do_not_run_into_one_another():
    manifest = Manifest(host="A")
    assert words_of("id", "", manifest, ["B"], "C") == "id\na\nb\nc"
