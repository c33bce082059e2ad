from __future__ import annotations

import pytest

from plimsoll.capacity.prober import Prober, cannot_have_decided
from plimsoll.capacity.search import Settings
from plimsoll.errors import UsageError
from plimsoll.run.options.command import read_words
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


def planned(folder, unit, *given, place=None):
    settings = Settings(unit=unit, start=1, most=1000, seconds=10, seed=7)
    prober = Prober(
        read_words(given), settings, (P99,), None, place, folder, warmup=1.5, cool_down=0, tell=lambda _: None
    )  # fmt: skip
    return prober.planned(160.0, "bisect", folder / "s.json")


def test_a_rate_is_tried_as_the_words_have_it(tmp_path):
    run = planned(tmp_path, "/s", "http://127.0.0.1:1/", "--max-users", "50")
    assert (run.plan.is_open, run.plan.load.max_users, run.plan.seed) == (True, 50, 7)
    assert (run.plan.warmup, run.plan.seconds) == (1.5, 11.5)
    assert (run.outputs.name, run.outputs.summary) == ("capacity: 160/s (bisect)", str(tmp_path / "s.json"))
    assert run.plan.command[:2] == ("plimsoll", "run")
    assert run.plan.command[-2:] == ("--headless", "http://127.0.0.1:1/")


def test_users_of_a_locustfile_start_at_once(tmp_path):
    (tmp_path / "a.py").touch()
    run = planned(tmp_path, "users", "-f", str(tmp_path / "a.py"), "--customer", "7", place="x.db")
    assert run.plan.load.most_users == 160
    assert (run.plan.users, run.plan.spawn_rate, run.plan.arguments) == (160, 160.0, ("--customer", "7"))
    assert run.outputs.store == "x.db"
    assert planned(tmp_path, "users", "http://127.0.0.1:1/").plan.users == 160


def test_words_that_make_no_run_are_refused_at_once(tmp_path):
    with pytest.raises(UsageError, match="--max-users is of the open model"):
        planned(tmp_path, "users", "http://127.0.0.1:1/", "--max-users", "5")
