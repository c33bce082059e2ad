from typing import Any

import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.elasticity import elasticity, steep, utilisation


@pytest.mark.parametrize(
    ("load", "value", "next_load", "next_value", "e"),
    [
        (600, 40.079103, 800, 161.093631, 4.84),
        (800, 161.093631, 900, 172.114943, 0.56),
        (900, 172.114943, 1000, 793.423871, 14.5),
        (800, 53.311743, 900, 1003.495423, 24.9),
        (240, 470, 336, 3300, 5.79),
    ],
)
def test_elasticities_of_published_ladders(
    load: float, value: float, next_load: float, next_value: float, e: float
) -> None:
    assert elasticity(load, value, next_load, next_value) == pytest.approx(e, abs=0.05 if e > 10 else 0.005)


@pytest.mark.parametrize(("e", "rho"), [(4.84, 0.83), (24.9, 0.96), (4, 0.8)])
def test_a_queue_has_this_elasticity_at_one_utilisation(e: float, rho: float) -> None:
    assert utilisation(e) == pytest.approx(rho, abs=0.005)


def _open(rate: float, p99: float) -> Any:
    return run(None, row(p99=p99), level=level(rate, "/s"), offered=rate)


def test_steep_steps_are_flagged_and_others_are_not() -> None:
    findings = found(steep, study(_open(600, 40.079103), _open(800, 161.093631), _open(900, 172.114943)))

    assert [evidence_of(each)["loads"] for each in findings] == [(600, 800)]
    assert evidence_of(findings[0])["utilisation"] == pytest.approx(0.83, abs=0.005)
    assert "83 % utilisation" in said(findings[0]).statement


def test_a_closed_loop_gets_a_flag_but_no_utilisation() -> None:
    rows = [[row("GET /a", p99=a), row("GET /b", p99=b)] for a, b in ((470, 100), (3300, 110))]
    (finding,) = found(steep, study(run(240, *rows[0]), run(336, *rows[1])))

    assert "utilisation" not in evidence_of(finding)
    assert evidence_of(finding)["elasticity of GET /a"] == pytest.approx(5.79, abs=0.005)
    assert "elasticity of GET /b" not in evidence_of(finding)
    assert "p99 of GET /a grows from 470 ms to 3.3 s" in said(finding).statement
    assert said(finding).statement.endswith("(1 of 2 endpoints grow so).")


def test_rungs_without_a_p99_are_left_out() -> None:
    assert found(steep, study(run(10, row(p99=1)), run(11, row(p50=1)), run(12, row(p99=0)))) == []


def test_where_requests_fail_there_is_no_utilisation() -> None:
    over = run(None, row(p99=900, requests=1000, failures=50), level=level(110, "/s"), offered=110.0)
    (finding,) = found(steep, study(_open(100, 100), over))

    assert "utilisation" not in said(finding).statement
    assert "utilisation" not in evidence_of(finding)
