"""What is found of small real servers: recorded ladders, and short runs that all go on at the same time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.command import Command
from tests.stats.findings.servers import SERVICE_S, Server, ladder, trial_of_last

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings import find
from plimsoll.stats.study import Study
from plimsoll.stats.study_json import from_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Trial

RECORDED = Path(__file__).with_name("recorded")
"""Studies that `ladder` and `servers.arrivals` measured, as JSON."""
MIX = """
target = "{url}"

[[request]]
get = "/fast"
weight = 3

[[request]]
get = "/slow"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@cache
def recorded(name: str) -> tuple[Finding, ...]:
    import json

    return find(from_json(json.loads((RECORDED / f"{name}.json").read_text())))


def of(findings: tuple[Finding, ...], name: str) -> list[Finding]:
    return [each for each in findings if each.id == name]


def test_a_lane_that_serves_in_order_is_serial_and_not_shared_even_if_the_warm_up_has_its_first_wait() -> None:
    (serial,) = of(recorded("lane"), "SERIAL")

    assert 75 < float(evidence_of(serial)["capacity_per_s"]) < 101  # type: ignore[arg-type]
    assert of(recorded("lane"), "SHARED") == []


def test_the_users_that_a_lane_serves_at_a_time_are_one_and_not_its_queue() -> None:
    (begins,) = of(recorded("lane"), "PRE-KNEE")

    assert float(evidence_of(begins)["bound_users"]) < 2  # type: ignore[arg-type]


def test_a_capacity_that_all_share_is_serial_and_shared() -> None:
    assert len(of(recorded("shared"), "SERIAL")) == len(of(recorded("shared"), "SHARED")) == 1


def test_arrivals_beyond_the_capacity_of_a_lane_are_an_overload_and_no_utilisation() -> None:
    (overload,) = of(recorded("overload"), "OVERLOAD")

    assert 75 < float(evidence_of(overload)["served_per_s"]) < 101  # type: ignore[arg-type]
    assert overload.where.level is not None and overload.where.level.value == 120
    assert "the backlog grows by" in said(overload).statement
    assert all("utilisation" not in said(each).statement for each in of(recorded("overload"), "ELAST"))


@pytest.fixture(scope="module")
def runs(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """A trial of each path, and of "mix", by its name. All run at the same time."""
    started = {}
    for name in ("fail", "cold", "close", "mix"):
        command = Command(tmp_path_factory.mktemp(name))
        what = f"{server.url}/{name}"
        if name == "mix":
            command.write(MIX.format(url=server.url), "mix.toml")
            what = "mix.toml"
        seconds = "4s" if name == "cold" else "2s"
        started[name] = command, command.start("run", what, "--headless", "-u", "4", "-r", "100", "-t", seconds)
    for command, process in started.values():
        command.end(process)
    return {name: trial_of_last(command) for name, (command, _) in started.items()}


def found(trial: Trial) -> dict[str, Finding]:
    return {each.id: each for each in find(Study("x", (trial,)))}


def test_a_server_that_only_fails_has_no_throughput(runs: dict[str, Trial]) -> None:
    findings = found(runs["fail"])

    assert said(findings["ERR"]).statement == "GET /fail: all requests fail with HTTP 500 at 4 users."
    assert not findings.keys() & {"SAT", "SERIAL", "RETRO", "USL", "PAYLOAD"}


def test_slow_first_seconds_are_a_cold_start(runs: dict[str, Trial]) -> None:
    findings = found(runs["cold"])

    assert evidence_of(findings["COLD"])["seconds"] in (1, 2)
    assert "NONSTATIONARY" not in findings


def test_a_connection_for_each_request_is_found_with_its_cost(runs: dict[str, Trial]) -> None:
    (closed,) = [each for each in find(Study("x", (runs["close"],))) if each.id == "CONNECT"]

    assert evidence_of(closed)["share"] == 1
    assert 0 < float(evidence_of(closed)["connecting_ms"]) < 1000  # type: ignore[arg-type]


def test_a_healthy_service_with_a_fast_and_a_slow_endpoint_is_no_warning(runs: dict[str, Trial]) -> None:
    findings = find(Study("x", (runs["mix"],)))

    assert [each for each in findings if each.weight != "insight"] == []
    assert not {each.id for each in findings} & {"CONNECT", "COLD", "ERR"}
    assert any(each.where.endpoint == ("", "Aggregated") for each in of(findings, "BIMODAL"))


@pytest.mark.long
@pytest.mark.parametrize(("path", "options"), [("lane", ("--warmup", "1s")), ("shared", ())])
def test_a_ladder_of_today_does_not_contradict_the_recorded_one(
    path: str, options: tuple[str, ...], server: Server, plimsoll: Command
) -> None:
    trials = ladder(plimsoll, f"{server.url}/{path}", (4, 8, 16), "-t", "2s", *options)

    today, then = ({each.id for each in found} for found in (find(Study(path, tuple(trials))), recorded(path)))
    # What else this machine does can hide a finding, as with flat throughput. It cannot make the server faster.
    assert today & {"SERIAL", "SHARED"} <= then
    rates = [trial.total.rate for trial in trials if trial.total is not None]
    assert len(rates) == 3 and all(rate is not None and 1 < rate < 1.1 / SERVICE_S for rate in rates), rates
