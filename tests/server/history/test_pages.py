from __future__ import annotations

import threading

import pytest
from tests.server.history.test_experiments import experiment
from tests.server.stored_runs import NOON, serve_history, store_file, store_location, store_run

from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.spec import Experiment, Scenario, Target, Variant
from plimsoll.experiment.state import kept_file, row_of
from plimsoll.record.manifest import Manifest
from plimsoll.report.document import blocks
from plimsoll.server.history import pages as history_pages
from plimsoll.server.history.pages import PageCache
from plimsoll.stats.study import Level
from plimsoll.store import Store
from plimsoll.store.cells import CellOutcome

__all__ = ["experiment", "store_file", "store_location", "store_run"]


@pytest.fixture
def made(monkeypatch):
    """What pages were made of, each time that one was."""
    asked = []
    source_of = history_pages.source_of

    def count(store, wanted):
        asked.append(tuple(each.ref for each in wanted))
        return source_of(store, wanted)

    monkeypatch.setattr(history_pages, "source_of", count)
    return asked


def test_the_page_of_a_run(store_location, store_run):
    run = store_run(store_location)
    with serve_history(store_location) as served:
        for ref in (run, run[:-1], "last"):
            page = served.get("/api/page", ref=ref)
            assert (page["schema"], page["version"]) == (blocks.SCHEMA, blocks.VERSION)
            assert (page["refs"], page["is_growing"]) == ([run], False)
            assert page["title"] == "locustfile.py · 5 users · http://127.0.0.1:8000"
            assert run in page["lines"][0]


def test_a_page_is_made_once_for_as_long_as_nothing_changes(store_file, store_run, made):
    first, second = store_run(store_file, 0), store_run(store_file, 1, ms=20.0)
    with serve_history(store_file) as served:
        pages = [served.get("/api/page", ref=ref) for ref in (first, first, "last", second)]
        assert pages[0] == pages[1]
        assert pages[2] == pages[3]
        served("patch", f"/api/runs/{first}", {"note": "x"})
        served.get("/api/page", ref=first)
        assert made == [(first,), (second,)]
        for _ in range(2):
            served.get("/api/page", ref=[first, second])
        served.get("/api/page", ref=[second, first])
        assert made[2:] == [(first, second), (second, first)]


def test_the_page_of_a_run_that_goes_on_grows(store_file, make_interval):
    with Store.open(store_file) as store, serve_history(store_file) as served:
        writer = store.start_run(Manifest(started=NOON, users=1))
        sizes = []
        for second in range(2):
            writer.commit([make_interval([10.0] * 5, second=second)])
            page = served.get("/api/page", ref=writer.id)
            assert page["is_growing"]
            sizes.append(
                [
                    fact["value"]
                    for block in page["head"]
                    for fact in block.get("facts", ())
                    if fact["name"] == "requests"
                ]
            )
        assert sizes == [["5"], ["10"]]
        writer.finish("finished", NOON + 2)
        assert not served.get("/api/page", ref=writer.id)["is_growing"]


def test_several_are_compared_with_the_first(store_file, store_run):
    runs = [store_run(store_file, minute, ms=10.0 * (minute + 1)) for minute in range(2)]
    with serve_history(store_file) as served:
        page = served.get("/api/page", ref=runs)
        assert page["refs"] == runs
        assert "one run each, so how much of that is noise is unknown" in page["head"][0]["sentences"][0]


def test_an_experiments_page_follows_its_cells(store_location, made, store_run):
    target = Target("http://127.0.0.1:9")
    variants = (Variant("a", target), Variant("b", target))
    levels = (Level("users", 5.0),)
    spec = Experiment("todos", "/x.toml", (Scenario(url="/"),), variants, levels, "Which is faster?", repeats=1)
    with Store.open(store_location) as store, serve_history(store_location) as served:
        kept = store.experiments
        key = kept.begin("todos", kept_file(spec, ""), [row_of(cell) for cell in cells_in_order(spec)])
        assert "nothing measured yet" in served.refused(409, "get", "/api/page", ref="todos")
        titles = []
        for cell in kept.cells(key):
            kept.finish(key, cell.key, CellOutcome("valid", run=store_run(store, cell.number)))
            kept.leave(key, finished=False)
            page = served.get("/api/page", ref="todos")
            assert served.get("/api/page", ref="todos") == page
            titles.append((page["title"], page["lines"], page["refs"], page["is_growing"]))
        assert titles == [("todos", ["Which is faster?"], ["todos"], False)] * 2
        assert made == [("todos",)] * 3  # one of them failed
        kept.resume(key, kept_file(spec, ""))
        assert served.get("/api/page", ref="todos")["is_growing"]


def test_an_experiment_of_another_version_cannot_be_read(store_file, experiment):
    experiment(store_file, spec={"variants": [{"name": "old"}], "scenarios": []})
    with serve_history(store_file) as served:
        assert "another version of Plimsoll" in served.refused(409, "get", "/api/page", ref="todos")


def test_no_file_is_read_for_a_page(store_file, store_run, tmp_path):
    store_run(store_file)
    secret = tmp_path / "k6.json"
    secret.write_text('{"metrics": {}}')
    with serve_history(store_file) as served:
        for path in (str(secret), "/etc/passwd", "../k6.json"):
            for refs in ([path], ["last", path]):
                assert "has no run" in served.refused(404, "get", "/api/page", ref=refs)
                assert "has no run" in served.refused(404, "get", "/api/report/json", ref=refs)


def test_refs_that_cannot_be(store_file, store_run):
    runs = [store_run(store_file, minute) for minute in range(2)]
    with serve_history(store_file) as served:
        for refs in ([], [""], runs * 11):
            assert "names what the page is about" in served.refused(400, "get", "/api/page", ref=refs)
        assert "several runs start with" in served.refused(404, "get", "/api/page", ref="20261120")


def test_what_was_made_is_kept_until_there_is_too_much_of_it():
    kept, made = PageCache(most_bytes=10), []

    def get(key, size=4):
        return kept.get(key, lambda: (made.append(key), b"x" * size)[1])

    for key in "abaca":
        get(key)
    assert made == ["a", "b", "c"]  # b went for c
    get("b")
    assert made == ["a", "b", "c", "b"]
    assert get("d", 11) == get("d", 11) == b"x" * 11
    assert made[-2:] == ["d", "d"]  # larger than all there may be
    assert kept.get("e", lambda: b"") == b""


def test_what_failed_is_tried_again():
    kept = PageCache()
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: b"%d" % (1 // 0))
    assert kept.get("a", lambda: b"fine") == b"fine"


def test_who_asks_while_it_is_made_waits_for_it():
    kept, made, begun, go = PageCache(), [], threading.Event(), threading.Event()

    def make():
        made.append(1)
        begun.set()
        go.wait()
        return b"x"

    threads = [threading.Thread(target=kept.get, args=("a", make)) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    assert kept.get("b", lambda: b"y") == b"y"  # others do not
    go.set()
    for thread in threads:
        thread.join()
    assert made == [1]
