from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.capacity.prober import Prober, cannot_have_decided
from plimsoll.capacity.search import Settings
from plimsoll.stats.thresholds.slo import Strain, parse_slo

(P99, ERRORS) = parse_slo("p99 < 50ms, errors < 1%")


def strain(criterion, value):
    return Strain(criterion, value, criterion.holds(value), at_least=False, strain=value / criterion.limit)


@pytest.mark.parametrize(
    ("failed", "p99", "errors", "stands"),
    [
        ({"lag"}, 40, 0, True),  # met in spite of what was sent late
        ({"lag", "delay", "cpu"}, 40, 0, True),
        ({"lag"}, 54, 0, False),  # 5 ms late: without that, it would have been met
        ({"lag"}, 56, 0, True),
        ({"cpu", "lag"}, 900, 0, False),  # a busy machine may have slowed the target
        ({"delay"}, 40, 2, True),  # being late makes no request fail
        ({"workers"}, 40, 0, False),
        ({"dropped", "lag"}, 40, 0, False),
    ],
)
def test_when_the_generators_lateness_leaves_the_verdict_as_it_is(failed, p99, errors, stands):
    assert cannot_have_decided(failed, [strain(P99, p99), strain(ERRORS, errors)], owed=5.0) is stands


def words(unit, *given, place=None):
    settings = Settings(unit=unit, start=1, most=1000, seconds=10, seed=7)
    prober = Prober(
        given, settings, (P99,), None, place, Path("/tmp"), warmup=1.5, cool_down=0, tell=lambda _: None
    )  # fmt: skip
    return prober.words(160.0, "bisect", Path("/tmp/s.json"))


def test_what_is_run():
    assert words("/s", "plan.toml", "--max-users", "50") == [
        "run", "--rate", "160/s", "-t", "10s", "--warmup", "1s500ms", "--seed", "7", "--name=capacity: 160/s (bisect)",
        "--headless", "--only-summary", "--summary", "/tmp/s.json", "plan.toml", "--max-users", "50",
    ]  # fmt: skip
    assert words("users", "-f", "a.py", place="x.db")[:5] == ["run", "-u", "160", "-r", "160"]
    assert "--store" in words("users", "-f", "a.py", place="x.db")
    assert words("users", "http://127.0.0.1:1/")[:4] == ["run", "-u", "160", "-t"]
