"""Whole runs: real processes, a real target, and its own count of requests as the truth."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.command import wait_until

from plimsoll.store import Store

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

VISITOR = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task
    def index(self):
        self.client.get("/index")
"""

BY_WORKER = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task
    def index(self):
        self.client.get(f"/{self.environment.runner.worker_index}")
"""


def _counts(run: dict[str, Any]) -> dict[str, int]:
    return {each["name"]: each["requests"] for each in run["endpoints"]}


def _stored_names(plimsoll: Command) -> set[str]:
    """Endpoints of the last run that have come into the store."""
    if not plimsoll.store.exists():
        return set()
    with Store.open(str(plimsoll.store)) as store:
        return {each.name for run in store.runs() for each in store.run(run.id).intervals()}


def _workers(pid: int) -> list[psutil.Process]:
    return [each for each in psutil.Process(pid).children() if "plimsoll.locust.script.process" in each.cmdline()]


def test_what_is_reported_is_what_the_target_counted(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    done = plimsoll.in_a_process("run", "--headless", "-H", target.url, "-u", "5", "-r", "5", "-t", "1s", "-s", "10s")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert _counts(run) == dict(target.counts)
    assert target.total > 5
    assert run["run"]["status"] == "finished"
    assert 1 <= run["duration_s"] < 10
    assert f"Aggregated 100 % {target.total} 0" in " ".join(done.out.split())


def test_two_workers_share_the_users_and_their_counts_add_up(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BY_WORKER)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "4", "-r", "100", "-t", "1", "-s", "10", "--processes", "2"
    )
    assert done.code == 0, done
    run = plimsoll.stored()
    assert set(target.counts) == {"/0", "/1"}
    assert _counts(run) == dict(target.counts)
    assert run["generator"]["workers"] == 2
    assert max(run["generator"]["users_by_second"].values()) == 4


def test_iterations_end_a_run_of_a_locustfile(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BY_WORKER)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "--iterations", "15", "--processes", "2"
    )
    assert done.code == 0, done
    assert dict(target.counts) == {"/0": 8, "/1": 7}
    run = plimsoll.stored()
    assert _counts(run) == dict(target.counts)
    assert (run["run"]["status"], run["total"]["unanswered"]) == ("finished", 0)


def test_a_request_cut_off_by_the_end_is_counted_as_cancelled(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR.replace("/index", "/slow").replace("constant(0.01)", "constant(0)"))
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "3", "-r", "3", "-t", "1s")
    assert done.code == 0, done
    total = plimsoll.stored()["total"]
    assert total["completed"] + total["unanswered"] == target.total
    assert 1 <= total["unanswered"] <= 3


def test_native_users_need_no_locustfile(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", f"{target.url}/a?b=c", "--headless", "-u", "3", "-r", "3", "-t", "1s", "-s", "10s")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert _counts(run) == dict(target.counts) == {"/a?b=c": run["total"]["requests"]}
    assert run["total"]["unanswered"] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("/index", "/fail"), 1),
        (('self.client.get("/index")', "raise ValueError(1)"), 1),
        (('self.client.get("/index")', "self.environment.process_exit_code = 42"), 42),
    ],
)
def test_the_exit_code_tells_of_failures(
    plimsoll: Command, target: CountingTarget, change: tuple[str, str], code: int
) -> None:
    plimsoll.write(VISITOR.replace(*change))
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "3", "-L", "CRITICAL")
    assert done.code == code, done


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_listener_of_quitting_may_change_the_exit_code_after_failures(
    plimsoll: Command, target: CountingTarget, workers: str
) -> None:
    plimsoll.write(
        VISITOR.replace("/index", "/fail") + "\nfrom locust import events\n@events.quitting.add_listener\n"
        "def quitting(environment, **_):\n    environment.parsed_options.exit_code_on_error = 0\n"
    )
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "4", "-u", "2", "--processes", workers)
    assert done.code == 0, done
    assert plimsoll.stored()["total"]["failures"] > 0


def test_a_listener_that_fails_costs_the_exit_code(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR + "\nfrom locust import events\n@events.test_stop.add_listener\ndef stop(**_):\n    1 / 0\n")
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "3")
    assert done.code == 2, done
    assert plimsoll.stored()["total"]["failures"] == 0


def test_a_host_that_refuses_makes_failures_not_a_crash(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    target.close()
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "3")
    assert done.code == 1, done
    run = plimsoll.stored()
    assert run["total"]["failures"] == run["total"]["requests"] > 0
    assert set(run["total"]["outcomes"]) <= {"connect", "unanswered"}
    assert "Connection refused" in done.out


def test_a_killed_worker_is_reported_and_the_others_go_on(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BY_WORKER)
    process = plimsoll.start(
        "run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "-s", "10", "--processes", "2",
        "--exit-code-on-invalid", "3",
    )  # fmt: skip
    wait_until(lambda: _stored_names(plimsoll) >= {"/0", "/1"})
    victim = next(each for each in _workers(process.pid) if each.cmdline()[-1] == "1")
    victim.kill()
    before = target.counts["/0"]
    wait_until(lambda: target.counts["/0"] > before + 20)
    process.send_signal(signal.SIGINT)
    done = plimsoll.end(process)
    assert done.code == 3, done
    assert f"worker 1 (pid {victim.pid}) was killed by SIGKILL: its 2 users are lost" in done.err
    run = plimsoll.stored()
    counts = _counts(run)
    assert counts["/0"] == target.counts["/0"] > before
    assert 0 < counts["/1"] <= target.counts["/1"]
    (lost,) = run["run"]["facts"]["lost"]
    assert (lost["worker"], lost["place"], run["run"]["notes"]) == (1, f"pid {victim.pid}", [])
    assert done.out.count(f"worker 1 (pid {victim.pid}) was killed by SIGKILL") == 1, "the report says it once"


def test_when_all_workers_are_lost_the_run_ends_and_is_reported(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    process = plimsoll.start("run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "--exit-code-on-invalid", "3")
    wait_until(lambda: _stored_names(plimsoll))
    for worker in _workers(process.pid):
        worker.kill()
    done = plimsoll.end(process)
    assert done.code == 3, done
    assert ", failed, " in done.out
    assert plimsoll.stored()["run"]["status"] == "failed"


def test_a_killed_coordinator_leaves_no_load_and_a_readable_run(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    process = plimsoll.start("run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "--processes", "2")
    wait_until(lambda: _stored_names(plimsoll))
    workers = _workers(process.pid)
    process.kill()
    process.communicate()
    assert len(workers) == 3, "two workers and the main node"
    psutil.wait_procs(workers, timeout=30)
    assert not [each for each in workers if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    run = plimsoll.stored()
    assert run["run"]["status"] == "interrupted"
    assert 0 < run["total"]["requests"] <= target.total


def test_code_that_never_yields_does_not_outlive_the_coordinator(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(f"{VISITOR}        while True: pass\n")
    process = plimsoll.start("run", "--headless", "-H", target.url)
    wait_until(lambda: target.total)
    workers = _workers(process.pid)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=40)
    assert not alive


def test_a_listener_of_test_start_may_call_the_run_off(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        f"{VISITOR}\nfrom locust import events\n@events.test_start.add_listener\ndef check(environment, **_):\n"
        "    environment.process_exit_code = 5\n    environment.runner.quit()\n"
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "3", "-r", "3")
    assert done.code == 5, done
    assert target.total == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_gracefully_and_still_reports(plimsoll: Command, target: CountingTarget, number: int) -> None:
    plimsoll.write(VISITOR)
    process = plimsoll.start(
        "run", "--headless", "-H", target.url, "-u", "3", "-r", "3", "-s", "10", "--processes", "2",
        start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: target.total)
    # As a terminal does it: to the coordinator and its workers alike.
    os.killpg(process.pid, number)
    done = plimsoll.end(process)
    assert done.code == 0, done
    assert ", stopped, " in done.out
    assert "Traceback" not in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total


def test_a_second_signal_does_not_wait_for_running_tasks(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        VISITOR.replace('self.client.get("/index")', 'self.client.get("/index"); __import__("time").sleep(500)')
    )
    process = plimsoll.start("run", "--headless", "-H", target.url, "-s", "500")
    wait_until(lambda: target.total)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None, "a running task may finish"
    process.send_signal(signal.SIGINT)
    done = plimsoll.end(process)
    assert done.code == 0, done
    assert plimsoll.stored()["total"]["requests"] == 1


def test_a_worker_that_ignores_everything_is_killed_by_the_second_signal(
    plimsoll: Command, target: CountingTarget
) -> None:
    plimsoll.write(f"{VISITOR}        while True: pass\n")
    process = plimsoll.start("run", "--headless", "-H", target.url, "--exit-code-on-invalid", "3")
    wait_until(lambda: target.total)
    process.send_signal(signal.SIGINT)
    time.sleep(1)  # two of the same at once would be one
    process.send_signal(signal.SIGINT)
    done = plimsoll.end(process)
    assert done.code == 3, done


def test_the_users_code_ends_the_run(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        VISITOR.replace(
            'self.client.get("/index")', 'self.client.get("/index")\n        self.environment.runner.quit()'
        )
    )
    done = plimsoll("run", "--headless", "-H", target.url)
    assert done.code == 0, done
    assert plimsoll.stored()["run"]["status"] == "finished"


def test_events_come_in_locusts_order(plimsoll: Command, target: CountingTarget) -> None:
    names = ("init", "test_start", "spawning_complete", "test_stopping", "test_stop", "quitting", "quit")
    listeners = "".join(f"events.{name}.add_listener(lambda **_: print('{name}', flush=True))\n" for name in names)
    plimsoll.write(
        "from locust import events\n" + VISITOR + "    def on_start(self): print('on_start', flush=True)\n"
        "    def on_stop(self): print('on_stop', flush=True)\n" + listeners
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-t", "1")
    seen = [line for line in done.out.splitlines() if line in (*names, "on_start", "on_stop")]
    start, complete = seen.index("on_start"), seen.index("spawning_complete")
    assert seen[:2] == ["init", "test_start"]
    assert {start, complete} == {2, 3}
    assert seen[4:] == ["test_stopping", "on_stop", "test_stop", "quitting", "quit"]


def test_options_of_the_locustfile_and_user_classes_reach_it(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        VISITOR.replace('"/index"', "'/' + self.environment.parsed_options.product")
        + "\nclass Other(Visitor):\n    @task\n    def other(self): self.client.get('/other')\n"
        "\nfrom locust import events\n@events.init_command_line_parser.add_listener\n"
        "def _(parser): parser.add_argument('--product', default='none')\n"
    )
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "3", "--product", "tea", "Visitor")
    assert done.code == 0, done
    assert set(target.counts) == {"/tea"}


def test_the_ramp_up_is_forgotten_with_reset_stats(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "2", "-t", "3", "-s", "9", "--reset-stats")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert 0 < run["total"]["requests"] < target.total
    *seconds, _ = run["generator"]["users_by_second"].values()
    assert set(seconds) == {2}


@pytest.mark.parametrize(
    "words",
    [("--summary", "a/s.json"), ("--html", "a/r.html"), ("--logfile", "a/run.log"), ("--out", "jsonl=a/run.jsonl"),
     ("--log-exchanges", "a/run.parquet"), ("--json-file", "a/all"), ("--store", "a/runs.db")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_missing_folder_is_named_before_the_run_begins(
    plimsoll: Command, target: CountingTarget, words: tuple[str, str]
) -> None:
    plimsoll.write(VISITOR)
    done = plimsoll("run", "--headless", "-H", target.url, "-t", "1", *words)
    assert done.code == 2, done
    assert "there is no folder" in done.err
    assert "a" in done.err.partition("there is no folder ")[2]
    assert not (plimsoll.directory / "a").exists()
    assert not target.total


def test_all_outputs_say_the_same(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    # --csv makes its folder, as with Locust.
    (plimsoll.directory / "logs").mkdir()
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-t", "2", "-s", "9", "--csv", "out/x", "--json", "--json-file", "all",
        "--summary", "out/summary.json", "--html", "out/{u}u.html", "--times-of", "successes",
        "--logfile", "logs/run.log", "--name", "a name", "--seed", "7",
    )  # fmt: skip
    assert done.code == 0, done
    printed, summary = json.loads(done.out), json.loads((plimsoll.directory / "out" / "summary.json").read_text())
    assert json.loads((plimsoll.directory / "all.json").read_text()) == printed
    assert [each["num_requests"] for each in printed] == [target.total]
    assert summary == plimsoll.stored()
    assert (summary["total"]["requests"], summary["times_of"]) == (target.total, "successes")
    assert f'"Aggregated","100 %","{target.total}"' in (plimsoll.directory / "out" / "1u.html").read_text()
    with (plimsoll.directory / "out" / "x_stats.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["Request Count"]) for row in rows] == [target.total, target.total]
    assert len((plimsoll.directory / "out" / "x_stats_history.csv").read_text().splitlines()) >= 3
    assert 'All users spawned: {"Visitor": 1} (1 total users)' in (plimsoll.directory / "logs" / "run.log").read_text()
    manifest = summary["run"]["manifest"]
    assert (manifest["scenario"]["name"], manifest["seed"], manifest["stamp"]) == ("a name", 7, manifest["stamp"])
    assert str(target.total) in done.err, "the tables are on stderr then"


def test_the_same_seed_makes_the_same_choices(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        "import random\nfrom locust import User, task\nclass Dice(User):\n    @task\n    def roll(self):\n"
        "        print('rolled', random.random())\n        self.environment.runner.quit()\n"
    )
    rolled = [plimsoll("run", "--headless", "--seed", seed).out.splitlines()[0] for seed in ("1", "1", "2")]
    assert rolled[0] == rolled[1] != rolled[2]


@pytest.mark.parametrize("has_reader", [True, False])
def test_an_output_that_cannot_be_written_does_not_cost_the_files(
    plimsoll: Command, target: CountingTarget, has_reader: bool
) -> None:
    plimsoll.write(VISITOR)
    if has_reader:
        stdout = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, stdout = os.pipe()
        os.close(reading)
    files = plimsoll.store.parent / "run.json", plimsoll.store.parent / "run.html"
    options = "-u", "1", "-t", "1", "-s", "9", "--summary", str(files[0]), "--html", str(files[1])
    done = plimsoll.in_a_process("run", "--headless", "-H", target.url, *options, stdout=stdout)
    os.close(stdout)
    assert json.loads(files[0].read_text())["total"]["requests"] == target.total
    assert files[1].exists()
    assert "Traceback" not in done.err
    if has_reader:
        assert done.code == 2, done
        last = done.err.strip().splitlines()[-1]
        assert last == "plimsoll: cannot write the report to <stdout>: No space left on device"
    else:
        assert done.code == 0, done


def test_a_full_disk_does_not_end_the_run_and_its_report_is_whole(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    plimsoll("run", f"{target.url}/", "--headless", "-t", "1")
    full = 24 * 4096  # of any file: the journal of the store is full after a second or two
    before = target.total

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))

    done = plimsoll.in_a_process(
        "run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "-t", "3", "-s", "9", preexec_fn=limit
    )
    assert done.code == 2, done
    assert "the run goes on" in done.err
    assert "were not stored" in done.out
    assert str(target.total - before) in done.out
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("plimsoll: the run is not completely stored; its report comes from memory. seconds "), last
    assert "Traceback" not in done.err
    assert "stored)" in plimsoll("show", "last").out


def _wait_for_seconds(plimsoll: Command) -> None:
    wait_until(lambda: "/index" in _stored_names(plimsoll))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("delete", "the file was deleted while it was open"),
        ("replace", "another file was put in its place while it was open"),
    ],
)
def test_a_store_that_is_taken_away_is_noticed(
    plimsoll: Command, target: CountingTarget, change: str, said: str
) -> None:
    plimsoll.write(VISITOR)
    options = "-u", "1", "-t", "60", "-s", "9", "--html", "r.html"
    running = plimsoll.start("run", "--headless", "-H", target.url, *options)
    _wait_for_seconds(plimsoll)
    if change == "delete":
        plimsoll.store.unlink()
    else:
        other = plimsoll.store.with_name("other.db")
        Store.open(str(other)).close()
        other.replace(plimsoll.store)
    wait_until(lambda: target.total > 10)
    running.send_signal(signal.SIGINT)
    done = plimsoll.end(running)
    assert done.code == 2, done
    assert said in done.err.strip().splitlines()[-1], done
    assert f"Aggregated 100 % {target.total} 0" in " ".join(done.out.split())
    assert "These numbers come from memory" in done.out
    assert "These numbers come from memory" in (plimsoll.store.parent / "r.html").read_text()


@pytest.mark.parametrize("older", [True, False])
def test_a_store_that_is_written_over_is_never_valid(plimsoll: Command, target: CountingTarget, older: bool) -> None:
    plimsoll.write(VISITOR)
    assert plimsoll("run", "--headless", "-H", target.url, "-t", "1").code == 0
    with Store.open(str(plimsoll.store)) as store:
        first = store.run("last").id
    other = plimsoll.store.read_bytes() if older else bytes(plimsoll.store.stat().st_size)
    running = plimsoll.start("run", "--headless", "-H", target.url, "-u", "1", "-t", "60", "-s", "9")
    wait_until(lambda: _has_another_second(plimsoll, first))
    with closing(sqlite3.connect(plimsoll.store)) as connection:
        # From the journal into the file, where it can be overwritten.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with plimsoll.store.open("r+b") as file:
        file.write(other)
        file.truncate()
    counted = target.total
    wait_until(lambda: target.total > counted + 10)
    running.send_signal(signal.SIGINT)
    done = plimsoll.end(running)
    assert done.code == 2, done
    assert "the run is not completely stored; its report comes from memory" in done.err.strip().splitlines()[-1], done
    assert "Traceback" not in done.err
    shown = plimsoll("show", "last")
    assert shown.code == 2 or first in shown.out or "INVALID" in shown.out, shown


def _has_another_second(plimsoll: Command, first: str) -> bool:
    with Store.open(str(plimsoll.store)) as store:
        run = store.run("last")
        return run.id != first and any(each.name == "/index" for each in run.intervals())


def test_output_of_the_users_code_is_not_lost(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR + "\nprint('from the locustfile')\nimport sys\nprint('and to stderr', file=sys.stderr)\n")
    done = plimsoll("run", "--headless", "-H", target.url, "--iterations", "1")
    assert "from the locustfile" in done.out
    assert "and to stderr" in done.err


def test_a_run_is_kept_in_postgresql(plimsoll: Command, target: CountingTarget, postgresql_url: str) -> None:
    plimsoll.write(VISITOR)
    plimsoll.environment["PLIMSOLL_STORE"] = postgresql_url
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "2", "-r", "2", "-t", "1", "-s", "9")
    assert done.code == 0, done
    assert not plimsoll.store.exists()
    shown = plimsoll("show", "last", "--json")
    assert json.loads(shown.out)["total"]["requests"] == target.total > 0
