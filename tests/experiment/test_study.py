from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from plimsoll.errors import StoreError, UsageError
from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.refs import study_in_store, study_of_refs
from plimsoll.experiment.spec import Compare
from plimsoll.experiment.state import as_aa, kept_file, row_of
from plimsoll.experiment.study import noise_for, study_of
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level
from plimsoll.store import Store, schema
from plimsoll.store.cells import CellOutcome
from plimsoll.store.database import Database

NOON = 1_795_176_000.0
SECONDS = 12
MACHINE = {"kernel": "Linux 6", "cpu": {"model": "Fast", "count": 2}, "machine": {"hostname": "here"}, "version": "1.0"}


@pytest.fixture
def store(tmp_path):
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.fixture
def make_run(store, make_interval, make_health):
    """A run of 20 requests a second that took about so long; its id."""

    def make(ms: float, **manifest) -> str:
        kept = {
            "started": NOON, "users": 5, "warmup": 1.0, "model": "closed", "users_kind": "native", "seed": 7,
            "scenario": {"name": "list", "files": [{"path": "x.py", "sha256": "a" * 64}]}, **MACHINE, **manifest,
        }  # fmt: skip
        writer = store.start_run(Manifest.from_json(kept))
        for second in range(SECONDS):
            health = make_health(second, users=5, lag_us=[5] * 20, delay_us=[5] * 20)
            writer.commit([make_interval([ms * (1 + each / 100) for each in range(20)], second=second)], [health])
        writer.finish("finished", NOON + SECONDS, facts=RunFacts.from_json({"lost_workers": 0, "clock_step_ms": 0.0}))
        return writer.id

    return make


@pytest.fixture
def keep(store):
    """An experiment whose cells have become this: become(cell) -> Became, or None while it is pending."""

    def do(spec, become):
        experiments = store.experiments
        key = experiments.begin(spec.name, kept_file(spec, "plimsoll experiment"), map(row_of, cells_in_order(spec)))
        for cell, row in zip(cells_in_order(spec), experiments.cells(key), strict=True):
            became = become(cell)
            if became is not None:
                experiments.start(key, row.key, 0.0)
                experiments.finish(key, row.key, became)
        return study_of(store, spec.name)

    return do


def test_the_cells_of_an_experiment_as_trials(store, make_spec, make_run, keep):
    compare = Compare(
        ("previous",), primary=(Metric.parse("p50 of GET /"),), smallest=0.1, errors=0.01, slo="p99 < 1s", looks=2
    )
    spec = make_spec("a b", users=(5, 10), repeats=2, question="Why?", compare=compare, shape="ladder")
    spec = replace(spec, variants=(spec.variants[0], replace(spec.variants[1], changes="an index")))

    def become(cell):
        run = make_run(10.0 if cell.variant == "a" else 20.0, seed=cell.seed)
        return CellOutcome(
            "valid", run=run, data={"rows": [3, 9], "name": ["x", None]}, collected={"explain": "Seq Scan"},
            target={"build": "v1", "notes": ["no PostgreSQL"]},
        )  # fmt: skip

    study = keep(spec, become)
    assert (study.name, study.question, study.variants, study.shape) == ("trial", "Why?", ("a", "b"), "ladder")
    assert (study.against, study.delta, study.tolerance) == (("previous",), 0.1, 0.01)
    assert list(map(str, study.slo)) == ["p99 < 1s"]
    assert (study.looks, study.repeats) == (2, 2)
    assert (study.primary, study.changes, study.interleaved) == (compare.primary, {"b": "an index"}, True)
    assert study.warnings == ("no PostgreSQL",)
    assert study.about == {
        "Plimsoll": "1.0", "machine": "here", "processor": "Fast", "number of processors": "2", "kernel": "Linux 6",
    }  # fmt: skip
    assert (study.command, study.is_aa, study.noise) == ("plimsoll experiment", False, ())
    assert study.source == f"experiment trial of {store.name}"
    assert [each.order for each in study.trials] == list(range(1, 9))
    expected = [(each.variant, each.level, each.repeat) for each in cells_in_order(spec)]
    assert [(each.variant, each.level, each.repeat) for each in study.trials] == expected
    first = study.trials[0]
    assert first.facts == {"rows at the start": 3, "rows at the end": 9, "name at the start": "x", "build": "v1"}
    assert first.collected == {"explain": "Seq Scan"}
    assert first.duration == SECONDS - 1 and not first.invalid
    medians = {each.variant: each.endpoint(("GET", "/")).quantile(0.5) for each in study.trials}
    assert medians["b"] / medians["a"] == pytest.approx(2, rel=0.01)


def test_what_went_wrong_has_its_place_and_its_reason(make_spec, make_run, keep):
    def become(cell):
        if cell.repeat == 1 and cell.variant == "a":
            crashed = {"crashed": "exit status 7, 3 s after the run began"}
            return CellOutcome("invalid", "the target ended by itself: exit status 7", make_run(10.0), target=crashed)
        if cell.repeat == 1:
            return CellOutcome("failed", "healthy: never within 5 s", collected={"log": "oh"})
        return CellOutcome("valid", run=make_run(10.0)) if cell.variant == "a" else None

    study = keep(make_spec("a b", repeats=2), become)
    by_place = {(each.variant, each.repeat): each for each in study.trials}
    assert by_place["a", 1].invalid == ("the target ended by itself: exit status 7",)
    assert by_place["a", 1].crashed == "exit status 7, 3 s after the run began"
    assert by_place["a", 1].total is not None
    failed = by_place["b", 1]
    assert (failed.invalid, failed.total, failed.endpoints) == (("healthy: never within 5 s",), None, ())
    assert by_place["a", 2].invalid == ()
    assert ("b", 2) not in by_place
    assert study.warnings[0] == "1 of 4 cells have not been run yet"


def test_variants_that_differ_in_more_than_they_are_said_to(make_spec, make_run, keep):
    def become(cell):
        return CellOutcome("valid", run=make_run(10.0, kernel="Linux 6" if cell.variant == "a" else "Linux 7"))

    study = keep(make_spec("a b", repeats=1), become)
    assert study.warnings == ("variants differ in more than they are said to: kernel (a: Linux 6; b: Linux 7)",)


def test_the_gap_is_what_a_cell_takes_beyond_its_run(store, make_spec, make_run, keep):
    assert keep(make_spec("a", repeats=1), lambda _: CellOutcome("valid", run=make_run(10.0))).gap == 0.0
    database = Database(store.name)
    with database.write("take longer") as connection:
        connection.execute(update(schema.cell).values(started=NOON, ended=NOON + SECONDS - 1 + 4.5))
    database.close()
    assert study_of(store, "trial").gap == pytest.approx(4.5)


def test_nothing_to_tell(store, make_spec, keep):
    with pytest.raises(UsageError, match="has no experiment 'todos'; there are none"):
        study_of(store, "todos")
    with pytest.raises(UsageError, match="experiment trial has nothing measured yet: of 2 cells none was run"):
        keep(make_spec("a", repeats=2), lambda _: None)
    with pytest.raises(UsageError, match="of 2 cells 2 cells have failed"):
        keep(make_spec("a", name="other", repeats=2), lambda _: CellOutcome("failed", "no"))
    with pytest.raises(UsageError, match="has no experiment 'todos'; there are other, trial"):
        study_of(store, "todos")


def test_the_noise_of_the_bench_is_that_of_the_same_scenario_on_the_same_machine(store, make_spec, make_run, keep):
    spec = make_spec("a b", repeats=4)
    times = iter([10.0, 10.2, 9.9, 10.1, 10.3, 10.0, 10.0, 9.8])
    aa = keep(as_aa(spec, "a"), lambda _: CellOutcome("valid", run=make_run(next(times))))
    assert aa.is_aa and aa.noise == ()
    study = keep(spec, lambda _: CellOutcome("valid", run=make_run(10.0)))
    noise = {each.metric: each for each in study.noise if each.endpoint == ("GET", "/")}
    assert 0.005**2 < noise["p50"].variance < 0.05**2
    file = kept_file(spec, "")
    assert noise_for(store, file, ("here", "Fast", "2")) == study.noise == noise_for(store, file)
    assert noise_for(store, file, ("there", "Fast", "2")) == ()
    longer = replace(spec, scenarios=(replace(spec.scenarios[0], run_time=99.0),))
    assert noise_for(store, kept_file(longer, "")) == ()


def test_references(store, make_spec, make_run, keep):
    run, other = make_run(10.0), make_run(20.0)
    keep(make_spec("a", repeats=1), lambda _: CellOutcome("valid", run=make_run(10.0)))
    assert study_of_refs(store, ["trial"]).name == "trial"
    one = study_of_refs(store, [run])
    assert (one.name, len(one.trials), one.trials[0].level) == (run, 1, Level("users", 5.0))
    two = study_of_refs(store, [run, other])
    assert len(two.trials) == len(two.variants) == 2
    with pytest.raises(StoreError, match="has no run 'nothing'"):
        study_of_refs(store, ["nothing"])
    with pytest.raises(UsageError, match="nothing is no file, and there is no store"):
        study_of_refs(None, ["nothing"])


def test_where_files_are_not_meant_none_is_read(store, make_run, tmp_path):
    run = make_run(10.0)
    file = tmp_path / "results.csv"
    file.write_text("elapsed\n1\n")
    assert study_in_store(store, [run]).name == run
    assert len(study_in_store(store, [run, make_run(20.0)]).trials) == 2
    with pytest.raises(StoreError, match="has no run"):
        study_in_store(store, [str(file)])
