from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.experiment.real_cells import NO_HOOKS, cell

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.experiment.planned_cell import check_runs, planned_cell
from plimsoll.experiment.spec import Experiment, Hook, Hooks, Scenario, Target, Variant
from plimsoll.load import limits_file
from plimsoll.load.guard_rails import Cap
from plimsoll.run.guard import Place
from plimsoll.run.options.command import read_words
from plimsoll.run.planning import make_outputs, make_plan
from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from plimsoll.run.planned import PlannedRun

URL = "http://127.0.0.1:12000"
USERS, RATE = Level("users", 50.0), Level("/s", 300.0)
USER = "from locust import User\nclass {}(User): pass\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the experiment are beside its own, which is not the current folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "users.py").write_text(USER.format("A") + USER.format("B"))
    (tmp_path / "plan.toml").write_text('[[request]]\nget = "/"\n[[phase]]\nrate = "5/s"\nduration = "10s"\n')
    (tmp_path / "body.json").write_text("{}")


def spec_of(folder: Path, *levels: Level | None, hooks: Hooks = NO_HOOKS, **scenario: Any) -> Experiment:
    variants = (Variant("a", Target(URL), hooks=hooks), Variant("b", Target(URL)))
    return Experiment("trial", str(folder / "experiment.toml"), (Scenario(**scenario),), variants, levels or (None,))


def planned(folder: Path, level: Level | None, **scenario: Any) -> PlannedRun:
    spec = spec_of(folder, level, **scenario)
    return planned_cell(cell(level=level), spec, URL, store="/kept.db", summary=Path("/cell/summary.json"))


def test_a_plan_says_all_that_the_scenario_does(tmp_path: Path) -> None:
    run = planned(
        tmp_path, USERS, locustfile="users.py", classes=("A", "B"), tags=("x", "y"), exclude_tags=("z",),
        spawn_rate=2.5, arguments=("--customer", "7"), run_time=20.0, processes=2, stop_timeout=0.0,
    )  # fmt: skip
    plan = run.plan
    assert plan.locustfiles == (str(tmp_path / "users.py"),)
    assert (plan.host, plan.arguments) == (URL, ("A", "B", "--customer", "7"))
    assert (plan.tags, plan.exclude_tags) == (("x", "y"), ("z",))
    assert (plan.users, plan.spawn_rate, plan.run_time, plan.processes) == (50, 2.5, 20.0, 2)
    assert (plan.stop_timeout, plan.seed, plan.load) == (0.0, 7, None)
    assert (run.outputs.store, run.outputs.summary, run.outputs.only_summary) == (
        "/kept.db",
        "/cell/summary.json",
        True,
    )
    assert (run.outputs.name or "").startswith("trial: a, ")


def test_outputs_of_experiment_and_plan_add_up_and_a_repeated_run_has_those_that_are_named(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    more = 'out = ["jsonl=plan.jsonl"]\nnotify = ["http://127.0.0.1:1/x"]\n'
    file.write_text(f"{more}{file.read_text()}")
    spec = replace(spec_of(tmp_path, None, plan="plan.toml"), out=("jsonl=experiment.jsonl",))
    settings: dict[str, Any] = {"store": None, "summary": Path("/cell/summary.json")}
    outputs = planned_cell(cell(level=None), spec, URL, **settings).outputs
    assert sorted(outputs.out) == ["jsonl=experiment.jsonl", "jsonl=plan.jsonl"]
    named = {"out": ("jsonl=named.jsonl",), "notify": ()}
    repeated = planned_cell(cell(level=None), spec, URL, outputs=named, **settings).outputs
    assert repeated.out == ("jsonl=named.jsonl",)


def test_users_of_a_locustfile_start_at_once_unless_the_file_says_more(tmp_path: Path) -> None:
    assert planned(tmp_path, USERS, locustfile="users.py", run_time=1.0).plan.spawn_rate == 50.0
    assert planned(tmp_path, USERS, url="/", run_time=1.0).plan.spawn_rate == 50.0


def test_a_level_in_requests_per_second_is_an_open_load(tmp_path: Path) -> None:
    plan = planned(tmp_path, RATE, plan="plan.toml", run_time=3.0, spacing="poisson", max_users=100).plan
    assert plan.load is not None
    assert (plan.is_open, plan.load.max_users, plan.seconds) == (True, 100, 3.0)
    assert plan.load.phases[0].poisson


def test_without_levels_the_load_is_the_plans(tmp_path: Path) -> None:
    assert planned(tmp_path, None, plan="plan.toml").plan.seconds == 10.0


def test_files_in_the_arguments_are_looked_for_beside_the_experiment(tmp_path: Path) -> None:
    plan = planned(tmp_path, RATE, url="/", run_time=1.0, arguments=("--method", "PUT", "--body", "@body.json")).plan
    assert plan.scenario is not None
    assert "PUT" in str(plan.scenario)


def test_a_configuration_file_beside_the_experiment_counts_and_is_part_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "locust.conf").write_text("loglevel = DEBUG\n")
    plan = planned(tmp_path, USERS, url="/", run_time=1.0).plan
    assert plan.loglevel == "DEBUG"
    assert "--loglevel DEBUG" in shlex.join(plan.command)


@pytest.mark.parametrize(
    ("level", "scenario"),
    [
        (USERS, {"url": "/", "run_time": 1.5, "warmup": 0.5, "stop_timeout": 0.0, "spawn_rate": 3.0}),
        (RATE, {"url": "/", "run_time": 90.5, "spacing": "uniform", "max_users": 10}),
        (Level("/s", 1234567.5), {"url": "/", "run_time": 1.0}),
        (USERS, {"locustfile": "users.py", "classes": ("B",), "tags": ("x", "y"), "arguments": ("--customer", "7")}),
        (None, {"plan": "plan.toml"}),
    ],
)
def test_the_command_that_is_shown_makes_the_same_run(
    tmp_path: Path, level: Level | None, scenario: dict[str, Any]
) -> None:
    run = planned(tmp_path, level, **scenario)
    words = read_words(shlex.split(shlex.join(run.plan.command))[2:])
    plan, source = make_plan(words.arguments, words.given)
    without = {"command": (), "options": []}
    assert {**plan.to_dict(), **without} == {**run.plan.to_dict(), **without}
    assert make_outputs(words.given, plan, source) == run.outputs


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"url": "/", "run_time": 1.0, "max_users": 5}, "scenario: max_users is of the open model"),
        ({"url": "/", "run_time": 1.0, "arguments": ("--times-of", "x")}, "invalid value for '--times-of'"),
        ({"url": "/", "run_time": 1.0, "arguments": ("--threshold", "p99 ~ 3")}, "scenario: "),
        ({"locustfile": "nowhere.py", "run_time": 1.0}, "locustfile not found"),
        ({"plan": "nowhere.toml"}, "nowhere.toml"),
    ],
)
def test_mistakes_are_found_before_anything_starts(tmp_path: Path, scenario: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match="scenario: ") as caught:
        check_runs(spec_of(tmp_path, USERS, **scenario))
    assert said in str(caught.value)


def test_a_plan_that_hooks_may_make_is_not_looked_for(tmp_path: Path) -> None:
    hooks = Hooks(prepare=(Hook("make", ("make-the-plan",), 1.0),))
    check_runs(spec_of(tmp_path, USERS, hooks=hooks, plan="later.toml", run_time=1.0))
    with pytest.raises(PlimsollError):
        check_runs(spec_of(tmp_path, USERS, hooks=hooks, locustfile="later.py", run_time=1.0))


def test_a_target_that_gets_no_load_is_refused_before_anything_begins(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, USERS, url="/", arguments=("--allow-hosts", "10.0.0.0/8"), run_time=1.0)
    with pytest.raises(UsageError, match=r"^variant a: not allowed: 127.0.0.1 is not in the allowed hosts"):
        check_runs(spec)


def test_the_plans_and_the_targets_that_are_known_are_returned(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, USERS, Level("users", 70.0), url="/", run_time=1.0)
    changed = replace(spec.variants[1], target=Target("http://127.0.0.1:{port}"))
    unknown = replace(spec.variants[1], name="c", target=Target("http://{source}"))
    plans, targets = check_runs(replace(spec, variants=(spec.variants[0], changed, unknown)))
    assert sorted(plan.users for plan in plans) == [50, 70]
    assert targets == [Place(URL), Place("http://127.0.0.1:1")]


def test_a_cell_keeps_to_the_limits_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_file, "LIMITS_FILE", tmp_path / "limits.toml")
    (tmp_path / "limits.toml").write_text("max_users = 50\n")
    rails = planned(tmp_path, USERS, url="/", run_time=1.0).plan.rails
    assert rails.max_users == Cap(50.0, str(tmp_path / "limits.toml"))
    with pytest.raises(UsageError, match="51: more than max_users = 50"):
        planned(tmp_path, Level("users", 51.0), url="/", run_time=1.0)
