from typing import Any

import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.connections import connections


def _run(connected: int | None, *, requests: int = 1000, users: float | None = 10) -> Any:
    total = row("", requests=requests, mean=1.2, connected=connected, connecting=0.31 if connected else None)
    return run(users, row("GET /"), total=total)


def test_a_connection_for_each_request_is_told_with_its_cost() -> None:
    (finding,) = found(connections, study(_run(980)))

    assert finding.weight == "insight"
    assert said(finding).statement == (
        "98 % of the requests open a connection of their own, which takes 0.31 ms of a mean of 1.2 ms."
    )
    assert evidence_of(finding)["share"] == 0.98


@pytest.mark.parametrize(("connected", "requests"), [(10, 1000), (10, 12), (100, 1000), (28, 40), (None, 1000), (0, 0)])
def test_kept_connections_and_first_ones_are_no_finding(connected: int | None, requests: int) -> None:
    assert found(connections, study(_run(connected, requests=requests))) == []


def test_all_runs_of_a_cell_have_to_show_it() -> None:
    runs = _run(980), _run(12)

    assert found(connections, study(*runs)) == []
