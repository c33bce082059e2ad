from __future__ import annotations

import pytest

from plimsoll.capacity.prober import Prober
from plimsoll.capacity.search import Settings
from plimsoll.errors import UsageError
from plimsoll.run.options.command import read_words


def planned(folder, unit, *given, place=None):
    settings = Settings(unit=unit, start=1, most=1000, seconds=10, seed=7)
    prober = Prober(read_words(given), settings, place, folder, warmup=1.5, cool_down=0)
    return prober.planned(160.0, 3, "todos: 160/s, repeat 1")


def test_a_rate_is_tried_as_the_words_have_it(tmp_path):
    run = planned(tmp_path, "/s", "http://127.0.0.1:1/", "--max-users", "50")
    assert (run.plan.is_open, run.plan.load.max_users, run.plan.seed) == (True, 50, 10)
    assert (run.plan.warmup, run.plan.seconds) == (1.5, 11.5)
    assert (run.outputs.name, run.outputs.summary) == ("todos: 160/s, repeat 1", str(tmp_path / "summary-3.json"))
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
