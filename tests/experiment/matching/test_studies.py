from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.matching.studies import matched
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import LOCUST, Level, Measured, Precision, Study, Trial

TEN, TWENTY = Level("users", 10), Level("users", 20)


def row(method: str, name: str) -> Measured:
    return Measured(method, name, requests=100, rate=10.0, quantiles={0.99: 20.0})


def study(
    name: str, *variants: str, level: Level | None = TEN, names: tuple[str, ...] = ("/",), **others: object
) -> Study:
    known = {"duration": 10.0, "endpoints": tuple(row("GET", path) for path in names), "total": row("", "Aggregated")}
    known |= {"level": level, "order": 1} | others
    trials = tuple(Trial(id=f"{name}-{variant}", variant=variant, **known) for variant in variants)
    return Study(name, trials, source=f"{name}.db", metrics=(Metric.parse("p99"),), about={"kernel": "6.1"})


def test_one_is_what_it_was():
    one = study("a", "x")
    assert matched([one]) is one


def test_two_of_one_variant_each_are_compared_with_one_another():
    found = matched([study("before", "old"), study("after", "new")])
    assert found.variants == ("old", "new")
    assert [(trial.variant, trial.operation, trial.order) for trial in found.trials] == [
        ("old", "", None), ("new", "", None),
    ]  # fmt: skip
    assert (found.name, found.source) == ("before and after", "before.db; after.db")
    assert found.warnings == (
        "old and new were not run side by side: what else changed meanwhile is in every difference",
    )


def test_two_runs_of_one_scenario_are_told_apart_by_their_ids():
    assert matched([study("run1", "locustfile.py"), study("run2", "locustfile.py")]).variants == ("run1", "run2")
    same = [replace(study("", "x"), source=""), replace(study("", "x", "x", level=TWENTY), source="")]
    assert matched(same).variants == ("study (1)", "study (2)")


def test_variants_of_two_experiments_are_matched_by_name():
    found = matched([study("before", "base", "index", "gone"), study("after", "index", "base", "async")])
    assert found.variants == ("before", "after")
    assert [(trial.variant, trial.operation) for trial in found.trials] == [
        ("before", "base"), ("before", "index"), ("after", "base"), ("after", "index"),
    ]  # fmt: skip
    assert found.operations == ("base", "index")
    assert "only before has gone: left out" in found.warnings
    assert "only after has async: left out" in found.warnings


def test_one_run_is_compared_with_each_variant_of_an_experiment():
    found = matched([study("run", "locustfile.py"), study("todos", "base", "index")])
    assert found.variants == ("locustfile.py", "base", "index")
    assert [trial.variant for trial in found.trials] == ["locustfile.py", "base", "index"]
    assert "locustfile.py and todos were not run side by side" in found.warnings[-1]


def test_operations_stay_operations():
    one = [study(name, "a", "b", operation="upload") for name in ("x", "y")]
    assert matched(one).operations == ("a, upload", "b, upload")
    common = [study("x", "a", "b", operation="upload"), study("y", "b", "c", operation="upload")]
    assert matched(common).operations == ("upload",)


def test_ids_stay_apart():
    found = matched([study("x", "a"), study("y", "b")])
    assert [trial.id for trial in found.trials] == ["a: x-a", "b: y-b"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (study("x", "a", "b"), study("y", "c", "d"),
         "no variant has the same name in all of them, so nothing can be compared (x: a and b; y: c and d)"),
        (study("x", "a", names=("/a", "/b")), study("y", "b", names=("/c",)),
         "they have no endpoint in common, so these runs did not do the same (a: GET /a and GET /b; b: GET /c); "
         "`plimsoll compare --rename OLD=NEW` gives an endpoint another name"),
        (study("x", "a", names=("/a", "/b"), total=None), study("y", "b", names=("/c",)),
         "they have no endpoint in common, so nothing can be compared (a: GET /a and GET /b; b: GET /c); "
         "`plimsoll compare --rename OLD=NEW` gives an endpoint another name"),
        (study("x", "a"), Study("y", ()), "y has no runs: there is nothing to compare"),
        (study("x", "a"), study("x", "a"), "x was given twice: it cannot be compared with itself"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(first, second, message):
    with pytest.raises(UsageError) as caught:
        matched([first, second])
    assert str(caught.value) == message


def test_levels_that_only_one_has_are_left_out():
    both = study("x", "a")
    wide = replace(both, trials=(*both.trials, replace(both.trials[0], id="more", level=TWENTY)))
    found = matched([wide, study("y", "b")])
    assert {trial.level for trial in found.trials} == {TEN}
    assert "only a has 20 users: left out" in found.warnings
    with pytest.raises(UsageError, match=r"no level in common.*\(a: 10 users and 20 users; b: 300/s\)"):
        matched([wide, study("y", "b", level=Level("/s", 300))])


def test_two_single_levels_are_compared_and_that_is_said():
    found = matched([study("x", "a"), study("y", "b", level=TWENTY)])
    assert {trial.level for trial in found.trials} == {None}
    assert "the load differs (a: 10 users; b: 20 users): a difference may be that of the load" in found.warnings


def test_one_endpoint_under_two_names_is_taken_for_the_same():
    found = matched([study("x", "a", names=("/",), total=None), study("y", "b", names=("http://h/",))])
    assert "endpoints have different names (a: GET /; b: GET http://h/); they are taken for the same" in found.warnings
    assert [trial.total.key for trial in found.trials] == [("", "Aggregated")] * 2
    assert found.endpoints() == ()


def test_endpoints_that_only_one_has():
    found = matched([study("x", "a", names=("/", "/more")), study("y", "b")])
    assert "only a has GET /more; Aggregated is not of the same requests" in found.warnings


def test_definitions_that_differ_are_said():
    other = Precision("k6", digits=None, clock="unknown", times_of="successes")
    found = "\n".join(matched([study("x", "a"), study("y", "b", precision=other)]).warnings)
    assert "times do not begin at the same moment: when a request … a: was due; b: is not known" in found
    assert "times are not of the same requests: a: failed requests too; b: successful requests only" in found
    assert "times are not rounded alike: a: 3 significant digits, no finer than 0.001 ms; b: all digits" in found


def test_circumstances_that_differ_are_said():
    second = study("y", "b", offered=10.0, duration=60.0, warmup=5.0, scenario="2")
    found = "\n".join(matched([study("x", "a", scenario="1"), replace(second, about={"kernel": "6.2"})]).warnings)
    assert "the load models differ: a: closed model; b: open model" in found
    assert "runs are not of the same length: a: 10 s; b: 60 s" in found
    assert "warm-ups of different lengths are left out: a: 0 s; b: 5 s" in found
    assert "their scenarios are not the same" in found
    assert "the environments differ: kernel" in found


def test_runs_that_are_alike_give_no_warning_but_that_of_time():
    locusts = [study(name, variant, precision=LOCUST, scenario="1") for name, variant in (("x", "a"), ("y", "b"))]
    assert len(matched(locusts).warnings) == 1


def test_warnings_of_each_are_kept_with_its_name():
    first = replace(study("x", "a"), warnings=("limit ran once",))
    assert "a: limit ran once" in matched([first, study("y", "b")]).warnings


def test_a_primary_metric_is_that_of_all():
    p99 = (Metric.parse("p99"),)
    declared = [replace(study(name, name), primary=p99) for name in "xy"]
    assert matched(declared).primary == p99
    assert matched([declared[0], study("z", "z")]).primary == ()


def test_three_are_compared_with_the_first():
    found = matched([study(name, name) for name in "xyz"])
    assert found.variants == ("x", "y", "z")
    assert found.against == ("baseline",)
