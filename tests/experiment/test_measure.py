from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from tests.experiment.real_cells import cell

from plimsoll.cli.run import run
from plimsoll.experiment.measure import loaded_seconds, run_words
from plimsoll.experiment.spec import Experiment, Scenario, Target, Variant
from plimsoll.stats.study import Level

URL = "http://127.0.0.1:12000"
FIXED = ["--seed", "7", "--headless", "--only-summary"]


def _words(level: Level | None, **scenario: Any) -> list[str]:
    spec = Experiment("trial", "/lab/experiment.toml", (Scenario(**scenario),), (Variant("a", Target(URL)),))
    return run_words(cell(level=level), spec, URL, store="/kept.db", summary=Path("/cell/summary.json"))


def _without_the_fixed(words: list[str]) -> list[str]:
    place = words.index("--seed")
    rest = words[place:]
    assert [each for each in rest if not each.startswith("--name=")][:4] == FIXED
    assert rest[rest.index("--summary") + 1] == "/cell/summary.json"
    assert rest[rest.index("--store") + 1] == "/kept.db"
    return words[:place] + rest[rest.index("--store") + 2 :]


USERS, RATE = Level("users", 50.0), Level("/s", 300.0)


@pytest.mark.parametrize(
    ("level", "scenario", "words"),
    [
        (USERS, {"url": "/todos", "run_time": 20.0}, [f"{URL}/todos", "-u", "50", "-t", "20s"]),
        (RATE, {"url": "/", "run_time": 90.5}, [f"{URL}/", "--rate", "300/s", "-t", "1m30s500ms"]),
        (
            USERS,
            {"locustfile": "users.py", "run_time": 20.0},
            ["-f", "/lab/users.py", "-H", URL, "-u", "50", "-r", "50", "-t", "20s"],
        ),
        (
            USERS,
            {"locustfile": "/elsewhere/u.py", "classes": ("A", "B"), "tags": ("x", "y"), "exclude_tags": ("z",),
             "spawn_rate": 2.5, "arguments": ("--customer", "7"), "warmup": 5.0, "processes": 2, "stop_timeout": 0.0},
            ["-f", "/elsewhere/u.py", "A", "B", "-H", URL, "-u", "50", "-r", "2.5", "-s", "0s", "--warmup", "5s",
             "--processes", "2", "--tags", "x", "--tags", "y", "--exclude-tags", "z", "--customer", "7"],
        ),
        (None, {"plan": "plan.toml"}, ["/lab/plan.toml", "-H", URL]),
        (
            RATE,
            {"plan": "plan.toml", "spacing": "poisson", "max_users": 100},
            ["/lab/plan.toml", "-H", URL, "--rate", "300/s", "--spacing", "poisson", "--max-users", "100"],
        ),
    ],
)  # fmt: skip
def test_the_command_says_all_that_the_scenario_does(
    level: Level | None, scenario: dict[str, Any], words: list[str]
) -> None:
    assert _without_the_fixed(_words(level, **scenario)) == ["run", *words]


@pytest.mark.parametrize("level", [USERS, RATE])
def test_plimsoll_takes_the_command(level: Level, tmp_path: Path) -> None:
    """All options at once: each is one of `plimsoll run`'s, with a value that it reads."""
    words = _words(
        level, url="/", tags=("x",), exclude_tags=("y",), run_time=1.5, warmup=0.5, stop_timeout=1.0, processes=2,
        spawn_rate=3.0, spacing="uniform", max_users=10,
    )  # fmt: skip
    with click.Context(run, info_name="run") as ctx:
        run.parse_args(ctx, words[1:])
    given = ctx.params
    assert given["arguments"] == (f"{URL}/",)
    assert (given["run_time"], given["stop_timeout"], given["processes"], given["seed"]) == (1.5, 1.0, 2, 7)
    assert (given["tags"], given["exclude_tags"], given["max_users"]) == (("x",), ("y",), 10)
    assert given["users"] == (50 if level is USERS else None)
    assert given["rate"] == ("300/s" if level is RATE else None)
    assert given["headless"]
    assert given["only_summary"]
    assert given["name"].startswith("trial: a, ")


def test_large_and_odd_rates_are_spelt_out() -> None:
    assert "1234567.5/s" in _words(Level("/s", 1234567.5), url="/")
    assert "1000000" in _words(Level("users", 1e6), url="/")


def test_how_long_the_target_is_loaded_is_known_unless_the_plan_has_no_end(tmp_path: Path) -> None:
    def seconds(**scenario: Any) -> float | None:
        spec = Experiment("t", str(tmp_path / "e.toml"), (Scenario(**scenario),), (Variant("a", Target(URL)),))
        return loaded_seconds(spec.scenarios[0], spec, URL)

    head = f'target = "{URL}"\n[[request]]\nget = "/"\n'
    warm = '[[phase]]\nwarmup = true\nrate = "5/s"\nduration = "10s"\n'
    plans = {
        "phases": head + warm + '[[phase]]\nrate = "9/s"\nduration = "20s"\n',
        "stop": head + '[stop]\ntime = "40s"\n',
        "endless": head,
        "broken": "nonsense",
    }
    for name, text in plans.items():
        (tmp_path / f"{name}.toml").write_text(text)
    assert seconds(url="/", run_time=10.0, warmup=2.0) == 12.0
    assert seconds(plan="phases.toml") == 30.0
    assert seconds(plan="stop.toml") == 40.0
    assert seconds(plan="stop.toml", run_time=5.0) == 5.0
    assert seconds(plan="endless.toml") is None
    assert seconds(plan="broken.toml") is None
