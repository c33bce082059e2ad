"""The verbs `experiment` and `reproduce`, end to end: real targets, real runs, a second long."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.outputs.receiver import receiving

from plimsoll.record.manifest import Manifest
from plimsoll.run.plan import RunPlan
from plimsoll.store import Store

TARGET = Path(__file__).parents[1] / "experiment" / "files" / "target.py"
FILE = f"""
name = "todos"
question = "Does it matter?"
repeats = 1
cool_down = 0
[scenario]
url = "/"
run_time = "1s"
[levels]
users = 2
[compare]
metrics = ["p50", "throughput"]
primary = ["p50 of GET /"]
[target]
url = "http://127.0.0.1:{{port}}"
start = ["{{python}}", "{TARGET}", "{{port}}"]
data.count = "/count"
[hooks]
collect.said = ["echo", "this is {{variant}}"]
[[variant]]
name = "a"
[[variant]]
name = "b"
changes = "nothing"
"""
OVER = re.compile(r"^\[\d/\d\] (.*?): (valid|INVALID|FAILED)(?:: (.*))? \(", re.MULTILINE)
TIMEOUT_S = 60.0


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "experiment.toml"
    path.write_text(FILE)
    return path


def cells(tmp_path, name="todos", **also):
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        return store.experiments.cells(store.experiments.find(name).key, **also)


def test_an_experiment_from_its_announcement_to_its_analysis(plimsoll, file, tmp_path):
    dry = plimsoll("experiment", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "2 variants × 1 level × 1 repeat; to run now: 2 cells" in dry.stderr
    assert "doubt: one run each" in dry.stderr
    assert {line.split(None, 1)[1].partition(",")[0] for line in dry.stdout.splitlines()} == {"a", "b"}
    assert not (tmp_path / "plimsoll.db").exists()

    with receiving() as receiver:
        done = plimsoll("experiment", str(file), "--notify", f"{receiver.url}/whisper")
    ((path, _, message),) = receiver.requests
    sent = json.loads(message)
    assert (path, sent["name"], sent["exit_code"]) == ("/whisper", "todos", done.exit_code)
    assert sent["answer"] == sent["text"].splitlines()[1 : 1 + len(sent["answer"])]
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        assert "whisper" not in store.experiments.find("todos").file.command
    lines = {label: (state, reason) for label, state, reason in OVER.findall(done.stderr)}
    assert set(lines) == {"a, 2 users, repeat 1", "b, 2 users, repeat 1"}, done.output
    # Whoever else uses the machine may make the generator late; then the cells are invalid, and all is told the same.
    states = {state for state, _ in lines.values()}
    assert states <= {"valid", "INVALID"}
    assert done.exit_code == (3 if "INVALID" in states else 0)
    assert "Does it matter?" in done.stdout and "GET /" in done.stdout
    stored_run_ids = cells(tmp_path)
    assert {each.collected["said"] for each in stored_run_ids} == {"this is a\n", "this is b\n"}
    assert all(each.data["count"][1] > each.data["count"][0] for each in stored_run_ids)
    assert len({each.seed for each in stored_run_ids}) == 1

    again = plimsoll("experiment")
    assert again.exit_code == 2
    assert again.stderr.startswith("plimsoll: experiment todos is finished (2 cells, ")

    file.write_text(FILE.replace("users = 2", "users = 3"))
    changed = plimsoll("experiment", "--resume", "--repeats", "2")
    assert changed.exit_code == 2
    assert "is no longer what experiment todos was begun with" in changed.stderr
    assert "levels[0].value: 2.0 → 3.0" in changed.stderr


def test_a_target_that_does_not_start_is_a_failed_cell_and_its_words_are_told(plimsoll, file, tmp_path):
    file.write_text(FILE + f'start = ["{{python}}", "{TARGET}", "{{port}}", "stillborn"]\n')
    done = plimsoll("experiment", str(file))
    lines = {label: (state, reason) for label, state, reason in OVER.findall(done.stderr)}
    assert done.exit_code == 3
    assert lines["b, 2 users, repeat 1"][0] == "FAILED"
    assert lines["a, 2 users, repeat 1"][0] != "FAILED"
    (failed,) = (each for each in cells(tmp_path) if each.state == "failed")
    assert failed.variant == "b" and failed.run is None and "exit status 3" in failed.reason


def test_only_failed_cells_end_without_an_analysis(plimsoll, file):
    file.write_text(FILE.replace('"{port}"]', '"{port}", "stillborn"]'))
    done = plimsoll("experiment", str(file))
    assert done.exit_code == 3
    assert "experiment todos has nothing measured yet: of 2 cells 2 cells have failed" in done.stderr


def test_a_variant_against_itself(plimsoll, file, tmp_path):
    done = plimsoll("experiment", "--aa", "b")
    assert done.exit_code in (0, 3), done.output
    stored_run_ids = cells(tmp_path, "todos A-A b")
    assert {each.variant for each in stored_run_ids} == {"b", "b again"}
    assert {each.collected["said"] for each in stored_run_ids} == {"this is b\n"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "cannot read nowhere: No such file"),
        (["--resume", "--fresh"], "--fresh contradicts --resume"),
        (["--again"], "--again goes with --resume"),
        (["--resume"], "there is no experiment todos to go on with"),
        (["--aa", "c"], "there is no variant 'c'; there are a, b"),
        (["--only", "c"], "--only c: no cell"),
        (["--repeats", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_run(plimsoll, file, words, said):
    done = plimsoll("experiment", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("plimsoll: ") and said in done.stderr


def test_a_budget_that_is_too_small(plimsoll, file):
    file.write_text('budget = "3s"\n' + FILE)
    done = plimsoll("experiment")
    assert done.exit_code == 2
    assert "experiment todos would take ≈ 10 s, its budget is 3 s; not even one repeat fits" in done.stderr


def process(tmp_path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "plimsoll", "experiment", *words]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_a_cell_is_measured(tmp_path, number: int) -> None:
    """Until the run of that cell has begun."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if (tmp_path / "plimsoll.db").exists():
            with Store.open(str(tmp_path / "plimsoll.db")) as store:
                if len(store.runs()) >= number:
                    return
        time.sleep(0.05)
    raise AssertionError("no run has begun")


def test_a_ctrl_c_leaves_the_rest_for_later(plimsoll, file, tmp_path):
    file.write_text(FILE.replace('"1s"', '"30s"'))
    with process(tmp_path) as running:
        until_a_cell_is_measured(tmp_path, 1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 130, errors
    assert "experiment todos: interrupted after 0 of 2 cells; go on with\n  plimsoll experiment . --resume\n" in errors
    assert [each.state for each in cells(tmp_path, superseded=True)] == ["superseded", "pending", "pending"]


def test_to_stop_its_run_stops_the_experiment(plimsoll, file, tmp_path):
    file.write_text(FILE.replace('"1s"', '"30s"'))
    with process(tmp_path) as running:
        until_a_cell_is_measured(tmp_path, 1)
        stopped = plimsoll("stop")
        _, errors = running.communicate(timeout=TIMEOUT_S)
    assert stopped.exit_code == 0, stopped.output
    assert running.returncode == 130, errors
    assert "interrupted after 0 of 2 cells" in errors


def test_after_a_kill_nothing_is_left_running_and_it_goes_on(plimsoll, file, tmp_path):
    file.write_text(FILE.replace('"1s"', '"3s"'))
    with process(tmp_path) as running:
        until_a_cell_is_measured(tmp_path, 1)
        children = psutil.Process(running.pid).children(recursive=True)
        running.kill()
        running.communicate(timeout=TIMEOUT_S)
    _, alive = psutil.wait_procs(children, timeout=TIMEOUT_S)
    assert children and not alive
    assert [each.state for each in cells(tmp_path)] == ["running", "pending"]
    done = plimsoll("experiment", "--resume")
    assert done.exit_code in (0, 3), done.output
    stored_run_ids = cells(tmp_path, superseded=True)
    assert stored_run_ids[0].state == "superseded" and stored_run_ids[0].run is not None
    assert {each.state for each in stored_run_ids[1:]} <= {"valid", "invalid"} and len(stored_run_ids) == 3


def test_a_cell_is_run_again_with_its_target(plimsoll, file, tmp_path):
    assert plimsoll("experiment", "--only", "b").exit_code in (0, 3)
    (first,) = (each for each in cells(tmp_path) if each.run is not None)
    refused = plimsoll("reproduce", first.run)
    assert refused.exit_code == 2, refused.output
    assert "nobody can be asked here whether this may be done; --yes does it" in refused.stderr
    shown = [" ".join(line.split()) for line in refused.stderr.splitlines()]
    assert f"runs start: {sys.executable} {TARGET} '{{port}}'" in shown, "what would be run is shown"
    assert "sends load to http://127.0.0.1:{port}: 2 users, 1 s" in shown
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        assert store.run("last").id == first.run
    again = plimsoll("reproduce", first.run, "--yes")
    assert again.exit_code in (0, 3), again.output
    assert "cell of experiment todos: b, 2 users, repeat 1" in again.stderr
    assert "GET     /" in again.stdout or "GET    /" in again.stdout
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        new = store.run("last")
        old = store.run(first.run)
    assert new.id != old.id and new.experiment is None
    assert (new.manifest.seed, new.manifest.users) == (old.manifest.seed, old.manifest.users)
    assert len(cells(tmp_path, superseded=True)) == 2


def test_a_run_is_made_again_and_what_differs_is_told(plimsoll, tmp_path):
    port = str(_free_port())
    with subprocess.Popen([sys.executable, str(TARGET), port]) as target:
        try:
            _wait_for(int(port))
            (tmp_path / "shop.py").write_text(
                "from locust import HttpUser, task\nclass Buyer(HttpUser):\n    @task\n    def buy(self):\n"
                "        self.client.get('/')\n"
            )
            words = ["-f", "shop.py", "-H", f"http://127.0.0.1:{port}", "-u", "2", "-t", "1s", "--headless"]
            environment = os.environ | {"PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}
            command = [sys.executable, "-m", "plimsoll", "run", *words, "--seed", "5"]
            subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
            (tmp_path / "shop.py").write_text((tmp_path / "shop.py").read_text() + "# changed\n")
            command = [sys.executable, "-m", "plimsoll", "reproduce", "last", "--yes"]
            done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
        finally:
            target.kill()
    assert done.returncode in (0, 3), done.stderr
    assert re.search(r"^files of the scenario: then \w{12}, now \w{12}$", done.stderr, re.MULTILINE)
    assert re.search(r"^  imports +shop.py \(CHANGED: then \w{12}, now \w{12}\)$", done.stderr, re.MULTILINE)
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        new, old = store.runs()
    assert [(each.manifest.seed, each.manifest.users) for each in (new, old)] == [(5, 2)] * 2


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (None, "does not say how it was made"),
        (RunPlan(locustfiles=("/gone/shop.py",)).to_dict(), "/gone/shop.py is gone"),
        (RunPlan(scenario={"body": {"sha256": "x"}}, source="http://a/").to_dict(), "had a body or credentials"),
        (RunPlan(scenario={"headers": [["A", "***"]]}, source="http://a/").to_dict(), "had a body or credentials"),
        (RunPlan(arguments=("--api-key", "***")).to_dict(), "had a secret among its options, which is not kept"),
        (RunPlan(arguments=("--api-key=***",)).to_dict(), "had a secret among its options, which is not kept"),
    ],
)
def test_a_run_that_cannot_be_made_again(plimsoll, plan, said):
    with Store.open() as store:
        run = store.start_run(Manifest.from_json({"started": 1e9, "plan": plan})).id
    done = plimsoll("reproduce", run)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1], done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the target does not listen")
