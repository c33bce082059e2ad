"""Runs whose workers join by themselves, as Locust's do: `--master` and `--worker`."""

from __future__ import annotations

import re
import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.command import wait_until
from tests.run.joined import VISITOR, Link, processes_of, start_master, start_worker, stored_facts
from tests.run.page_session import PageSession

if TYPE_CHECKING:
    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

LOCUSTFILE = """
from locust import FastHttpUser, constant, events, task
from locust.runners import MasterRunner, WorkerRunner

def say(environment, msg, **_):
    print(type(environment.runner).__name__, "got", msg.data, flush=True)

@events.init.add_listener
def register(environment, **_):
    environment.runner.register_message("greeting", say)

@events.test_start.add_listener
def greet(environment, **_):
    runner = environment.runner
    if isinstance(runner, MasterRunner):
        runner.send_message("greeting", f"from the master of {runner.worker_count}")
    elif isinstance(runner, WorkerRunner):
        runner.send_message("greeting", f"from worker {runner.worker_index}")

class Visitor(FastHttpUser):
    wait_time = constant(0.02)
    @task
    def index(self):
        self.client.get("/")
"""

VISITOR_WITH_DATA = """
import os
from locust import FastHttpUser, constant, events, task

@events.report_to_master.add_listener
def tell(client_id, data):
    data["files"] = sorted(name for name in os.listdir() if name != ".lock" and name[:2] != "__")

@events.worker_report.add_listener
def show(client_id, data):
    print("files on the worker:", data["files"], flush=True)

class Visitor(FastHttpUser):
    wait_time = constant(0.05)
    def on_start(self):
        self.rows = open("users.csv").read()
    @task
    def index(self):
        self.client.get("/")
"""


def test_workers_that_were_started_before_their_master_send_its_load_and_end_with_it(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(LOCUSTFILE)
    (plimsoll.directory / "elsewhere").mkdir()
    workers = [
        start_worker(plimsoll, port, cwd=plimsoll.directory / "elsewhere"),
        start_worker(plimsoll, port, file="locustfile.py"),
    ]
    done = plimsoll.end(
        start_master(
            plimsoll, port, "-f", "locustfile.py", "--expect-workers", "2", "-H", target.url,
            "-u", "4", "-r", "4", "-t", "3s", "-s", "10s",
        )
    )  # fmt: skip
    ended = [plimsoll.end(each) for each in workers]
    assert (done.code, [each.code for each in ended]) == (0, [0, 0]), (done, ended)
    run = plimsoll.stored()
    assert run["total"]["requests"] == target.total > 4
    assert run["generator"]["workers"] == 2

    assert "waiting for 2 workers" in done.err
    assert (
        f"workers on this machine can join: plimsoll run --worker --master-port {port}. For other machines" in done.err
    )
    assert re.search(r"1 file of \S+ travel to the workers, \d+ bytes:\n.*    locustfile.py  \d+ bytes", done.err)
    assert sorted(re.findall("MasterRunner got (.*)", done.out)) == ["from worker 0", "from worker 1"]
    for each in ended:
        assert each.out.count("WorkerRunner got from the master of 2") == 1
        assert "the master has ended" in each.err
    facts = stored_facts(plimsoll)
    assert [each["workers"] for each in facts["cluster"]["machines"]] == [[0], [1]]
    assert all(abs(each["clock_offset_ms"]) <= each["clock_error_ms"] for each in facts["cluster"]["machines"])
    assert re.fullmatch("[0-9a-f]{64}", facts["cluster"]["files_sha256"])
    assert len(re.findall(r"its clock is [+-]\d+\.\d+ ms ± \d", done.err)) == 2


@pytest.mark.exhaustive
def test_locusts_variables_do_what_its_options_do(plimsoll: Command, target: CountingTarget, port: int) -> None:
    plimsoll.write(LOCUSTFILE)
    common = {"LOCUST_LOCUSTFILE": "locustfile.py"}
    before = dict(plimsoll.environment)
    plimsoll.environment |= common | {
        "LOCUST_MODE_WORKER": "true", "LOCUST_MASTER_NODE_HOST": "localhost", "LOCUST_MASTER_NODE_PORT": str(port),
        "LOCUST_PROCESSES": "2",
    }  # fmt: skip
    worker = plimsoll.start("run")
    plimsoll.environment = before | common | {
        "LOCUST_MODE_MASTER": "true", "LOCUST_MASTER_BIND_HOST": "127.0.0.1", "LOCUST_MASTER_BIND_PORT": str(port),
        "LOCUST_EXPECT_WORKERS": "2", "LOCUST_HOST": target.url, "LOCUST_USERS": "2", "LOCUST_RUN_TIME": "2s",
        "LOCUST_HEADLESS": "true",
    }  # fmt: skip
    done = plimsoll.end(plimsoll.start("run"))
    assert (done.code, plimsoll.end(worker).code) == (0, 0), done
    assert plimsoll.stored()["generator"]["workers"] == 2
    assert target.total > 0


@pytest.mark.exhaustive
def test_a_single_worker_has_a_worker_runner_and_its_master_a_master_runner(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(LOCUSTFILE)
    worker = start_worker(plimsoll, port, file="locustfile.py")
    done = plimsoll.end(start_master(plimsoll, port, "-H", target.url, "-t", "1s", "-s", "10s"))
    assert done.code == 0, done
    assert "MasterRunner got from worker 0" in done.out
    assert "WorkerRunner got from the master of 1" in plimsoll.end(worker).out
    assert plimsoll.stored()["total"]["requests"] == target.total


def test_a_worker_that_is_killed_is_lost_and_the_others_take_its_load_over(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = start_master(
        plimsoll, port, target.url + "/", "--expect-workers", "2", "--rate", "100/s", "-t", "10s",
        "--on-worker-loss", "redistribute", "--exit-code-on-invalid", "3",
    )  # fmt: skip
    wait_until(lambda: target.total > 100)
    process = processes_of(workers[0])
    workers[0].kill()
    _, alive = psutil.wait_procs(process, timeout=10)
    assert (len(process), alive) == (1, [])
    done = plimsoll.end(master)
    assert done.code == 3, done
    assert re.search(r"worker \d \(on .*\) .*; the others take its load over", done.err), done
    assert 0.75 * 1000 < plimsoll.stored()["total"]["requests"] <= target.total
    assert [plimsoll.end(each).code for each in workers] == [-signal.SIGKILL, 0]


@pytest.mark.exhaustive
def test_a_worker_behind_a_link_that_was_cut_hands_over_all_it_measured_and_the_run_goes_on(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    with Link(port) as link:
        workers = [start_worker(plimsoll, link.port), start_worker(plimsoll, port)]
        master = start_master(
            plimsoll, port, target.url + "/", "--expect-workers", "2", "--rate", "100/s", "-t", "14s",
            "--exit-code-on-invalid", "3",
        )  # fmt: skip
        wait_until(lambda: target.total > 100)
        link.cut()
        time.sleep(6)
        link.mend()
        done = plimsoll.end(master)
    assert done.code == 3, done
    assert "has not reported for 3 s" in done.err
    assert "is back: nothing of it is missing" in done.err
    assert re.search(
        r"could not be reached and ended its load after \d+\.\d s.* kept is all that it measured", done.err
    )
    run = plimsoll.stored()
    assert run["run"]["status"] == "finished"
    assert 700 < run["total"]["requests"] == target.total < 1400
    assert "incomplete" not in stored_facts(plimsoll)
    assert [plimsoll.end(each).code for each in workers] == [0, 0]


@pytest.mark.exhaustive
def test_a_worker_whose_process_stands_still_is_killed_when_the_run_ends(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    workers = [start_worker(plimsoll, port) for _ in range(2)]
    master = start_master(
        plimsoll, port, target.url + "/", "--expect-workers", "2", "--rate", "100/s", "-t", "60s",
        "--on-worker-loss", "stop", "--exit-code-on-invalid", "3",
    )  # fmt: skip
    wait_until(lambda: target.total > 100)
    (process,) = processes_of(workers[0])
    process.suspend()
    done = plimsoll.end(master)
    assert done.code == 3, done
    assert "has not reported for 3 s" in done.err
    assert [plimsoll.end(each).code for each in workers] == [0, 0]
    assert not process.is_running()


def test_who_has_another_token_does_not_join(plimsoll: Command, target: CountingTarget, port: int) -> None:
    stranger = start_worker(plimsoll, port, "--join-token", "guessed at random")
    plimsoll.environment["PLIMSOLL_JOIN_TOKEN"] = "this is the right one"
    master = start_master(plimsoll, port, target.url, "--rate", "20/s", "-t", "1s")
    refused = plimsoll.end(stranger)
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith("plimsoll: the worker on ")
    assert refused.err.endswith(
        "has another token than the master (--join-token): set PLIMSOLL_JOIN_TOKEN to the same on both sides\n"
    )
    assert target.total == 0
    worker = start_worker(plimsoll, port)
    done = plimsoll.end(master)
    assert (done.code, plimsoll.end(worker).code, target.total) == (0, 0, 20), done
    assert "the right one" not in str(plimsoll.stored()) + done.err


def test_for_other_machines_the_master_prints_the_whole_line_that_starts_a_worker(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    master = plimsoll.start(
        "run", "--master", "--master-bind-host", "0.0.0.0", "--master-bind-port", str(port), "--headless", target.url,
        "--rate", "20/s", "-t", "1s",
    )  # fmt: skip
    assert master.stderr is not None
    first = master.stderr.readline()
    found = re.fullmatch(
        rf"workers can join: PLIMSOLL_JOIN_TOKEN=(\S{{43}}) plimsoll run -f - --worker --master-host (\S+) "
        rf"--master-port {port}\n",
        first,
    )
    assert found is not None, first
    token, host = found.groups()
    refused = plimsoll.end(start_worker(plimsoll, port))
    assert refused.code == 2 and "another token than the master" in refused.err
    plimsoll.environment["PLIMSOLL_JOIN_TOKEN"] = token
    worker = start_worker(plimsoll, port, "--master-host", host if host != "HOST" else "127.0.0.1")
    done = plimsoll.end(master)
    assert (done.code, plimsoll.end(worker).code, target.total) == (0, 0, 20), done
    assert token not in done.out + done.err


def test_only_the_files_of_the_run_are_sent_and_a_missing_one_is_named_with_what_to_add(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(VISITOR_WITH_DATA)
    for name in ("users.csv", "secrets.env", "creds.json", "client.key", ".env"):
        plimsoll.write("some data", name)
    (plimsoll.directory / "elsewhere").mkdir()
    worker = start_worker(plimsoll, port, cwd=plimsoll.directory / "elsewhere")
    done = plimsoll.end(start_master(plimsoll, port, "-f", "locustfile.py", "-H", target.url, "-t", "1s"))
    assert plimsoll.end(worker).code == 0
    assert "files on the worker: ['locustfile.py']" in done.out, done
    assert "'users.csv'; it did not travel with the locustfile: start the run with --ship 'users.csv'" in done.out
    assert target.total == 0

    worker = start_worker(plimsoll, port, cwd=plimsoll.directory / "elsewhere")
    words = ("-f", "locustfile.py", "-H", target.url, "-t", "1s", "-s", "5s", "--ship", "*")
    done = plimsoll.end(start_master(plimsoll, port, *words))
    assert plimsoll.end(worker).code == 0
    assert "files on the worker: ['creds.json', 'locustfile.py', 'users.csv']" in done.out, done
    assert done.code == 0 and target.total > 0


def test_a_variable_travels_if_it_is_named_and_its_value_is_stored_nowhere(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write("import os\nprint('the token has', len(os.environ['SHOP_TOKEN']))\n" + VISITOR)
    (plimsoll.directory / "elsewhere").mkdir()
    words = ("-f", "locustfile.py", "-H", target.url, "-t", "1s", "-s", "5s")
    worker = start_worker(plimsoll, port, cwd=plimsoll.directory / "elsewhere")
    plimsoll.environment["SHOP_TOKEN"] = "s3cret-of-the-shop"
    done = plimsoll.end(start_master(plimsoll, port, *words, "--env", "SHOP_TOKEN"))
    assert plimsoll.end(worker).code == 0
    assert done.code == 0 and target.total > 0, done
    assert "the token has 18" in done.out
    assert b"s3cret" not in b"".join(path.read_bytes() for path in plimsoll.directory.glob("plimsoll.db*"))
    del plimsoll.environment["SHOP_TOKEN"]
    worker = start_worker(plimsoll, port, cwd=plimsoll.directory / "elsewhere")
    plimsoll.environment["SHOP_TOKEN"] = "s3cret-of-the-shop"
    done = plimsoll.end(start_master(plimsoll, port, *words))
    assert plimsoll.end(worker).code == 0
    assert "this machine has no such environment variable: start the run with --env SHOP_TOKEN" in done.err, done


@pytest.mark.exhaustive
def test_a_worker_with_another_locustfile_is_refused(plimsoll: Command, target: CountingTarget, port: int) -> None:
    plimsoll.write(LOCUSTFILE)
    (plimsoll.directory / "elsewhere").mkdir()
    plimsoll.write(LOCUSTFILE + "# other\n", "elsewhere/locustfile.py")
    worker = start_worker(plimsoll, port, file="locustfile.py", cwd=plimsoll.directory / "elsewhere")
    done = plimsoll.end(start_master(plimsoll, port, "-H", target.url, "-t", "1s"))
    assert done.code == 2
    assert "elsewhere/locustfile.py is another one than where the run was started; use the same, or -f -" in done.err
    assert plimsoll.end(worker).code == 0
    assert target.total == 0


@pytest.mark.exhaustive
def test_the_page_starts_one_run_after_another_on_the_same_workers(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(LOCUSTFILE)
    page = PageSession(
        plimsoll, "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port), "-H", target.url
    )
    page.do("start", page.request(users=2, run_time="1s"))
    assert "no worker has joined yet" in str(page.until_over(1))
    assert page.get("/worker-count") == {"worker_count": 0}
    worker = start_worker(plimsoll, port)
    wait_until(lambda: page.get("/worker-count") == {"worker_count": 1})
    counts = []
    for number in (2, 3):
        page.do("start", page.request(users=2, run_time="1s", stop_timeout="10s"))
        assert page.until_over(number)["status"] == "finished", page.err
        counts.append(plimsoll.stored()["total"]["requests"])
    assert sum(counts) == target.total > 0
    assert page.interrupt() == 0, page.err
    assert plimsoll.end(worker).code == 0


def test_a_signal_ends_a_master_that_waits_and_then_its_workers(plimsoll: Command, port: int) -> None:
    worker = start_worker(plimsoll, port)
    master = start_master(plimsoll, port, "http://127.0.0.1:1", "--expect-workers", "2")
    assert master.stderr is not None
    seen = ""
    while not ("has joined: 1 now" in seen and "waiting for 2 workers" in seen):
        seen += master.stderr.readline()
    master.terminate()
    done = plimsoll.end(master)
    assert (done.code, plimsoll.end(worker).code) == (2, 0)
    assert done.err.endswith("plimsoll: stopped before it had begun\n")


def test_a_master_ends_with_locusts_exit_code_if_its_workers_do_not_come(plimsoll: Command, port: int) -> None:
    done = plimsoll.end(
        start_master(plimsoll, port, "http://127.0.0.1:1", "--expect-workers", "2", "--expect-workers-max-wait", "1")
    )
    assert done.code == 1
    assert done.err.endswith(
        "plimsoll: 0 of 2 workers have joined within 1 s (--expect-workers, --expect-workers-max-wait)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--master", "--worker"), "--master and --worker do not go together: they are two processes"),
        (("--master", "--processes", "2", "http://h"), "--processes is for this machine; .*plimsoll run --worker"),
        (("--master", "--cluster=auto", "--nodes", "1", "http://h"), "--master and --cluster do not go together.*"),
        (("-f", "-"), "-f - goes with --worker, which gets the locustfile from its master; here name the file"),
        (("--worker", "-f", "nowhere.py"), "locustfile not found: .*nowhere.py"),
        (("--worker", "--master-host", "vm-a"), "a worker joins a master on another machine with a token: set PLIM.*"),
        (
            ("--master", "--join-token", "abc", "http://h"),
            "the token of --join-token .* has 3 characters, and needs 16.*",
        ),
        (("--worker", "--join-token", "abc"), "the token of --join-token .* has 3 characters, and needs 16.*"),
        (("--master", "--ship", "no*", "-f", "locustfile.py"), "--ship no\\*: /.* has no such file"),
        (("--ship", "*", "http://h"), "--ship goes with --on, --master or --cluster: .*"),
        (("--env", "HOME", "http://h"), "--env goes with --on, --master or --cluster: .*"),
        (("--master", "--env", "NOT_THERE", "http://h"), "--env NOT_THERE: there is no such variable here"),
        (("--master", "--env", "A=s3cret", "http://h"), "--env takes a name, .*: export A=…, --env A"),
        (("--master", "--master-bind-host", "192.0.2.1", "http://h"), "cannot listen for workers at 192.0.2.1:5557.*"),
    ],
)
def test_what_does_not_go_together_is_one_line(plimsoll: Command, arguments: tuple[str, ...], why: str) -> None:
    plimsoll.write(LOCUSTFILE)
    done: CommandResult = plimsoll("run", "--headless", *arguments)
    assert done.code in (1, 2)
    assert re.fullmatch(rf"plimsoll: {why}\n", done.err), done
