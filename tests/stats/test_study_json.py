from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll._engine import Histogram
from plimsoll.record import TracedRequest
from plimsoll.stats.capacity.probe import CapacityProbe, CapacitySearch
from plimsoll.stats.generator import LinkUse
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import (
    Claim,
    Course,
    FailureKind,
    GeneratorHealth,
    Level,
    Measured,
    Noise,
    Precision,
    Series,
    Skipped,
    Study,
    TargetWork,
    Trial,
)
from plimsoll.stats.study_json import from_json, to_json
from plimsoll.stats.thresholds.slo import CriterionResult, parse_slo

words = some.text(max_size=8)
numbers = some.floats(allow_nan=False)
maybe = some.none() | numbers
counts = some.integers(0, 2**53)
maybe_count = some.none() | counts
keys = some.tuples(words, words)
levels = some.builds(Level, some.sampled_from(["users", "/s"]), some.floats(0, 1e6))
kinds = some.sampled_from(["quantile", "mean", "max", "throughput", "errors"])
metrics = some.builds(Metric, kinds, maybe, some.none() | words, some.floats(0, 1))


@some.composite
def histograms(draw):
    histogram = Histogram()
    for value in draw(some.lists(some.integers(1, 3_600_000_000), max_size=4)):
        histogram.record(value, draw(some.integers(1, 9)))
    return histogram


@some.composite
def courses(draw):
    length = draw(some.integers(0, 4))

    def array(elements, kind):
        return np.array(draw(some.lists(elements, min_size=length, max_size=length)), dtype=kind)

    return Course(
        array(counts, np.int64), array(counts, np.int64),
        *(array(some.floats(), np.float64) for _ in range(3)),
        tuple(draw(some.lists(some.none() | histograms(), min_size=length, max_size=length))),
        slice(draw(some.none() | some.integers(0, 9)), draw(some.none() | some.integers(0, 9))),
    )  # fmt: skip


measured = some.builds(
    Measured, words, words, requests=maybe_count, failures=maybe_count, rate=maybe, mean=maybe, min=maybe, max=maybe,
    quantiles=some.dictionaries(some.floats(0, 1), numbers, max_size=3), size=maybe,
    outcomes=some.dictionaries(words, counts, max_size=2),
    kinds=some.lists(some.builds(FailureKind, words, words, counts, maybe_count), max_size=2).map(tuple),
    mean_success=maybe, mean_failure=maybe, censored=counts, histogram=some.none() | histograms(),
    course=some.none() | courses(),
)  # fmt: skip
points = some.lists(some.tuples(numbers, some.floats()), max_size=3).map(lambda each: np.array(each).reshape(-1, 2))
series = some.builds(
    lambda *names, points: Series(*names, points[:, 0], points[:, 1]), words, words, words, points=points
)
precisions = some.builds(
    Precision, words, some.none() | some.integers(1, 5), numbers,
    some.sampled_from(["due", "sent", "corrected", "unknown"]),
)  # fmt: skip
works = some.builds(
    TargetWork, some.sampled_from(["transaction", "call", "statement", "part"]), words, words, counts, numbers, words,
    counts, maybe, maybe, maybe, maybe_count,
)  # fmt: skip
slow_requests = some.builds(
    TracedRequest, words, words, words, words, some.floats(0, 9), some.floats(0, 9), some.floats(0, 9),
    some.none() | some.floats(0, 9),
)  # fmt: skip
trials = some.builds(
    Trial, id=words, variant=words, level=some.none() | levels, operation=words, repeat=counts, order=maybe_count,
    users=maybe, offered=maybe, think=maybe, duration=maybe, ramp=numbers, warmup=numbers,
    endpoints=some.lists(measured, max_size=2).map(tuple), total=some.none() | measured, precision=precisions,
    invalid=some.lists(words, max_size=2).map(tuple),
    generator=some.none() | some.builds(GeneratorHealth, maybe, maybe),
    observed=some.lists(series, max_size=2).map(tuple), cores=some.dictionaries(words, numbers, max_size=2),
    work=some.lists(works, max_size=2).map(tuple), slowest=some.lists(slow_requests, max_size=2).map(tuple),
    edits=some.lists(some.tuples(counts, words), max_size=2).map(tuple),
    crashed=some.none() | words, scenario=some.none() | words,
    facts=some.dictionaries(words, words | some.floats(), max_size=3),
    collected=some.dictionaries(words, words, max_size=2),
)  # fmt: skip
claims = some.builds(
    Claim, words, words, some.just("errors"), some.just(">"), numbers, some.none() | words, some.none() | keys
)
studies = some.builds(
    Study, words, some.lists(trials, max_size=2).map(tuple), question=words,
    against=some.lists(some.sampled_from(["baseline", "previous"]), max_size=2).map(tuple),
    metrics=some.lists(metrics, max_size=2).map(tuple), primary=some.lists(metrics, max_size=2).map(tuple),
    interleaved=some.booleans(), gap=maybe, looks=some.integers(1, 9),
    noise=some.lists(some.builds(Noise, words, keys, some.none() | levels, numbers, numbers), max_size=1).map(tuple),
    skipped=some.lists(some.builds(Skipped, words, words, words), max_size=2).map(tuple),
    claims=some.lists(claims, max_size=1).map(tuple), warnings=some.lists(words, max_size=2).map(tuple),
    about=some.dictionaries(words, words, max_size=2), shape=some.sampled_from(["auto", "ladder", "chain"]),
    is_aa=some.booleans(),
)  # fmt: skip


def same(one, other):
    """Whether two values are equal in all they hold; NaN is the same as NaN, and 1 is not the same as 1.0."""
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, each.name), getattr(other, each.name)) for each in dataclasses.fields(one)
        )
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, Histogram):
        return one.encode() == other.encode()
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


@given(studies)
def test_a_study_comes_back_from_json_as_it_was(study):
    text = json.dumps(to_json(study), allow_nan=False)
    assert same(study, from_json(json.loads(text)))


def test_what_is_equal_to_a_default_and_not_the_same_is_written():
    study = Study("x", (Trial(id="a", variant="b", ramp=0),), interleaved=0)
    assert "interleaved" in to_json(study)


TRIAL = {"id": "a", "variant": "x"}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "is no study"),
        ({"plimsoll": "study", "version": 2, "name": "", "trials": []}, "a study of version 2, this Plimsoll reads"),
        ({"name": "x"}, "trials: Field required"),
        ({"name": 5, "trials": []}, "name: Input should be a valid string"),
        ({"name": "x", "trials": {}}, "trials: Input should be a valid tuple"),
        ({"name": "x", "trials": [5]}, r"trials\[0\]: Input should be a valid dictionary"),
        ({"name": "x", "trials": [{**TRIAL, "wings": 2}]}, r"trials\[0\]\.wings: Extra inputs are not permitted"),
        (
            {"name": "x", "trials": [{**TRIAL, "level": {"unit": "m", "value": 1}}]},
            r"level\.unit: Input should be 'users' or '/s'",
        ),
        ({"name": "x", "trials": [{**TRIAL, "ramp": "long"}]}, r"trials\[0\]\.ramp: Input should be a valid number"),
        ({"name": "x", "trials": [{**TRIAL, "repeat": 1.5}]}, r"trials\[0\]\.repeat: Input should be a valid integer"),
        (
            {"name": "x", "trials": [{**TRIAL, "total": {"method": "", "name": "", "histogram": "AAAA"}}]},
            r"total\.histogram: is no histogram",
        ),
        (
            {"name": "x", "trials": [{**TRIAL, "total": {"method": "", "name": "", "quantiles": {"half": 3}}}]},
            r"total\.quantiles\.half\.\[key\]: Input should be a valid number",
        ),
    ],
)
def test_other_documents_are_refused_with_the_field(document, message):
    if "version" not in document and document:
        document = {"plimsoll": "study", "version": 1, **document}
    with pytest.raises(ValueError, match=message):
        from_json(document)


def test_a_study_that_was_stored_before_is_read_and_written_as_it_was():
    """The file was written by version 1 of the document; stores hold such documents."""
    document = json.loads((Path(__file__).parent / "study_v1.json").read_text())
    study = from_json(document)
    assert to_json(study) == document
    (trial,) = study.trials
    assert (trial.level, trial.endpoints[0].quantile(0.5)) == (Level("users", 5.0), 1.5)
    assert trial.endpoints[0].course.histograms[0].encode() == trial.endpoints[0].histogram.encode()
    assert math.isnan(trial.endpoints[0].course.means[1])
    assert math.isinf(trial.facts["share"])


def test_a_search_for_capacity_is_read_back():
    criteria = parse_slo("p99 < 50ms, timeout < 1%")
    results = tuple(CriterionResult(each, 1.0, held=True, at_least=False) for each in criteria)
    search = CapacitySearch(criteria, "/s", 10.0, (CapacityProbe(5.0, 10.0, "halve", results, run="r", backlog=0.5),))
    study = Study("s", (), search=search)
    assert from_json(json.loads(json.dumps(to_json(study)))).search == search


def test_the_use_of_an_interface_is_read_back():
    link = LinkUse("eth0", 1000, np.array([5, 7], dtype=np.int64), np.array([1, 2], dtype=np.int64))
    study = Study("s", (Trial(id="r", variant="a", link=link),))
    (trial,) = from_json(json.loads(json.dumps(to_json(study)))).trials
    assert (trial.link.interface, trial.link.mbit_s) == ("eth0", 1000)
    assert (trial.link.received.tolist(), trial.link.sent.tolist()) == ([5, 7], [1, 2])
