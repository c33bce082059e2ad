from __future__ import annotations

import time

import pytest

from plimsoll.say.numbers import (
    amount,
    change,
    counted,
    counted_users,
    milliseconds,
    moment,
    moments,
    number,
    observed,
    percent,
    percent_reached,
    quantity,
    share,
    shares_line,
    size,
    source_count,
    with_share,
)
from plimsoll.stats.latency.milliseconds import Milliseconds


@pytest.mark.parametrize(
    ("number", "rounding", "expected"),
    [
        (12_345, 0.0, "12\u202f345"), (12_300, 50.0, "≈12\u202f300"), (83_232, 24.0, "≈83\u202f230"),
        (96, 24.0, "≈100"),
        (6060, 6.0, "≈6\u202f060"), (1_500_000, 50_000.0, "≈1\u202f500\u202f000"), (None, 0.0, "–"),
    ],
)  # fmt: skip
def test_a_count_has_the_digits_of_its_source(number, rounding, expected):
    assert source_count(number, rounding) == expected


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (None, "–"),
        (Milliseconds(0.0), "0"),
        (Milliseconds(1.2345), "1.23"),
        (Milliseconds(9.994), "9.99"),
        (Milliseconds(9.996), "10.0"),
        (Milliseconds(99.94), "99.9"),
        (Milliseconds(99.96), "100"),
        (Milliseconds(30_000.0, at_least=True), "≥30\u202f000"),
        (Milliseconds(27.6, share=1.3), "27.6"),
        (Milliseconds(27.6, share=8.7), "27.6*"),
    ],
)
def test_milliseconds(duration, expected):
    assert milliseconds(duration) == expected


def test_the_generators_share_is_said_where_it_matters():
    clean, unclean, worse = Milliseconds(4.0, share=0.1), Milliseconds(27.6, share=8.7), Milliseconds(90.0, share=60.2)
    assert (with_share(clean), with_share(None)) == ("4.00 ms", "–")
    assert with_share(unclean) == "27.6 ms (up to 8.7 ms of it is the generator's)"
    assert shares_line([clean, None]) == ""
    assert shares_line([clean, unclean, worse]) == "* up to 60 ms of a marked time is the generator's"


def test_amounts_keep_their_sign():
    assert amount(-12.34) == "-12.3"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (None, "ms", "–"),
        (300.0, "ms", "300 ms"),
        (300.04, "ms", "300 ms"),
        (300.4, "ms", "300.4 ms"),
        (1234.56, "ms", "1234.6 ms"),
        (30_000.0, "ms", "30000 ms"),
        (0.1, "%", "0.1%"),
        (899.95, "/s", "900/s"),
        (5, "", "5"),
    ],
)
def test_quantities_keep_their_units(value, unit, expected):
    assert quantity(value, unit) == expected


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 0, "–"),
        (0, 10, "0.00%"),
        (1, 3, "33.33%"),
        (1, 1_000_000, "<0.01%"),
        (999_999, 1_000_000, ">99.99%"),
        (5, 5, "100.00%"),
    ],
)
def test_what_is_not_nothing_is_not_shown_as_nothing(part, whole, expected):
    assert share(part, whole) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (25 << 30, "25.0 GiB"), (2 << 40, "2.00 TiB")],
)
def test_sizes(count, expected):
    assert size(count) == expected


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "2026-11-20 12:00:00 UTC"),
        ("Europe/London", "2026-11-20 12:00:00 UTC"),
        ("Europe/Berlin", "2026-11-20 13:00:00 +01"),
        ("America/New_York", "2026-11-20 07:00:00 -05"),
        ("Asia/Kolkata", "2026-11-20 17:30:00 +05:30"),
    ],
)
def test_a_moment_has_the_zone_that_it_is_told_in(monkeypatch: pytest.MonkeyPatch, zone: str, expected: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert moment(1_795_176_000.0) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_moment_of_a_summer_has_the_zone_of_summer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert moment(1_782_129_600.0, "%H:%M") == "14:00 +02"
        assert moments("Started", [1_782_129_600.0]) == ("Started +02", ["06-22 14:00"])
        both = moments("Started", [1_782_129_600.0, 1_795_176_000.0])
        assert both == ("Started", ["06-22 14:00 +02", "11-20 13:00 +01"])
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.145, "14.5 %"), (0.00042, "0.042 %"), (0.99996, "99.9 %"), (1, "100 %"), (1.2, "120 %"), (0, "0 %")],
)
def test_less_than_all_is_never_all(part, text):
    assert percent(part) == text


def test_what_is_reached_is_rounded_down():
    assert percent_reached(0.9896) == "98.9 %"
    assert percent_reached(1) == "100 %"


def test_numbers_and_changes_of_sentences():
    assert number(23494.9) == "23\u202f495"
    assert number(54.5760) == "54.58"
    assert change(1.131) == "+13.1 %"
    assert change(52.3) == "52.3 times as much"
    assert observed(5_771_518_563, "bytes") == "5.38 GiB"
    assert observed(179.9, "MB") == "179.9 MB"
    assert [counted_users(many) for many in (1, 1.5, 46.7143)] == ["1 user", "1.5 users", "47 users"]
    assert [counted(many, "run") for many in (1, 1500)] == ["1 run", "1500 runs"]
