"""Stores from another person: a whole run and a cell, in which one thing asks for what a store must not decide."""

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from plimsoll.experiment.order import cells_in_order
from plimsoll.experiment.spec import Experiment, Scenario, Target, Variant
from plimsoll.experiment.state import kept_file, row_of
from plimsoll.load.url import url_scenario
from plimsoll.record import Health, Interval
from plimsoll.run.manifest import manifest
from plimsoll.run.plan import RunPlan
from plimsoll.stats.study import Level
from plimsoll.store import Store
from plimsoll.store.cells import CellOutcome

STUDY = "todos"
NOBODY = "http://127.0.0.1:9"
"""A target that is not there."""
USER = "from locust import User, task\nclass A(User):\n    @task\n    def a(self):\n        pass\n"
FILE = f"""name = "{STUDY}"
repeats = 1
[scenario]
url = "/"
run_time = "1s"
[levels]
users = [1]
[target]
url = "{{url}}"
[[variant]]
name = "a"
"""

Change = Callable[[dict[str, Any], Path], None]


@dataclass(frozen=True)
class Temptation:
    """What a store asks for."""

    of_cell: bool
    """It changes the specification of an experiment, else the manifest of a run."""
    change: Change
    """bait: a folder that nothing should touch."""
    has_commands: bool = False
    """Commands in it are run if somebody agrees."""


def lay_bait(bait: Path, url: str) -> None:
    """Files that a store from another person may name."""
    bait.mkdir()
    (bait / "precious.txt").write_text("precious\n")
    (bait / "evil.py").write_text(f"open({str(bait / 'imported')!r}, 'w').close()\n{USER}")
    (bait / "plan.toml").write_text(f'target = "{NOBODY}"\n[[request]]\nget = "/"\n')
    (bait / "targets.txt").write_text(f"GET {NOBODY}/\n")
    (bait / "locust.conf").write_text(f"html = {bait / 'precious.txt'}\n")
    (bait / "experiment.toml").write_text(FILE.format(url=url))


def build(folder: Path, bait: Path, url: str, temptation: Temptation) -> str:
    """A store `plimsoll.db` in the working folder, with files that a user has there. url: of the target. The id of its
    run."""
    (folder / "experiment.toml").write_text(FILE.format(url=url))
    (folder / "users.py").write_text(USER)
    (folder / "link.py").symlink_to(bait / "evil.py")
    (folder / "results.csv").write_text("users,rps,p99\n5,100,12\n10,180,20\n")
    plan = RunPlan(scenario=url_scenario(f"{url}/"), source=f"{url}/", run_time=1.0)
    level = Level("users", 1.0)
    scenario, variant = Scenario(url="/", run_time=1.0), Variant("a", Target(url))
    spec = Experiment(STUDY, str(folder / "experiment.toml"), (scenario,), (variant,), (level,), repeats=1)
    with Store.open(str(folder / "plimsoll.db")) as store:
        writer = store.start_run(replace(manifest(plan, None), started=time.time() - 60))
        for second in range(2):
            seconds = Interval(second, "GET", "/", "success", count=5)
            seconds.response_sum = seconds.service_sum = 5_000_000
            seconds.response_min = seconds.response_max = 1_000_000
            for _ in range(5):
                seconds.response.record(1000)
                seconds.service.record(1000)
            writer.commit([seconds], [Health(second, 0)], [])
        writer.finish("finished", time.time() - 58)
        if temptation.of_cell:
            key = store.experiments.begin(STUDY, kept_file(spec, ""), map(row_of, cells_in_order(spec)))
            (cell,) = store.experiments.cells(key)
            store.experiments.finish(key, cell.key, CellOutcome("valid", run=writer.id))
            store.experiments.leave(key, finished=True)
    _rewrite(folder / "plimsoll.db", temptation, bait)
    return writer.id


def _rewrite(store: Path, temptation: Temptation, bait: Path) -> None:
    """Past all that Plimsoll checks when it writes."""
    table, column = ("experiment", "spec") if temptation.of_cell else ("run", "manifest")
    with sqlite3.connect(store) as connection:
        (text,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
        value = json.loads(text)
        temptation.change(value, bait)
        connection.execute(f"UPDATE {table} SET {column} = ?", (json.dumps(value).replace('"DEEP"', DEEP),))
        # The experiment's file is then not what it was, so what the store has counts.
        connection.execute("UPDATE experiment SET digest = 'other'")
    connection.close()


DEEP = "[" * 20_000 + "]" * 20_000


def _plan(**values: Any) -> Change:
    """A run whose plan has these values; `{bait}` in a text is the folder."""
    return lambda manifest, bait: manifest["plan"].update(_filled(values, bait))


def _cell(**values: Any) -> Change:
    return lambda spec, bait: spec["scenarios"][0].update(_filled(values, bait))


def _target(**values: Any) -> Change:
    return lambda spec, bait: spec["variants"][0]["target"].update(_filled(values, bait))


def _hooks(**values: Any) -> Change:
    return lambda spec, bait: spec["variants"][0]["hooks"].update(_filled(values, bait))


def _filled(value: Any, bait: Path) -> Any:
    match value:
        case str():
            return value.replace("{bait}", str(bait))
        case list():
            return [_filled(each, bait) for each in value]
        case dict():
            return {name: _filled(each, bait) for name, each in value.items()}
    return value


def _arguments(*words: str) -> Temptation:
    return Temptation(True, _cell(arguments=list(words)))


def _of_experiment(**values: Any) -> Change:
    return lambda spec, bait: spec.update(_filled(values, bait))


OUTPUTS = ("--html", "{bait}/precious.txt", "--csv", "{bait}/csv", "--junit", "{bait}/j", "--hlog", "{bait}/h",
           "--json-file", "{bait}/j.json", "--log-exchanges", "{bait}/x", "--logfile", "{bait}/l")  # fmt: skip
TOUCH = ["touch", "{bait}/touched"]
HOOK = [{"name": "prepare", "command": TOUCH, "within": 5.0}]
CERTIFICATE = {"url": NOBODY, "verify": "{bait}/precious.txt", "cert": "{bait}/precious.txt", "headers": []}
TEMPTATIONS: dict[str, Temptation] = {
    "a locustfile elsewhere": Temptation(False, _plan(locustfiles=["{bait}/evil.py"], scenario=None, source=None)),
    "a locustfile by a link": Temptation(False, _plan(locustfiles=["{bait}/../work/link.py"], scenario=None)),
    "a plan elsewhere": Temptation(False, _plan(source="{bait}/plan.toml")),
    "targets elsewhere": Temptation(False, _plan(source="{bait}/targets.txt")),
    "a certificate elsewhere": Temptation(False, lambda manifest, bait: manifest["plan"]["scenario"].update(
        targets=[_filled(CERTIFICATE, bait)])),
    "a log file": Temptation(False, _plan(logfile="{bait}/precious.txt", log_exchanges=True)),
    "options of outputs": Temptation(False, _plan(
        command=["plimsoll", "run", *OUTPUTS], options=[["csv_prefix", "{bait}/csv"], ["html_file", "{bait}/x"]])),
    "a Ray cluster": Temptation(False, _plan(cluster="127.0.0.1:9", nodes=2)),
    "workers that join": Temptation(False, _plan(joined=True)),
    "numbers beyond all limits": Temptation(False, _plan(users=2**70, processes=10**9, run_time=float("inf"))),
    "wrong types": Temptation(False, _plan(locustfiles=5, arguments={"a": 1}, load=[], rails="x", scenario=[[]])),
    "a deep plan": Temptation(False, _plan(scenario="DEEP")),
    "outputs of a cell": _arguments(*OUTPUTS),
    "a configuration elsewhere": _arguments("--config", "{bait}/locust.conf"),
    "another locustfile": Temptation(True, _cell(
        url=None, locustfile="users.py", arguments=["-f", "{bait}/evil.py"])),
    "a locustfile of the network": Temptation(True, _cell(
        url=None, locustfile="users.py", arguments=["-f", "http://127.0.0.1:9/evil.py"])),
    "a body elsewhere": _arguments("-d", "@{bait}/precious.txt"),
    "settings of users elsewhere": _arguments("--config-users", "{bait}/precious.txt"),
    "a receiver for all machines": _arguments("--observe", "otlp:0.0.0.0:0"),
    "a master": _arguments("--master"),
    "a cell's locustfile elsewhere": Temptation(True, _cell(url=None, locustfile="{bait}/evil.py")),
    "a cell's plan elsewhere": Temptation(True, _cell(url=None, plan="{bait}/plan.toml")),
    "an experiment elsewhere": Temptation(True, _of_experiment(file="{bait}/experiment.toml")),
    "a receiver of the target": Temptation(True, _target(observe=["otlp:0.0.0.0:0"])),
    "hooks": Temptation(True, _hooks(prepare=HOOK, seed=HOOK, collect=HOOK), has_commands=True),
    "a start with an environment": Temptation(True, _target(
        start=TOUCH, env={"LD_PRELOAD": "{bait}/evil.so", "PYTHONPATH": "{bait}"}), has_commands=True),
    "a check of health": Temptation(True, _target(healthy={"command": TOUCH}), has_commands=True),
    "a git ref": Temptation(True, _target(git="--upload-pack=touch {bait}/touched"), has_commands=True),
    "a container": Temptation(True, _target(image="--privileged", container_port=80), has_commands=True),
    "a folder of the target": Temptation(True, _target(cwd="{bait}", start=TOUCH), has_commands=True),
    "a deep experiment": Temptation(True, _of_experiment(scenarios="DEEP")),
    "an experiment of wrong types": Temptation(True, _of_experiment(variants=[[]], levels={}, seed="x", file=5)),
    "a search for capacity": Temptation(True, lambda spec, _: spec.update(capacity={"unit": [], "start": "x"})),
}  # fmt: skip
"""By what it asks for."""


def damaged(chance: Random) -> Temptation:
    """A value somewhere that no Plimsoll wrote."""

    def change(value: dict[str, Any], _: Path) -> None:
        place: Any = value
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = chance.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
                place = place[key]
                continue
            place[key] = chance.choice(
                (None, True, -1, 2**70, 0.5, "", "\x1b[31m\n", "\0", [], {}, [[1]], {"a": None}, "DEEP")
            )
            return

    return Temptation(chance.random() < 0.5, change)
