from dataclasses import replace
from typing import Any

import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.littles_law import littles_law
from plimsoll.stats.study import LOCUST, PLIMSOLL, GeneratorHealth, Measured


def _closed(users: float, rate: float, mean: float, **known: Any) -> Any:
    return run(
        users,
        row(rate=rate, mean=mean, max=2 * mean),
        **{"duration": 100.0, "think": 0.0, "precision": LOCUST, **known},
    )


def test_runs_that_keep_the_law_are_one_insight() -> None:
    (finding,) = found(littles_law, study(_closed(10, 9.9, 1000), _closed(20, 19.6, 1000)))

    assert finding.weight == "insight"
    assert evidence_of(finding)["ratios"] == pytest.approx((0.99, 0.98))
    assert said(finding).statement == "Little's law holds in 2 of 2 runs: users, throughput and latency fit together."


def test_what_the_end_cut_off_is_told_in_latencies() -> None:
    published = run(50, row(requests=203, mean=37889, max=47310), duration=180, think=0.0)
    (finding,) = found(littles_law, study(published))

    assert evidence_of(finding)["deficit"] == pytest.approx(0.145, abs=5e-4)
    assert evidence_of(finding)["deficit_explained"] == pytest.approx(0.263, abs=5e-4)
    assert evidence_of(finding)["unfinished_per_user"] == pytest.approx((0.69,), abs=0.005)
    assert "the 14.5 % that is missing was cut off at the end" in said(finding).statement


def test_more_work_than_users_can_ask_for_blocks() -> None:
    (finding,) = found(littles_law, study(_closed(10, 12, 1000)))

    assert finding.weight == "blocks"
    assert "accounts for 120 % of 10 users" in said(finding).statement
    assert finding.where.trial is not None


def test_missing_users_block_and_a_little_off_only_warns() -> None:
    missing, doubtful = study(_closed(10, 8, 1000)), study(_closed(10, 9.3, 1000))

    assert [each.weight for each in found(littles_law, missing)] == ["blocks"]
    assert [each.weight for each in found(littles_law, doubtful)] == ["warning"]


def test_pauses_that_nobody_told_of_may_be_what_is_missing_but_not_what_is_too_much() -> None:
    less, more = _closed(10, 5, 1000, think=None), _closed(10, 12, 1000, think=None)
    (pauses,) = found(littles_law, study(less))

    assert pauses.weight == "insight"
    assert said(pauses).statement == "users pause 1 s between two requests (users / throughput − latency)."
    assert [each.weight for each in found(littles_law, study(more))] == ["blocks"]


def test_runs_that_could_not_be_checked_are_counted() -> None:
    _, finding = found(littles_law, study(_closed(10, 9.9, 1000), _closed(20, 5, 1000, think=None)))

    assert "holds in 1 of 1 run that was checked: users" in said(finding).statement
    assert said(finding).statement.endswith("; 1 other could not be checked.")


def test_of_runs_in_which_it_does_not_hold_is_said_why() -> None:
    own = [replace(_closed(users, rate, 1000), precision=PLIMSOLL) for users, rate in ((10, 9.9), (20, 12.0))]
    (finding,) = found(littles_law, study(*own))
    assert "holds in 1 of 2 runs" in said(finding).statement
    assert said(finding).statement.endswith("; in 1 more run users spent part of their time outside requests.")


def test_of_a_table_that_breaks_it_nothing_is_said_of_user_code() -> None:
    broken, held = found(littles_law, study(_closed(10, 9.9, 1000), _closed(20, 12.0, 1000)))
    assert broken.weight == "blocks"
    assert said(held).statement == ("Little's law holds in 1 of 2 runs: users, throughput and latency fit together.")


def test_known_pauses_and_an_unknown_mix_are_bounds_in_both_directions() -> None:
    """10 users with a pause of 5 s: with requests of 1 to 2 s each there are from 1.43 to 1.67 requests/s."""

    def mixed(rate: float, think: float | None = 5.0) -> Any:
        rows = row("GET /fast", mean=1000), row("GET /slow", mean=2000)
        return run(10, *rows, total=Measured("", "Aggregated", rate=rate), think=think, precision=LOCUST)

    assert [each.id for each in found(littles_law, study(mixed(1.5)))] == []
    (missing,) = found(littles_law, study(mixed(1.2)))
    assert "accounts for 84 % of 10 users: users were missing" in said(missing).statement
    (impossible,) = found(littles_law, study(mixed(2.0)))
    assert "accounts for 120 % of 10 users: the numbers cannot be of one" in said(impossible).statement
    assert not any(each.weight == "blocks" for each in found(littles_law, study(mixed(1.2, think=None))))


def test_users_who_are_still_being_started_are_not_missing() -> None:
    assert [each.weight for each in found(littles_law, study(_closed(50, 45, 1000, ramp=20.0)))] == ["insight"]


def test_a_mean_is_guessed_from_percentiles_where_none_is_told() -> None:
    guessed = run(10, row(rate=9.6, p50=1000, p95=1100), duration=100, think=0.0, precision=LOCUST)

    assert [each.weight for each in found(littles_law, study(guessed))] == ["insight"]


def test_open_arrivals_are_held_against_what_was_in_flight() -> None:
    def opened(in_flight: float) -> Any:
        return run(
            None,
            level=level(100, "/s"),
            offered=100.0,
            duration=60.0,
            total=Measured("", "", rate=100, mean=50, max=100),
            generator=GeneratorHealth(in_flight=in_flight),
            precision=LOCUST,
        )

    assert [each.weight for each in found(littles_law, study(opened(5)))] == ["insight"]
    assert [each.weight for each in found(littles_law, study(opened(2)))] == ["blocks"]


def test_requests_in_flight_that_were_counted_too_seldom_say_nothing() -> None:
    """Half of these counts are right: 1.32 were in flight. Two counts of 1.32 requests are mostly one off."""

    def opened(in_flight: float, seconds: float, number: int) -> Any:
        total = Measured("", "", rate=120, mean=11, max=22, requests=240, failures=0)
        known = {"offered": 120.0, "duration": seconds, "generator": GeneratorHealth(in_flight=in_flight)}
        return run(None, level=level(120, "/s"), repeat=number, total=total, **known)

    sampled = [1.5, 1, 1.5, 1, 1.5, 1.5, 0.5, 1, 1.25, 0.5, 1, 1.5, 1, 0.5, 1.5]
    assert found(littles_law, study(*(opened(each, 2.0, number) for number, each in enumerate(sampled)))) == []
    long = [opened(1.3, 1500.0, 1), opened(1.2, 1500.0, 2), opened(1.5, 2.0, 3)]
    (finding,) = found(littles_law, study(*long))
    assert "holds in 1 of 2 runs that were checked: users" in said(finding).statement
    assert said(finding).statement.endswith("; 1 other could not be checked.")


def test_nothing_was_cut_off_where_every_request_had_its_response() -> None:
    answered = row(requests=203, mean=37889, max=47310, unanswered=0)
    (finding,) = found(littles_law, study(run(50, answered, duration=180, think=0.0)))
    assert "cut off" not in said(finding).statement


def test_invalid_runs_are_left_alone() -> None:
    assert found(littles_law, study(_closed(10, 12, 1000, invalid=("lag",)))) == []


def test_runs_of_our_own_have_been_judged_by_what_was_in_flight() -> None:
    assert found(littles_law, study(_closed(10, 12, 1000, precision=PLIMSOLL))) == []


def test_with_pauses_the_mean_is_that_of_a_whole_round() -> None:
    (finding,) = found(littles_law, study(_closed(10, 4.9, 1000, think=1.0)))

    assert evidence_of(finding)["ratios"] == pytest.approx((0.98,))
    assert "hardly pause" not in said(finding).advice


def _table(users: float, rate: float | None, *rows: Any, **known: Any) -> Any:
    """Without a row of all together; its throughput may stand beside it."""
    total = None if rate is None else Measured("", "Aggregated", rate=rate)
    return run(users, *rows, total=total, **{"duration": 100.0, "think": None, "precision": LOCUST, **known})


@pytest.mark.parametrize("known", [{"mean": 1000}, {"p50": 1000, "p95": 1050}])
def test_a_table_without_a_sum_is_held_against_the_sum_of_its_endpoints(known: dict[str, float]) -> None:
    (broken,) = found(
        littles_law, study(_table(10, None, row("GET /a", rate=6, **known), row("GET /b", rate=6, **known)))
    )

    assert broken.weight == "blocks"
    assert "accounts for 120 % of 10 users: the numbers cannot be of one and the same run" in said(broken).statement


def test_endpoints_without_rates_bound_what_users_can_have_done() -> None:
    rows = row("GET /a", p50=1000, p95=1100), row("GET /b", p50=1200, p95=1300)

    assert [each.weight for each in found(littles_law, study(_table(10, 12.0, *rows)))] == ["blocks"]
    # At least 9 and at most 11 of the 10 users: that may be.
    assert found(littles_law, study(_table(10, 9.0, *rows))) == []


def test_endpoints_whose_time_is_not_told_are_left_out_of_the_bound() -> None:
    known, unknown = row("GET /a", rate=12, mean=1000), row("GET /b", rate=1)

    assert [each.weight for each in found(littles_law, study(_table(10, None, known, unknown)))] == ["blocks"]
    assert found(littles_law, study(_table(20, None, known, unknown))) == []


def test_the_pause_of_users_follows_from_the_lowest_level_of_a_table() -> None:
    """Two levels of a published ladder: 48 users at 9.4/s, 96 at 18.5/s, medians of a quarter of a second."""
    rows = row("GET /a", p50=150, p95=190), row("GET /b", p50=290, p95=360)
    (pauses,) = found(littles_law, study(_table(48, 9.4, *rows), _table(96, 18.5, *rows)))

    assert (
        said(pauses).statement
        == "users pause 4.81 s to 4.95 s between two requests (users / throughput − latency at 48 users)."
    )


def test_times_that_a_tool_changed_are_not_held_against_the_law() -> None:
    wrk = replace(LOCUST, tool="wrk", clock="corrected")

    assert found(littles_law, study(_closed(10, 12, 1000, precision=wrk))) == []


def test_endpoints_with_rates_count_by_them() -> None:
    often, rarely = row("GET /a", rate=9, p50=100, p95=101), row("GET /b", rate=1, p50=9000, p95=9090)
    (held,) = found(littles_law, study(_table(10, None, often, rarely)))

    assert evidence_of(held)["ratios"] == pytest.approx((0.99,), abs=1e-3)
