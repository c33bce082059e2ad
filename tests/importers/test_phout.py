"""Files are written by the format of Yandex.Tank's phout."""

from __future__ import annotations

import pytest

from plimsoll.errors import UsageError


def line(at, tag, micros, net, status):
    return "\t".join(map(str, (f"{at:.3f}", tag, micros, 1, 2, 3, 4, micros, 50, 600, net, status)))


def test_shots(read_text):
    lines = [
        line(1_795_176_000.0, "a#0", 100_000, 0, 200), line(1_795_176_001.5, "a#1", 20_000, 0, 503),
        line(1_795_176_002.5, "b", 30_000, 110, 0),
    ]  # fmt: skip
    (trial,) = read_text("\n".join(lines), "phout.log", rate=2).trials
    a, b = trial.endpoint(("", "a")), trial.endpoint(("", "b"))
    assert (a.requests, a.failures, a.max, a.size, b.failures) == (2, 1, 100, 600, 1)
    assert [kind.status for kind in a.kinds] == [503]
    assert [kind.message for kind in b.kinds] == ["network error 110"]
    assert trial.total.course.requests.tolist() == [1, 1, 1]


def test_shots_that_were_never_fired_are_dropped(read_text):
    lines = [line(1_795_176_000.0, "", 100, 0, 200), line(1_795_176_000.1, "", 0, 777, 0)]
    (trial,) = read_text("\n".join(lines), "phout.log").trials
    assert (trial.total.requests, trial.total.failures, trial.generator.dropped) == (1, 0, 1)


def test_a_damaged_line_is_named(read_text):
    with pytest.raises(UsageError, match=r"phout\.log:2: 3 columns where phout has 12"):
        read_text(line(1_795_176_000.0, "", 100, 0, 200) + "\n1\t2\t3\n", "phout.log")
