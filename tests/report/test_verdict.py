from __future__ import annotations

import pytest

from plimsoll.report.verdict import banner, last_word, threshold_rows
from plimsoll.stats.thresholds.watch import ThresholdResult
from plimsoll.stats.validity import Validity, ValidityCheck


@pytest.mark.parametrize("state", ["ok", "unknown", "n/a"])
def test_only_what_failed_makes_a_run_invalid(state):
    validity = Validity((ValidityCheck("lag", state, None, None, "words"),))
    assert banner(validity, 80) == last_word(validity) == []


def test_a_reason_for_each_check_that_failed(invalid):
    first, *reasons = banner(invalid.validity, 80)
    assert first == "INVALID: the generator, not the target, was the limit"
    assert reasons == [
        "  - lag p99 was 12.3 ms, more than 1.00 ms",
        "  - a worker was above 80 % CPU for 12 % of the time",
    ]
    assert last_word(invalid.validity) == [f"{first} (lag, cpu)"]


def test_a_reason_is_one_line_and_cannot_steer_the_terminal():
    assert (
        banner(Validity((ValidityCheck("x", "failed", None, None, "two\nlines \x1b[2J"),)), 80)[1]
        == "  - two lines \ufffd[2J"
    )


def test_long_reasons_are_folded():
    validity = Validity((ValidityCheck("x", "failed", None, None, "one two three four five six"),))
    assert "\n".join(banner(validity, 20)[1:]).splitlines() == ["  - one two three", "    four five six"]


def test_it_is_loud_but_its_reasons_are_not(invalid):
    lines = [*banner(invalid.validity, 80, str.upper), *last_word(invalid.validity, str.upper)]
    assert [line.isupper() for line in lines] == [True, False, False, True]


def test_a_threshold_in_a_row():
    rows = threshold_rows([
        ThresholdResult("p99 < 300ms", True, 40.0, 300.0, "p99 was\n40 ms", "ms"),
        ThresholdResult("rps > 900", False, None, 900.0, "no requests were measured", "/s"),
        ThresholdResult("p95 < 1s", False, 30_000.0, 1000.0, "", "ms", at_least=True),
    ])  # fmt: skip
    assert rows == [
        ["✓ p99 < 300ms", "40 ms", "300 ms", "p99 was 40 ms"],
        ["✗ rps > 900", "–", "900/s", "no requests were measured"],
        ["✗ p95 < 1s", "≥30000 ms", "1000 ms", ""],
    ]
