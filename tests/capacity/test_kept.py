from __future__ import annotations

import re

import pytest

from plimsoll.capacity.kept import KeptSearch, kept_file, short_name, take_up
from plimsoll.capacity.search import Settings, search
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.experiment.study import study_of
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest, StoredScenario
from plimsoll.stats.thresholds.slo import parse_slo
from plimsoll.store import Store

CRITERIA = parse_slo("p99 < 50ms")
SETTINGS = Settings("/s", start=100.0, most=1e5, seconds=4.0, confirm=6, seed=1)
NOON = 1_795_176_000.0


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.fixture
def make_run(store, make_interval, make_health):
    """Runs of a service that takes 10 ms up to 437/s, and 90 ms above. `loads` are those that were made; the one with
    the number `stops` raises what `raises` is."""

    class Maker:
        loads: list[float]
        stops, raises = 0, KeyboardInterrupt
        outcome = "success"

        def __init__(self):
            self.loads = []

        def __call__(self, load, number, name):
            if number == self.stops:
                self.stops = 0
                raise self.raises
            self.loads.append(load)
            writer = store.start_run(
                Manifest(started=NOON + 60 * number, model="open", scenario=StoredScenario(name=name))
            )
            for second in range(4):
                health = make_health(second)
                health.offered = 100
                times = [10.0 if load <= 437 else 90.0] * 100
                writer.commit([make_interval(times, second=second, outcome=self.outcome)], [health])
            writer.finish("finished", NOON + 60 * number + 4, facts=RunFacts(lost_workers=0, clock_step_ms=0.0))
            return writer.id

    return Maker()


def described(settings=SETTINGS, words=("http://127.0.0.1:1/",), files=()):
    pauses = {"warmup": 0.0, "cool_down": 0.0}
    return kept_file(
        settings, CRITERIA, variant="v", pauses=pauses, words=words, files=files, command="plimsoll capacity …"
    )


def session(store, make_run, name="s", **how):
    """A session of a search: its probes, or None when it was interrupted."""
    kept = take_up(store, name, "default", described(), **{"resume": False, "fresh": False, **how})
    measure = KeptSearch(store, kept, SETTINGS, CRITERIA, "v", make_run, lambda _: None)
    finished = False
    try:
        probes = search(SETTINGS, measure)
        finished = True
    except KeyboardInterrupt:
        return None
    finally:
        store.experiments.leave(kept.key, finished=finished)
    return probes


def test_a_search_is_stored_run_by_run_and_read_back(store, make_run):
    probes = session(store, make_run)
    study = study_of(store, "s")
    assert study.search.probes == tuple(probes)
    assert (study.search.slo, study.search.unit, study.search.is_finished) == (CRITERIA, "/s", True)
    assert study.question == "Which load meets p99 < 50ms?"
    assert [each.level.value for each in study.trials] == make_run.loads
    assert {store.run(each.run).experiment for each in probes} == {"s"}
    assert store.experiments.find("s").status == "finished"


@pytest.mark.parametrize("stops", [1, 2, 5, 12])
def test_an_interrupted_search_goes_on_without_repeating_a_run(store, make_run, stops):
    make_run.stops = stops
    assert session(store, make_run) is None
    assert len(make_run.loads) == stops - 1
    probes = session(store, make_run, resume=True)
    assert [each.load for each in probes] == make_run.loads
    whole = session(store, make_run, name="whole")
    assert [each.load for each in whole] == [each.load for each in probes]


def test_a_killed_search_goes_on(store, make_run):
    """A kill leaves the cell "running"."""
    make_run.stops = 4
    session(store, make_run)
    stored = store.experiments.find("s")
    pending = store.experiments.cells(stored.key)[-1]
    store.experiments.start(stored.key, pending.key, 0.0)
    probes = session(store, make_run, resume=True)
    assert [each.load for each in probes] == make_run.loads


def test_an_unfinished_search_is_a_study_that_says_so(store, make_run):
    make_run.stops = 3
    session(store, make_run)
    assert study_of(store, "s").search.is_finished is False
    assert len(study_of(store, "s").search.probes) == 2


def test_a_run_that_cannot_be_made_is_taken_again_by_the_next_session(store, make_run):
    make_run.stops, make_run.raises = 3, PlimsollError("no file")
    with pytest.raises(PlimsollError, match="no file"):
        session(store, make_run)
    assert len(session(store, make_run, resume=True)) == len(make_run.loads)


def test_a_target_that_cannot_be_reached_ends_the_search_at_once(store, make_run):
    make_run.outcome = "connect"
    with pytest.raises(PlimsollError, match="no request of the first run reached the target: no connection"):
        session(store, make_run)
    assert len(make_run.loads) == 1
    # Nothing was measured, so there is nothing to go on with.
    make_run.outcome = "success"
    assert session(store, make_run)


def test_what_is_in_the_way_is_said(store, make_run):
    def refused(**how):
        with pytest.raises(UsageError) as error:
            take_up(store, "s", "default", how.pop("file", described()), **{"resume": False, "fresh": False, **how})
        return str(error.value)

    assert "there is no search s to go on with" in refused(resume=True)
    make_run.stops = 3
    session(store, make_run)
    assert "--resume goes on with it, --fresh starts over" in refused()
    other = described(Settings("/s", start=50.0, most=1e5, seconds=4.0, confirm=6, seed=1))
    assert re.search(r"not how search s was begun:\n  start: 100.0 → 50.0\n", refused(resume=True, file=other))
    assert "the arguments of its runs differ" in refused(resume=True, file=described(words=("http://127.0.0.1:2/",)))
    session(store, make_run, resume=True)
    assert "search s is finished" in refused()
    assert "search s is finished" in refused(resume=True)
    assert session(store, make_run, fresh=True) == list(study_of(store, "s").search.probes)


def test_the_name_of_an_experiment_is_not_taken(store):
    file = described()
    spec = {name: value for name, value in file.spec.items() if name != "capacity"}
    store.experiments.leave(
        store.experiments.begin("s", type(file)(spec, "", {}, "", 1, False, ""), ()), finished=False
    )
    with pytest.raises(UsageError, match="s is the name of an experiment"):
        take_up(store, "s", "default", file, resume=False, fresh=True)


def test_without_a_name_a_finished_search_is_kept_beside_the_next(store, make_run):
    for name in ("default", "default-2"):
        session(store, make_run, name=None)
        assert store.experiments.find(name).status == "finished"
    make_run.stops = 3
    session(store, make_run, name=None)
    session(store, make_run, name=None, resume=True)
    assert store.experiments.find("default-3").status == "finished"


def test_a_changed_file_is_named(store, make_run, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text("a")
    before = described(files=[str(file)])
    kept = take_up(store, "s", "d", before, resume=False, fresh=False)
    KeptSearch(store, kept, SETTINGS, CRITERIA, "v", make_run, lambda _: None)(100.0, "double")
    store.experiments.leave(kept.key, finished=False)
    file.write_text("b")
    with pytest.raises(UsageError, match=r"plan\.toml has changed"):
        take_up(store, "s", "d", described(files=[str(file)]), resume=True, fresh=False)
    with pytest.raises(UsageError, match="cannot read"):
        described(files=[str(tmp_path / "gone")])


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("http://ann:secret@127.0.0.1:8000/todos/?a=1", "127.0.0.1:8000-todos-a-1"),
        ("plan.toml", "plan.toml"),
        ("/home/ann/shop.py", "home-ann-shop.py"),
    ],
)
def test_a_name_needs_no_quotes(source, name):
    assert short_name(source) == name
