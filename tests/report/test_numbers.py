from __future__ import annotations

import pytest

from plimsoll.report.numbers import amount, milliseconds, quantity, share, shares_line, size, with_share
from plimsoll.stats.latency.milliseconds import Milliseconds


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
