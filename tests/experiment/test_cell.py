"""Cells that are run for real: the target is a program of the tests, the users are Plimsoll's own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.experiment.real_cells import (
    TIMEOUT_S,
    all_ended,
    cell,
    experiment,
    folder_in,
    marked_processes,
    python,
    run,
    target,
)

from plimsoll.experiment.spec import Healthy, Hook, Hooks, Scenario, Target, TargetFact
from plimsoll.experiment.target import prepared
from plimsoll.store import Store

if TYPE_CHECKING:
    from plimsoll.stats.study import Series
    from plimsoll.store.cells import CellOutcome

WHOLE = ["prepare", "start", "healthy", "seed", "measure", "collect", "cool_down", "stop"]


def _sh(name: str, code: str, within: float = TIMEOUT_S) -> Hook:
    return Hook(name, ("sh", "-c", code), within)


def _observed(folder: Path, result: CellOutcome) -> dict[str, Series]:
    """The target's side of the cell's run, by name."""
    with Store.open(str(folder / "plimsoll.db"), create=False) as store:
        return {each.name: each for each in store.run(result.run or "").observed()}


def test_a_cell_from_beginning_to_end(tmp_path: Path, process_mark: str) -> None:
    order = tmp_path / "order"
    note = f'echo "$0 $(cat {tmp_path}/cell/target.log 2>/dev/null | wc -l)" >> {order}'
    hooks = Hooks(
        prepare=(Hook("prepare", ("sh", "-c", note, "prepare")),),
        seed=(Hook("seed 1", ("sh", "-c", note, "seed")), Hook("seed 2", ("sh", "-c", note, "again"))),
        reset=(Hook("reset", ("sh", "-c", note, "reset")),),
        collect=(Hook("explain", ("echo", "plan of {variant} at {level}")), _sh("env", "echo $PLIMSOLL_URL")),
    )
    what = target(
        env={"BUILD": "{variant}"},
        build=TargetFact("build", path="/build"),
        data=(TargetFact("requests", path="/count"),),
    )
    scenario = Scenario(url="/x", run_time=2.0, warmup=1.0)
    result = run(tmp_path, experiment(tmp_path, what, hooks, scenarios=(scenario,)))
    assert result.state in ("valid", "invalid")
    assert (result.state == "valid") == (result.reason == ""), result.reason
    assert list(result.phases) == WHOLE
    assert 3.0 <= result.phases["measure"] < TIMEOUT_S
    assert order.read_text().split() == ["prepare", "0", "seed", "1", "again", "1"], "it listens before it is seeded"
    assert result.collected == {"explain": "plan of a at 2\n", "env": result.target["url"] + "\n"}
    assert (result.target["build"], result.target["ended"]) == ("a", "ended by SIGTERM")
    assert "crashed" not in result.target
    json.dumps([dict(result.phases), dict(result.target), dict(result.data)])

    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        kept = store.run(result.run or "")
        counted = sum(each.count for each in kept.intervals())
    assert (kept.status, kept.manifest.seed, kept.manifest.warmup) == ("finished", 7, 1.0)
    assert kept.manifest.name == "trial: a, 2 users, repeat 1"
    assert kept.manifest.host == result.target["url"]
    before, after = result.data["requests"]
    # The target's own count, and this question was one of them; what was cut off at the end may have reached it or not.
    assert counted <= after - before - 1 <= counted + 2

    observed = _observed(tmp_path, result)
    processes = observed["processes"]
    assert (processes.source, processes.unit) == ("target", "")
    assert set(processes.values) == {1.0}
    for series in observed.values():
        assert np.all(np.diff(series.seconds) > 0)
        assert 0 <= series.seconds[0] <= series.seconds[-1] <= 3.5
    assert all_ended(process_mark, within=0.0)


def test_a_target_that_ends_meanwhile_is_a_result(tmp_path: Path, process_mark: str) -> None:
    what = target("crash", "200", data=(TargetFact("requests", path="/count"),))
    hooks = Hooks(collect=(_sh("explain", "exit 1"),))
    began = time.monotonic()
    result = run(tmp_path, experiment(tmp_path, what, hooks, run_time=30.0))
    assert result.state == "invalid"
    assert re.fullmatch(r"exit status 7, \d+ s after the run began", result.target["crashed"])
    assert result.reason.startswith(f"the target ended by itself: {result.target['crashed']}"), result.reason
    assert result.target["log"][-1] == "cannot bear request 200"
    assert result.data["requests"][1] is None
    assert any(note.startswith("collect: `sh -c 'exit 1'` failed") for note in result.target["notes"])
    assert result.collected == {}
    assert "cool_down" not in result.phases
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        kept = store.run(result.run or "")
    assert kept.status == "stopped"
    assert time.monotonic() - began < 25.0, "nobody waits until the end of the run for a target that is gone"


def test_a_target_that_never_is_healthy_fails_the_cell(tmp_path: Path, process_mark: str) -> None:
    result = run(tmp_path, experiment(tmp_path, target("sick", healthy=Healthy(path="/", within=1.0))))
    assert (result.state, result.run) == ("failed", None)
    assert result.reason.startswith("healthy: the target is not healthy after 1 s: GET http://127.0.0.1:")
    assert "answers 503; its last line: listening on" in result.reason
    assert list(result.phases) == ["prepare", "start", "healthy", "stop"]
    assert result.target["failure"]["phase"] == "healthy"
    assert result.target["failure"]["log"][0].startswith("listening on")


def test_a_target_that_does_not_begin_fails_the_cell_at_once(tmp_path: Path, process_mark: str) -> None:
    result = run(tmp_path, experiment(tmp_path, target("stillborn")))
    assert result.state == "failed"
    assert result.reason == (
        "healthy: the target ended before it was healthy: exit status 3; its last line: no licence found"
    )
    assert result.phases["healthy"] < TIMEOUT_S / 2


@pytest.mark.parametrize(
    ("hooks", "phase", "reason"),
    [
        (Hooks(prepare=(_sh("prepare", "exit 4"),)), "prepare", "`sh -c 'exit 4'` failed: exit status 4"),
        (Hooks(seed=(_sh("seed", "sleep 600", 0.3),)), "seed", "`sh -c 'sleep 600'` did not end within 0.3 s"),
        (Hooks(seed=(Hook("seed", ("nonesuch",)),)), "seed", "`nonesuch` cannot be started: nonesuch: No such file"),
    ],
)
def test_a_failing_hook_fails_the_cell(
    tmp_path: Path, process_mark: str, hooks: Hooks, phase: str, reason: str
) -> None:
    result = run(tmp_path, experiment(tmp_path, target(), hooks))
    assert (result.state, result.run) == ("failed", None)
    assert result.reason.startswith(f"{phase}: {reason}")
    assert result.target["failure"]["phase"] == phase
    assert ("start" in result.phases) == (phase != "prepare")


def test_a_target_that_a_hook_breaks_is_told_beside_the_hook(tmp_path: Path, process_mark: str) -> None:
    code = "import sys, urllib.request; [urllib.request.urlopen(sys.argv[1]).read() for _ in range(9)]"
    hooks = Hooks(seed=(Hook("seed", (*python(code), "{url}/")),))
    result = run(tmp_path, experiment(tmp_path, target("crash", "5"), hooks))
    assert result.state == "failed"
    assert result.reason.startswith("seed: `")
    assert result.reason.endswith("; the target had ended by itself: exit status 7")


def test_a_run_that_cannot_begin_fails_the_cell_with_its_words(tmp_path: Path, process_mark: str) -> None:
    (tmp_path / "users.py").write_text("from locust import HttpUser\nthis is no Python\n")
    scenario = Scenario(locustfile="users.py", run_time=1.0)
    result = run(tmp_path, experiment(tmp_path, target(), scenarios=(scenario,)))
    assert (result.state, result.run) == ("failed", None)
    assert result.reason.startswith("measure: `plimsoll run --locustfile ")
    assert "exit status 2" in result.reason
    assert "users.py" in "".join(result.target["failure"]["log"])


def test_the_users_of_a_locustfile_load_it(tmp_path: Path, process_mark: str) -> None:
    code = (
        "from locust import HttpUser, task\nclass {}(HttpUser):\n    @task\n    def f(self): self.client.get('/{}')\n"
    )
    (tmp_path / "users.py").write_text(code.format("A", "a") + code.format("B", "b").partition("\n")[2])
    scenario = Scenario(locustfile="users.py", classes=("B",), run_time=1.0)
    result = run(tmp_path, experiment(tmp_path, target(), scenarios=(scenario,)))
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        names = {each.name for each in store.run(result.run or "").intervals()}
    assert names == {"/b"}


def test_a_target_that_runs_already_is_left_running(tmp_path: Path, process_mark: str) -> None:
    there = prepared(cell(), experiment(tmp_path, target()), folder_in(tmp_path))
    there.start()
    try:
        there.wait_until_healthy(there.commands(cell(), tmp_path))
        order = tmp_path / "order"
        hooks = Hooks(seed=(_sh("seed", f"echo seed >> {order}"),), reset=(_sh("reset", f"echo reset >> {order}"),))
        (tmp_path / "own").mkdir()
        result = run(tmp_path / "own", experiment(tmp_path, Target(url=there.url), hooks))
        assert result.run is not None
        assert order.read_text() == "reset\n"
        assert "start" not in result.phases
        assert _observed(tmp_path / "own", result) == {}
        assert there.ended() is None
    finally:
        there.stop()


def test_memory_that_grows_is_seen_to_grow(tmp_path: Path, process_mark: str) -> None:
    """30 kB per request, and hundreds of requests come."""
    result = run(tmp_path, experiment(tmp_path, target("leak", "30000"), run_time=3.0))
    memory = _observed(tmp_path, result)["rss"]
    assert memory.unit == "bytes"
    assert len(memory.values) >= 2
    assert np.all(np.diff(memory.values) > 0)
    assert memory.values[-1] - memory.values[0] > 3e6


def test_a_database_that_cannot_be_observed_is_a_note_of_the_run(tmp_path: Path, process_mark: str) -> None:
    what = target(
        observe=("http://127.0.0.1:{port}/metrics",),
        postgres="postgresql://me:s3cret@127.0.0.1:{port}/x?connect_timeout=1",
    )
    result = run(tmp_path, experiment(tmp_path, what))
    assert result.state in ("valid", "invalid")
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        notes = [each for each in store.run(result.run or "").notes if "not observed" in each]
    of_http, of_postgres = sorted(re.sub(r":\d+", ":PORT", each) for each in notes)
    assert of_http.startswith("127.0.0.1:PORT was not observed: its answer has no metrics")
    assert of_postgres.startswith("postgresql://me:***@127.0.0.1:PORT/x?connect_timeout=1 was not observed: ")
    assert "s3cret" not in str(notes)


SESSION = """
import sys
from pathlib import Path
from tests.experiment.real_cells import cell, experiment, run, target
path = Path(sys.argv[1])
try:
    run(path, experiment(path, target(), run_time=600.0))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def _session(path: Path) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]  # where `tests` is found
    return subprocess.Popen(python(SESSION, str(path)), stdout=subprocess.PIPE, text=True, cwd=root)


def _wait_for_a_run(path: Path) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        assert time.monotonic() < deadline, "no run began"
        if (path / "plimsoll.db").exists():
            with Store.open(str(path / "plimsoll.db"), create=False) as store:
                if any(True for _ in store.runs(1)):
                    return
        time.sleep(0.1)


def test_ctrl_c_ends_the_run_in_good_order_and_goes_on(tmp_path: Path, process_mark: str) -> None:
    with _session(tmp_path) as session:
        _wait_for_a_run(tmp_path)
        session.send_signal(signal.SIGINT)
        output, _ = session.communicate(timeout=TIMEOUT_S)
    assert output == "interrupted\n"
    assert marked_processes(process_mark) == []
    with Store.open(str(tmp_path / "plimsoll.db"), create=False) as store:
        assert [each.status for each in store.runs(5)] == ["stopped"]


def test_nothing_outlives_an_experiment_that_was_killed(tmp_path: Path, process_mark: str) -> None:
    with _session(tmp_path) as session:
        _wait_for_a_run(tmp_path)
        session.kill()
        session.communicate(timeout=TIMEOUT_S)
    assert all_ended(process_mark)
