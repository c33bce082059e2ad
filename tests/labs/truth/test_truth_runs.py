"""The part of the lab that holds on any machine, however busy: counts, outcomes, lower bounds, and shapes."""

import pytest
from labs.truth.checks import (
    CHECKS,
    brackets,
    busy,
    counts,
    failures,
    freeze_open,
    grpc,
    http2,
    sockets,
    streams,
    texts,
    unanswered,
)
from labs.truth.errors import NotJudgedError
from labs.truth.lab import Lab, Load, Observation
from labs.truth.line import Line, Verdict
from labs.truth.neighbour import busy_neighbour
from labs.truth.probe import Probe
from labs.truth.tolerance import HDR_ERROR, UNIT, value_at

pytestmark = pytest.mark.long

COUNTED = (
    "/fixed?ms=5", "/close-delimited?n=10000", "/keep-alive?requests=3&silent=1", "/chunked?n=10000&trailers=1",
    "/reset?at=head", "/malformed?kind=chunk-size", "/never",
)  # fmt: skip
QUANTILES = (0.5, 0.9, 0.99)


def all_hold(lines: list[Line]) -> bool:
    return bool(lines) and not [line for line in lines if line.verdict is not Verdict.HOLDS]


@pytest.mark.parametrize("target", COUNTED)
def test_what_was_received_is_what_was_reported(lab: Lab, target: str) -> None:
    (behaviour,) = [each for each in counts.BEHAVIOURS if each.target == target]
    how = counts.HOWS[2] if behaviour.endless else counts.HOWS[0]
    lines = list(counts.compare(lab, behaviour, how))
    assert all_hold(lines), lines


def test_ctrl_c_loses_nothing(lab: Lab) -> None:
    lines = list(counts.compare(lab, counts.BEHAVIOURS[0], counts.HOWS[1]))
    assert all_hold(lines), lines


def test_no_request_without_a_response_is_lost(lab: Lab) -> None:
    for case in unanswered.check(lab):
        lines = list(case.judge())
        assert all_hold(lines), lines


@pytest.mark.parametrize("user", ["Plain", "Fast"])
def test_redirects_and_cookies_are_followed_up(lab: Lab, user: str) -> None:
    lines = [line for chain in counts.CHAINS[1:] for line in counts.python_users(lab, chain, user)]
    lines += counts.cookies_come_back(lab, user)
    assert all_hold(lines), lines


def test_every_failure_has_its_own_outcome_and_the_run_goes_on(lab: Lab) -> None:
    (case,) = failures.check(lab)
    lines = list(case.judge())
    assert all_hold(lines), lines


def test_every_event_of_a_stream_is_counted_and_none_is_earlier_than_the_target_sends_it(lab: Lab) -> None:
    lines = [line for case in streams.check(lab) for line in case.judge()]
    # On a busy machine, events that were read together have no gap.
    lines = [line for line in lines if line.quantity != "gap p50"]
    assert all_hold(lines), lines


def test_chunks_and_tokens_of_texts_are_counted_and_no_slow_request_is_good(lab: Lab) -> None:
    lines = [line for case in texts.check(lab) for line in case.judge()]
    by_timers = ("time per token p50", "most of the fast ones are good")
    lines = [line for line in lines if line.quantity not in by_timers]
    assert all_hold(lines), lines


def test_messages_of_websockets_are_counted_and_no_round_trip_is_faster_than_the_target(lab: Lab) -> None:
    lines = [line for case in sockets.check(lab) for line in case.judge()]
    assert all_hold(lines), lines


def test_requests_of_http2_are_counted_on_connections_of_their_own_and_on_shared_ones(lab: Lab) -> None:
    lines = [line for case in http2.check(lab) for line in case.judge()]
    # On a busy machine the target answers late.
    lines = [line for line in lines if line.quantity != "service p50"]
    assert all_hold(lines), lines


@pytest.mark.timeout(600)
def test_calls_of_grpc_are_counted_whatever_becomes_of_them(lab: Lab) -> None:
    lines = [line for case in grpc.check(lab) for line in case.judge()]
    # On a busy machine the target answers late.
    lines = [line for line in lines if line.quantity != "service p50"]
    assert all_hold(lines), lines


def never_below_the_targets_own_account(observation: Observation, target: str) -> bool:
    times, endpoint = observation.truth.path(target).seconds(), observation.report.endpoint(target)
    lows = {quantile: value_at(quantile, times) - observation.truth.stamp_error for quantile in QUANTILES}
    return all(endpoint.service(quantile) >= low * (1 - HDR_ERROR) - UNIT for quantile, low in lows.items())


def test_a_service_time_is_never_below_what_the_target_took(lab: Lab) -> None:
    target = "/lognormal?median_ms=5&sigma=0.5&seed=1"
    observation = lab.observe(Load([lab.url(target), "-u", "5", "-r", "5"], 2, may_be_invalid=True))
    assert observation.truth.user_stamps == 0
    assert never_below_the_targets_own_account(observation, target)


def test_a_busy_generator_shows_its_share_and_keeps_its_account(lab: Lab) -> None:
    lines = {line.quantity: line for line in busy.judge(lab)}
    assert lines["requests"].verdict is Verdict.HOLDS, lines
    assert lines["verdict"].verdict is Verdict.HOLDS, lines
    assert lines["response p99, bracket"].verdict is Verdict.HOLDS, lines


def test_brackets_beside_a_busy_neighbour_contain_the_truth_and_no_run_is_invalid(lab: Lab) -> None:
    lines = {line.quantity: line for line in brackets.judge(lab)}
    assert lines["brackets with the truth"].verdict is Verdict.HOLDS, lines
    assert lines["invalid runs"].verdict is Verdict.HOLDS, lines


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_thirty_trivial_runs_beside_a_busy_neighbour_are_valid(lab: Lab) -> None:
    load = Load([lab.url("/fixed?ms=5"), "-u", "5", "-r", "5"], 1, may_be_invalid=True)
    with busy_neighbour():
        reports = [lab.observe(load).report for _ in range(30)]
    assert [each.invalid for each in reports] == [None] * 30


def test_an_open_model_sees_a_freeze_as_clients_from_outside_do(lab: Lab) -> None:
    target, rate, seconds = freeze_open.TARGET, freeze_open.RATE, 10
    load = Load([lab.url(target), "--rate", f"{rate}/s"], seconds, freeze=(freeze_open.EVERY, freeze_open.LENGTH))
    try:
        observation = lab.observe(load)
    except NotJudgedError as why:
        pytest.skip(f"this machine is too busy to judge it: {why}")
    assert observation.truth.path(target).received == observation.report.endpoint(target).requests == rate * seconds
    assert 0.4 < observation.report.endpoint(target).response(0.9) < 0.6
    assert never_below_the_targets_own_account(observation, target)


def test_the_probe_finds_what_lies_outside_of_the_target(lab: Lab) -> None:
    lab.target.reset()
    probe = Probe(lab.target)
    with probe:
        while len(lab.target.truth().paths) < 2 or lab.target.truth().path("/fixed?ms=0&probe=fresh").received < 20:
            pass
    overhead = probe.overhead(lab.target.truth())
    assert len(overhead.kept) >= 19
    assert overhead.kept == sorted(overhead.kept)
    # A connection is made besides: it takes longer, compared by medians of the same seconds.
    assert 0 < value_at(0.5, overhead.kept) < value_at(0.5, overhead.fresh)


def test_every_check_says_which_cases_it_has(lab: Lab) -> None:
    names = [case.name for check in CHECKS.values() for case in check(lab)]
    assert len(names) == len(set(names))
