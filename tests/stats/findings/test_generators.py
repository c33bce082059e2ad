from typing import Any

import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll import record
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.generators import (
    GeneratorFaults,
    corrected,
    generators,
    lossy_machines,
    names,
    replays,
    saturated,
)
from plimsoll.stats.generator import MachineFigures
from plimsoll.stats.study import GeneratorHealth, Precision

OTHERS = Precision("vegeta", digits=None)


def test_a_generator_that_was_the_limit_blocks() -> None:
    health = GeneratorHealth(lag_p99=45, achieved=960 / 1000)
    blocked = run(None, row(p50=5), level=level(1000, "/s"), offered=1000.0, generator=health, precision=OTHERS)
    (finding,) = found(generators, study(blocked))

    assert finding.weight == "blocks"
    assert "96 % of the arrivals were begun; 1 % of the requests left more than 45 ms late" in said(finding).statement


def test_a_generator_that_was_late_with_all_of_the_load_is_a_caution() -> None:
    health = GeneratorHealth(lag_p99=45, achieved=1.0)
    late = run(None, row(p50=5), level=level(1000, "/s"), offered=1000.0, generator=health, precision=OTHERS)
    (finding,) = found(generators, study(late))

    assert finding.weight == "warning"
    assert "the load generator may have added to the times: 1 % of the requests left more than 45 ms late" in (
        said(finding).statement
    )


def test_a_generator_that_kept_up_does_not() -> None:
    assert saturated(GeneratorHealth(lag_p99=0.3, achieved=0.9995, cpu_max=0.8), 5) == GeneratorFaults()


@pytest.mark.parametrize(
    ("lag", "median", "late"), [(4, 100, False), (6, 100, True), (1.1, None, True), (0.9, 5, False)]
)
def test_how_late_depends_on_the_target(lag: float, median: float | None, late: bool) -> None:
    assert bool(saturated(GeneratorHealth(lag_p99=lag), median)) == late


def test_a_generator_short_of_cpu_is_late_soon() -> None:
    assert saturated(GeneratorHealth(cpu_max=0.95), None) == GeneratorFaults(cpu=0.95)


def test_runs_of_our_own_have_been_judged_already() -> None:
    assert found(generators, study(run(10, row(p50=5), generator=GeneratorHealth(lag_p99=45)))) == []


def test_corrected_latencies_of_arrivals_at_a_rate_are_doubted() -> None:
    clock = Precision("vegeta", digits=None, clock="corrected")
    opened = run(None, row(p99=1), level=level(100, "/s"), offered=100.0, precision=clock)
    (finding,) = found(corrected, study(opened, run(10, row(p99=1), precision=clock)))

    assert "percentiles of 1 run at a given rate" in said(finding).statement
    assert set(finding.where.kinds) == {"quantile", "mean"}


def test_recorded_latencies_are_not() -> None:
    assert found(corrected, study(run(None, row(p99=1), level=level(100, "/s"), offered=100.0))) == []


def _named(count: int, others: int | None, **known: Any) -> Any:
    rows = [row(f"GET /item/{number}", requests=3) for number in range(count)]
    return run(10, *rows, *([row(" ".join(record.OTHERS), requests=others)] if others is not None else []), **known)


def test_requests_of_further_names_are_told_with_the_pattern_of_the_names() -> None:
    (finding,) = found(names, study(_named(20, 8312)))

    assert finding.weight == "warning"
    assert said(finding).statement == (
        'This run had more than 20 names: 8312 requests of further names are counted as "(others)".'
    )
    assert said(finding).advice == 'Most names look like /item/[0-9]+: set name="/item/[id]" for these requests.'
    assert evidence_of(finding) == {"names": 20.0, "requests": 8312.0}
    assert finding.where.endpoint == record.OTHERS


def test_several_runs_are_one_finding() -> None:
    runs = _named(20, 5), _named(20, 1, repeat=1), _named(20, None, repeat=2)

    (finding,) = found(names, study(*runs))
    assert said(finding).statement == (
        '2 runs had more than 20 names: 6 requests of further names are counted as "(others)".'
    )


def test_a_run_with_few_names_has_none() -> None:
    assert found(names, study(_named(20, None))) == []
    assert found(names, study(_named(20, 0))) == []


@pytest.mark.parametrize(
    ("sent", "weight", "statement"),
    [
        (
            (50, 50),
            "insight",
            "100 of 100 requests of the log were sent, 99 % of them at most 3 ms after their time; ",
        ),
        ((60, 40), "warning", "their mix differs from the log's by 10 %."),
        ((25, 25), "warning", "50 of 100 requests of the log were sent"),
    ],
    ids=["same", "other-mix", "cut-off"],
)
def test_a_replay_is_compared_with_its_log(sent: tuple[int, int], weight: str, statement: str) -> None:
    rows = [row("a", requests=sent[0]), row("b", requests=sent[1])]
    logged = {rows[0].key: 50.0, rows[1].key: 50.0}
    trial = run(None, *rows, generator=GeneratorHealth(lag_p99=3), replayed=logged)
    (finding,) = found(replays, study(trial))
    assert finding.weight == weight
    assert statement in said(finding).statement


def test_a_run_without_a_log_is_not_compared_with_one() -> None:
    assert found(replays, study(run(10, row(p50=5)))) == []


def _on(*counts: tuple[int, int | None]) -> Any:
    """A run on machines a, b, … with these requests and retransmissions."""
    machines = tuple(
        MachineFigures(name, 1, requests, 0, 0.5, 1.0, None, None, None, None, again)
        for name, (requests, again) in zip("abcd", counts, strict=False)
    )
    return run(10, machines=machines)


def test_a_machine_that_retransmits_more_often_than_the_others_is_named() -> None:
    (finding,) = found(lossy_machines, study(_on((10_000, 10), (5_000, 600), (10_000, 20), (9, None))))

    assert finding.weight == "warning"
    assert said(finding).statement == (
        "a@10 users#0: b sent 600 TCP segments again, 120 for each 1000 requests, and the other machines 1.5: its "
        "network loses packets, and its latencies contain the waits for them."
    )
    assert evidence_of(finding)["machine"] == "b"
    assert found(lossy_machines, study(_on((10_000, 0), (10_000, 20))))


@pytest.mark.parametrize(
    "counts",
    [
        ((10_000, 0), (1_000, 19)),  # too few
        ((100_000, 0), (100_000, 99)),  # too rare
        ((10_000, 100), (10_000, 499)),  # the other one, too
        ((10_000, 900), (0, 30)),  # no other one with requests
        ((10_000, None), (10_000, 900)),  # nothing is known of the other one
        (),
    ],
)
def test_few_retransmissions_or_those_of_all_machines_are_no_finding(
    counts: tuple[tuple[int, int | None], ...],
) -> None:
    assert found(lossy_machines, study(_on(*counts))) == []
