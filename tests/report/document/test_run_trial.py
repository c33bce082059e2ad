from plimsoll.record.manifest import Manifest
from plimsoll.report.document.run import run_document
from plimsoll.report.document.run_trial import trial_of_run
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.reading import RunReading
from plimsoll.stats.study import Level
from plimsoll.stats.view import RunView


def courses(document):
    return [each.title for each in document.charts if each.name.startswith("course")]


def test_a_run_that_can_be_read_has_percentiles_second_by_second(make_interval, make_health, run, valid):
    intervals = [make_interval([10.0] * 50, second=second) for second in range(5)]
    health = [make_health(second, users=3, lag_us=[100] * 50) for second in range(5)]
    view = RunView()
    view.add(intervals, health)
    view.length = 5.0
    run.ended = run.started + 5.0
    run.columns, run.health = lambda: [IntervalColumns.of(intervals)], lambda: iter(health)
    run.failures = run.exceptions = lambda: iter(())
    shown = courses(run_document(view, run, valid, RunReading(run)))
    assert shown[0] == "Requests per second"
    assert any("esponse" in each for each in shown)


def test_one_that_is_in_memory_only_has_its_counts(view, valid):
    shown = courses(run_document(view, None, valid))
    assert shown[0] == "Requests per second"
    assert not any("esponse" in each for each in shown)
    trial = trial_of_run(view, None, valid)
    assert trial.total is not None
    assert (trial.total.requests, trial.total.failures) == (view.total.requests, view.total.failures)
    assert [each.key for each in trial.endpoints] == [(each.method, each.name) for each in view.endpoints]
    assert trial.level is None


def test_the_level_is_the_one_that_the_load_kept_to(view, run, valid):
    assert trial_of_run(view, run, valid).level == Level("users", 5.0)
    shape = {"kind": "constant", "values": {"level": 300.0}}
    load = {"model": "open", "phases": [{"name": "rate", "shape": shape, "warmup": False}]}
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "model": "open", "load": load})
    assert trial_of_run(view, run, valid).level == Level("/s", 300.0)
