from dataclasses import replace
from typing import Any

import pytest
from tests.stats.findings.making import found, on_full_machine, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.serial import serial

UPLOAD = ((10, 207, 8502, 1306), (30, 207, 23659, 2793), (50, 203, 37889, 9291))
GET = ((10, 285, 6097, 4156), (30, 270, 18602, 12907), (50, 239, 33494, 25306))


def _runs(table: tuple[tuple[int, int, int, int], ...]) -> list[Any]:
    return [
        run(users, row("GET /key", requests=requests, mean=mean, min=least), duration=180)
        for users, requests, mean, least in table
    ]


def test_a_serial_bottleneck_is_told_with_its_capacity() -> None:
    (finding,) = found(serial, study(*_runs(UPLOAD)))

    assert finding.id == "SERIAL"
    assert evidence_of(finding)["capacity_per_s"] == pytest.approx(1.15)
    assert evidence_of(finding)["capacity_interval_per_s"] == pytest.approx((1.00, 1.32), abs=0.005)
    assert evidence_of(finding)["held_s"] == pytest.approx(0.87, abs=0.005)
    assert evidence_of(finding)["s_per_user"] == pytest.approx(0.73, abs=0.005)
    assert evidence_of(finding)["latency_slope"] == pytest.approx(0.929, abs=5e-4)
    assert evidence_of(finding)["throughput_slope"] == pytest.approx(-0.010, abs=5e-4)
    assert "1.15 requests/s (0.999 to 1.32) from 10 to 50 users: one bottleneck has 870 ms" in said(finding).statement


def test_a_fastest_request_that_waits_for_all_others_rules_out_a_queue_in_order() -> None:
    (finding,) = found(serial, study(*_runs(GET)), "SHARED")

    assert evidence_of(finding)["min_s_per_user"] == pytest.approx((0.42, 0.43, 0.51), abs=0.005)
    assert "hypothesis" in said(finding).statement


def test_a_full_machine_is_no_bottleneck_of_a_target_that_uses_little_of_it():
    runs = _runs(UPLOAD)
    runs[-1] = on_full_machine(runs[-1])
    assert found(serial, study(*runs)) == []
    runs[-1] = on_full_machine(runs[-1], target_cores=1.2)
    assert len(found(serial, study(*runs))) == 1


def test_throughput_that_grows_with_users_is_not_serial() -> None:
    table = ((10, 1000, 1800, 100), (30, 3000, 1800, 100), (50, 5000, 1800, 100))

    assert found(serial, study(*_runs(table))) == []


def test_users_who_mostly_pause_say_nothing_of_a_bottleneck() -> None:
    table = ((10, 207, 850, 100), (30, 207, 2366, 100), (50, 203, 3789, 100))

    assert found(serial, study(*_runs(table))) == []


def test_a_quick_request_that_comes_along_is_not_the_bottleneck() -> None:
    table = ((10, 225, 6728, 1123), (30, 202, 24001, 450), (50, 197, 39153, 1007))
    runs = [
        run(users, row("GET /slow", requests=n, mean=slow), row("POST /quick", requests=n, mean=quick), duration=180)
        for users, n, slow, quick in table
    ]
    (finding,) = found(serial, study(*runs))

    assert finding.where.endpoint == ("GET", "/slow")
    assert evidence_of(finding)["busy"] == pytest.approx((0.980, 0.914, 0.879), abs=2e-3)


def test_a_quick_request_whose_latency_grows_alike_is_not_the_bottleneck_either() -> None:
    runs = [
        run(
            users,
            row("GET /slow", requests=200, mean=slow),
            row("POST /quick", requests=200, mean=slow / 10),
            duration=180,
        )
        for users, slow in ((10, 7800), (30, 23400), (50, 39000))
    ]

    assert [each.where.endpoint for each in found(serial, study(*runs))] == [("GET", "/slow")]


def test_two_levels_are_not_enough() -> None:
    assert found(serial, study(*_runs(UPLOAD[:2]))) == []


def test_failed_requests_are_no_throughput_of_the_bottleneck() -> None:
    runs = [
        run(users, row("GET /key", requests=requests, failures=requests, mean=mean, min=least), duration=180)
        for users, requests, mean, least in UPLOAD
    ]

    assert found(serial, study(*runs)) == []


def test_a_warm_up_may_hide_the_first_wait() -> None:
    runs = [replace(each, warmup=5.0) for each in _runs(GET)]

    assert [each.id for each in found(serial, study(*runs))] == ["SERIAL"]


def test_numbers_of_users_are_whole() -> None:
    runs = [replace(each, users=(each.users or 0) * 0.934286) for each in _runs(UPLOAD)]
    (finding,) = found(serial, study(*runs))

    assert "from 9 to 47 users" in said(finding).statement
