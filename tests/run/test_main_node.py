"""Whole runs of several workers and their main node."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.command import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget

HEAD = """
import json, os, time
import gevent
from locust import HttpUser, constant, events, runners, task
from locust.runners import LocalRunner, MasterRunner, WorkerRunner

runners.WORKER_REPORT_INTERVAL = 0.4

def note(who, what, **more):
    with open("notes", "a") as notes:
        notes.write(json.dumps({"at": time.monotonic_ns(), "who": who, "what": what, **more}) + chr(10))

class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def index(self):
        self.client.get("/index")

def who(runner):
    return "main" if isinstance(runner, MasterRunner) else f"worker {runner.worker_index}"

def is_main(environment):
    return isinstance(environment.runner, MasterRunner)
"""

EVENTS = """
@events.init.add_listener
def on_init(environment, runner, **_):
    me = who(runner)
    note(me, "init")
    for name in ("test_start", "test_stopping", "test_stop", "quitting"):
        getattr(events, name).add_listener(lambda name=name, **_: note(me, name))
    events.spawning_complete.add_listener(lambda user_count, **_: note(me, "spawning_complete", users=user_count))
    events.quit.add_listener(lambda exit_code, **_: note(me, "quit", code=exit_code))
    if isinstance(runner, MasterRunner):
        events.worker_connect.add_listener(lambda client_id, **_: note(me, "connect", clients=len(runner.clients)))
        events.quitting.add_listener(lambda **_: note(me, "left", clients=len(runner.clients), state=runner.state))
"""

MESSAGES = """
@events.init.add_listener
def register(environment, runner, **_):
    if isinstance(runner, WorkerRunner):
        runner.register_message("accounts", take_accounts)
    else:
        runner.register_message("thanks", lambda environment, msg: note("main", "thanks", data=msg.data))

def take_accounts(environment, msg):
    mine = msg.node_id == environment.runner.client_id
    note(who(environment.runner), "accounts", data=msg.data, mine=mine)
    environment.runner.send_message("thanks", len(msg.data))

@events.test_start.add_listener
def hand_out(environment, **_):
    if is_main(environment):
        note("main", "target", users=environment.runner.target_user_count)
        time.sleep(0.2)
        for number, client in enumerate(environment.runner.clients):
            environment.runner.send_message("accounts", [["user", number]] * (number + 1), client)
        environment.runner.send_message("accounts", ["x" * 1_000_000])

@events.report_to_master.add_listener
def report(client_id, data):
    data["sent"] = sent[:]
    sent.clear()

@events.worker_report.add_listener
def reported(client_id, data):
    total.extend(data["sent"])
    summed[0] += data["stats_total"]["num_requests"]
    note("main", "report", keys=sorted(data), users=data["user_count"], of=client_id)

sent, total, summed = [], [], [0]

@events.request.add_listener
def count(name, **_):
    sent.append(name)

@events.quitting.add_listener
def judge(environment, **_):
    if is_main(environment):
        note("main", "total", requests=len(total), counted=environment.stats.get("/index", "GET").num_requests,
             summed=summed[0])
        environment.process_exit_code = 42
    else:
        environment.process_exit_code = 7
"""

Notes = list[dict[str, Any]]


@pytest.fixture
def notes(tmp_path: Path) -> Any:
    def read(what: str | None = None) -> Notes:
        path = tmp_path / "notes"
        found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [each for each in sorted(found, key=lambda each: each["at"]) if what in (None, each["what"])]

    return read


def _order(notes: Notes, *steps: tuple[str, str]) -> None:
    """Each step comes before the next; a step of "workers" is that of both."""
    last = 0
    for who, what in steps:
        times = [each["at"] for each in notes if each["what"] == what and each["who"].startswith(who.rstrip("s"))]
        assert len(times) == (2 if who == "workers" else 1), (who, what, notes)
        assert min(times) > last, (who, what, notes)
        last = max(times)


def test_events_come_in_order_on_the_main_node_and_its_workers(
    plimsoll: Command, target: CountingTarget, notes: Any
) -> None:
    plimsoll.write(HEAD + EVENTS)
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "3", "-r", "3", "-t", "1s", "--processes", "2")
    assert done.code == 0, done
    begin = [(who, what) for what in ("init", "test_start", "spawning_complete") for who in ("main", "workers")]
    _order(notes(), *begin, ("main", "test_stopping"), ("workers", "test_stopping"))
    _order(notes(), ("workers", "quit"), ("main", "test_stop"), ("main", "quitting"), ("main", "quit"))
    for number in (0, 1):
        end = [(f"worker {number}", what) for what in ("test_stopping", "test_stop", "quitting", "quit")]
        _order(notes(), *end)
    assert [each["clients"] for each in notes("connect")] == [1, 2]
    assert [each["users"] for each in notes("spawning_complete")] == [3, 3, 3]
    (left,) = notes("left")
    assert (left["clients"], left["state"]) == (0, "stopped")


def test_messages_reports_and_the_exit_code(plimsoll: Command, target: CountingTarget, notes: Any) -> None:
    plimsoll.write(HEAD + MESSAGES)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "-t", "1s", "-s", "10", "--processes", "2"
    )
    assert done.code == 42, done
    assert [each["users"] for each in notes("target")] == [2]
    accounts = [(each["who"], each["data"]) for each in notes("accounts")]
    own = [data for _, data in accounts if data[0][0] == "user"]
    assert sorted(own) == [[["user", 0]], [["user", 1]] * 2]
    assert sorted(who for who, data in accounts if data == ["x" * 1_000_000]) == ["worker 0", "worker 1"]
    assert all(each["mine"] for each in notes("accounts"))
    assert sorted(each["data"] for each in notes("thanks")) == [1, 1, 1, 2]
    reports = notes("report")
    assert {"sent", "stats", "user_classes_count", "user_count"} <= set(reports[0]["keys"])
    last = {each["of"]: each["users"] for each in reports}
    assert list(last.values()) == [0, 0], "the last one of each comes after its users have gone"
    (total,) = notes("total")
    assert target.total > 0
    counts = total["requests"], total["counted"], total["summed"]
    assert counts == (target.total,) * 3, "nothing that workers report is lost, to the very end"


def test_the_main_node_may_change_the_number_of_users(plimsoll: Command, target: CountingTarget, notes: Any) -> None:
    plimsoll.write(
        HEAD
        + """
def steer(environment):
    runner = environment.runner
    runner.start(6, 100, wait=True)
    note("main", "six", users=runner.user_count, target=runner.target_user_count, state=runner.state)
    runner.start(1, 100, wait=True)
    note("main", "one", users=runner.user_count, target=runner.target_user_count, state=runner.state)
    runner.quit()

@events.test_start.add_listener
def on_test_start(environment, **_):
    if is_main(environment):
        environment.runner.start(2, 100)

@events.spawning_complete.add_listener
def on_spawned(user_count, **_):
    note("somebody", "spawned", users=user_count)

@events.init.add_listener
def on_init(environment, runner, **_):
    if isinstance(runner, MasterRunner):
        begun = []
        def begin(user_count, **_):
            if not begun:
                begun.append(runner.greenlet.spawn(steer, environment))
        events.spawning_complete.add_listener(begin)
"""
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "500", "-r", "500", "--processes", "2")
    assert done.code == 0, done
    assert [each["users"] for each in notes("spawned")] == [2] * 3 + [6] * 3 + [1] * 3
    for name, count in (("six", 6), ("one", 1)):
        (seen,) = notes(name)
        assert (seen["users"], seen["target"], seen["state"]) == (count, count, "running")


def _processes(pid: int, index: int) -> list[psutil.Process]:
    return [each for each in psutil.Process(pid).children() if each.cmdline()[-1] == str(index)]


def test_a_run_fails_when_its_main_node_is_lost(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(HEAD)
    process = plimsoll.start("run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "--processes", "2")
    wait_until(lambda: target.total)
    (main,) = _processes(process.pid, 2)
    workers = _processes(process.pid, 0) + _processes(process.pid, 1)
    main.kill()
    done = plimsoll.end(process)
    assert done.code == 2, done
    assert f"the main node (pid {main.pid}) was killed by SIGKILL; the run cannot go on without it" in done.err
    assert not [each for each in workers if each.is_running()]
    assert plimsoll.stored()["run"]["status"] == "failed"


def test_the_main_node_knows_of_a_worker_that_is_lost(plimsoll: Command, target: CountingTarget, notes: Any) -> None:
    plimsoll.write(
        HEAD
        + """
def watch(runner):
    while runner.user_count < 4:
        gevent.sleep(0.02)
    note("main", "complete")
    while not runner.clients.missing:
        gevent.sleep(0.02)
    note("main", "missing", workers=runner.worker_count, users=runner.user_count, clients=len(runner.clients))
    runner.quit()

@events.init.add_listener
def on_init(environment, runner, **_):
    if isinstance(runner, MasterRunner):
        runner.greenlet.spawn(watch, runner)
"""
    )
    process = plimsoll.start("run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "--processes", "2")
    wait_until(lambda: notes("complete"))
    _processes(process.pid, 1)[0].kill()
    plimsoll.end(process)
    (missing,) = notes("missing")
    assert (missing["workers"], missing["users"], missing["clients"]) == (1, 2, 2)


def test_what_the_main_node_sets_before_the_test_is_the_workers_too(
    plimsoll: Command, target: CountingTarget, notes: Any
) -> None:
    plimsoll.write(
        HEAD
        + f"""
@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--token", default="")

@events.init.add_listener
def on_init(environment, runner, **_):
    if isinstance(runner, MasterRunner):
        environment.host = {target.url!r}
        environment.parsed_options.token = "secret"
        environment.parsed_options.num_users = 3

@events.test_start.add_listener
def on_test_start(environment, **_):
    note(who(environment.runner), "token", token=environment.parsed_options.token)
"""
    )
    done = plimsoll("run", "--headless", "-r", "10", "-t", "1s", "--processes", "2")
    assert done.code == 0, done
    assert {(each["who"], each["token"]) for each in notes("token")} == {
        ("main", "secret"),
        ("worker 0", "secret"),
        ("worker 1", "secret"),
    }
    assert target.total > 0
    assert '{"Visitor": 3} (3 total users)' in done.err


def test_what_the_main_node_measures_itself_is_kept(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        HEAD
        + """
def probe(environment):
    while True:
        events.request.fire(request_type="PROBE", name="queue", response_time=3, response_length=0, exception=None,
                            context={})
        gevent.sleep(0.1)

@events.spawning_complete.add_listener
def on_spawned(**_):
    if probing:
        probing.pop().greenlet.spawn(probe, None)

probing = []

@events.init.add_listener
def on_init(environment, runner, **_):
    if isinstance(runner, MasterRunner):
        probing.append(runner)
"""
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "-t", "1s", "--processes", "2")
    assert done.code == 0, done
    stored = plimsoll.stored()
    probes = next(each for each in stored["endpoints"] if each["name"] == "queue")
    assert probes["requests"] >= 3
    assert "2 workers" in done.out


def test_a_locustfile_that_cannot_be_imported_is_told_once(plimsoll: Command) -> None:
    plimsoll.write("1 / 0\n")
    done = plimsoll("run", "--headless", "-H", "http://127.0.0.1:1", "--processes", "2")
    assert done.code == 2, done
    assert done.err.count("ZeroDivisionError") == 1


def test_ctrl_c_ends_the_main_node_last(plimsoll: Command, target: CountingTarget, notes: Any) -> None:
    plimsoll.write(HEAD + EVENTS)
    process = plimsoll.start(
        "run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "--processes", "2", start_new_session=True
    )
    wait_until(lambda: target.total)
    os.killpg(process.pid, signal.SIGINT)
    done = plimsoll.end(process)
    assert done.code == 0, done
    assert [each["who"] for each in notes("quit")][-1] == "main"
