from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import course, found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.payload import grows, growth, payload
from plimsoll.stats.study import LOCUST


def _sizes(**sizes: float) -> list[Any]:
    return [
        run(50, row("GET /todos/", size=size), row("POST /todos/", size=136.0), variant=name)
        for name, size in sizes.items()
    ]


def test_replies_of_another_size_block_this_endpoint_of_this_pair() -> None:
    (finding,) = found(payload, study(*_sizes(base=71_876, other=93_618)))

    assert finding.weight == "blocks"
    assert (finding.where.variant, finding.where.against) == ("other", "base")
    assert finding.where.endpoint == ("GET", "/todos/")
    assert evidence_of(finding)["ratio"] == pytest.approx(1.30, abs=0.005)
    assert "93\u202f618 bytes, those of base 71\u202f876 (+30.2 %): not the same work" in said(finding).statement


@pytest.mark.parametrize(("size", "differs"), [(71_876 * 1.049, False), (71_876 * 1.051, True), (71_876 * 0.94, True)])
def test_a_twentieth_is_tolerated(size: float, differs: bool) -> None:
    assert bool(found(payload, study(*_sizes(base=71_876, other=size)))) == differs


def test_pairs_are_those_that_the_study_compares() -> None:
    trials = _sizes(base=100, second=110, third=112)

    against_base = found(payload, study(*trials))
    chain = found(payload, study(*trials, against=("previous",)))

    assert [(each.where.against, each.where.variant) for each in against_base] == [
        ("base", "second"),
        ("base", "third"),
    ]
    assert [(each.where.against, each.where.variant) for each in chain] == [("base", "second")]


def test_all_endpoints_together_are_compared_too() -> None:
    trials = [
        run(50, row("GET /a", size=100), row("GET /b", size=100), total=row("", size=size), variant=name)
        for name, size in (("base", 100.0), ("other", 200.0))
    ]

    assert [each.where.endpoint for each in found(payload, study(*trials))] == [("", "Aggregated")]


@pytest.mark.parametrize(("requests", "differs"), [(10, False), (1000, True)])
def test_the_size_of_all_together_may_differ_by_the_mix_that_chance_made(requests: int, differs: bool) -> None:
    def one(variant: str, lists: int, items: int) -> Any:
        total = row("", size=(lists * 7000 + items * 300) / (lists + items))
        rows = row("GET /list", size=7000, requests=lists), row("GET /item", size=300, requests=items)
        return run(50, *rows, total=total, variant=variant)

    trials = one("base", 4 * requests, 6 * requests), one("other", 5 * requests, 5 * requests)

    assert bool(found(payload, study(*trials))) == differs


def test_repeats_are_averaged_and_invalid_ones_left_out() -> None:
    trials = [
        run(50, row(size=100.0)),
        run(50, row(size=90.0), variant="b"),
        run(50, row(size=110.0), variant="b", repeat=1),
        run(50, row(size=900.0), variant="b", repeat=2, invalid=("lag",)),
    ]

    assert found(payload, study(*trials)) == []


def test_replies_that_grow_during_the_run() -> None:
    growing = row("GET /todos/", course=course(sizes=np.linspace(0, 2000, 21)))
    (finding,) = found(growth, study(run(50, growing, row("POST /todos/", course=course(sizes=[136.0] * 21)))))

    assert finding.where.endpoint == ("GET", "/todos/")
    assert (evidence_of(finding)["first_bytes"], evidence_of(finding)["last_bytes"]) == (200, 1800)


def test_replies_of_random_sizes_do_not_grow() -> None:
    rng = np.random.default_rng(1)
    courses = (rng.normal(20_000, 1_500, 12) for _ in range(200))
    found_in = sum(grows(row(course=course(sizes=sizes))) is not None for sizes in courses)

    assert found_in <= 4
    growing = 20_000 + 400 * np.arange(12) + rng.normal(0, 200, 12)
    assert grows(row(course=course(sizes=growing))) is not None


def test_numbers_that_get_longer_are_no_more_work() -> None:
    """Such as ids from 1 on in `{"id": 1}`, and twenty of them."""
    digits = [float(len(str(10 * second))) for second in range(20)]

    assert grows(row(course=course(sizes=[8 + each for each in digits]))) is None
    assert grows(row(course=course(sizes=[20 * (8 + each) for each in digits]))) is None
    assert grows(row(course=course(sizes=[200 * (8 + each) for each in digits]))) is not None


def test_what_grew_in_the_warm_up_is_not_growth_of_the_run() -> None:
    warmed = row(course=course(sizes=[1.0] * 20 + [100.0] * 20, warmup=20))

    assert grows(warmed) is None


def test_gaps_and_short_runs_say_nothing() -> None:
    assert grows(row(course=course(sizes=[1.0, 2.0, 3.0, 4.0]))) is None
    assert grows(row(course=course(sizes=[np.nan] * 20))) is None
    assert grows(row()) is None


def test_seconds_count_by_their_requests() -> None:
    """One large reply in the last quarter, among thousands of small ones."""
    sizes = [100.0] * 19 + [2000.0]
    counts = [1000] * 19 + [1]

    assert grows(row(course=course(sizes=sizes))) is not None
    assert grows(row(course=course(sizes=sizes, requests=counts))) is None


def test_a_last_second_that_is_not_whole_is_left_out() -> None:
    sizes = [100.0] * 10 + [900.0]

    assert grows(row(course=course(sizes=sizes))) is not None
    assert grows(row(course=course(sizes=sizes)), 10.4) is None


def test_error_bodies_do_not_grow() -> None:
    """More and more requests fail, with a longer body."""
    failures = list(range(20))
    growing = course(sizes=[100.0 + 5 * each for each in failures], requests=[20] * 20, failures=failures)

    assert grows(row(course=growing)) is None


def test_sizes_with_headers_are_no_sizes_of_bodies() -> None:
    wrk = replace(LOCUST, tool="wrk", size_of="replies")
    base = run(50, total=row("", size=100.0), variant="base")
    other = run(50, total=row("", size=180.0), variant="other", precision=wrk)

    assert found(payload, study(base, other)) == []
    assert len(found(payload, study(replace(base, precision=wrk), other))) == 1


def test_a_share_of_failures_is_compared_whatever_the_size_of_its_error_pages() -> None:
    (finding,) = found(payload, study(*_sizes(base=100, other=20)))
    assert finding.weight == "blocks"
    assert "errors" not in finding.where.kinds
    assert {"quantile", "throughput"} <= set(finding.where.kinds)
