from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.command import CountingTarget

from plimsoll.locust.program import create_environment
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAIN = "from plimsoll.locust import install; install()\nimport locust.main\nlocust.main.main()"

LOCUSTFILE = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.05)

    @task
    def look(self):
        self.client.get("/")
"""
PROGRAM = """
import os, sys
from locust import events, main

OWN = os.getpid()
seen = 0

def tell(*words):
    # In one piece: several processes do it.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def here():
    return "here" if os.getpid() == OWN else "elsewhere"

@events.init_command_line_parser.add_listener
def add(parser): parser.add_argument("--rate", default="x")  # this name is one of Plimsoll's own options, too

@events.init.add_listener
def init(runner, **_): tell("init", type(runner).__name__, here())

@events.request.add_listener
def request(**_):
    global seen
    seen += 1
    if "INTERRUPT" in os.environ: raise KeyboardInterrupt

@events.test_start.add_listener
def start(environment, **_): tell("start", environment.parsed_options.rate, here())

@events.quitting.add_listener
def quitting(environment, **_): tell("quitting", seen > 0, here())

print("begins")
try:
    main.main()
finally:
    tell("ends", seen > 0, here())
"""


@pytest.fixture
def target() -> Iterator[CountingTarget]:
    serving = CountingTarget()
    yield serving
    serving.close()


class Started:
    """The program in a folder of its own, with a locustfile beside it."""

    def __init__(self, folder: Path, target: CountingTarget, *words: str, **variables: str) -> None:
        (folder / "locustfile.py").write_text(LOCUSTFILE)
        (folder / "program.py").write_text(PROGRAM)
        command = [sys.executable, "-m", "plimsoll", "python", "program.py", "-H", target.url, *words]
        variables = {**os.environ, "PLIMSOLL_EXIT_CODE_ON_INVALID": "0", **variables}
        self.process = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self) -> tuple[int, list[str]]:
        """Its exit code, and the lines that the program itself prints, without order."""
        # Not one stream for both: what a process logs in two pieces may stand around a line of another one.
        printed, logged = self.process.communicate(timeout=60)
        self.output = printed + logged
        own = ("begins", "init", "start", "quitting", "ends")
        return self.process.returncode, sorted(line for line in printed.splitlines() if line.startswith(own))


def test_the_command_with_this_programs_arguments() -> None:
    done = subprocess.run([sys.executable, "-c", MAIN, "-f", "nowhere.py"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "locustfile not found" in done.stderr) == (2, True)


def test_users_and_events_are_in_the_programs_process(tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--headless", "-t", "1s", "--rate", "mine")
    code, lines = started.end()
    assert code == 0, started.output
    assert lines == ["begins", "ends True here", "init LocalRunner here", "quitting True here", "start mine here"]
    assert target.total > 0


def test_of_several_processes_the_main_node_is_the_programs_and_workers_are_forks(
    tmp_path: Path, target: CountingTarget
) -> None:
    started = Started(tmp_path, target, "--headless", "-u", "2", "-r", "2", "-t", "2s", "--processes", "2")
    code, lines = started.end()
    assert code == 0, started.output
    assert lines == [
        "begins",
        "ends False here",
        *["ends True elsewhere"] * 2,
        "init MasterRunner here",
        *["init WorkerRunner elsewhere"] * 2,
        "quitting False here",
        *["quitting True elsewhere"] * 2,
        *["start x elsewhere"] * 2,
        "start x here",
    ]


def test_with_a_page_runs_are_in_forks(tmp_path: Path, target: CountingTarget) -> None:
    words = ("--autostart", "--autoquit", "0", "--web-port", "0", "-t", "1s", "--rate", "mine")
    started = Started(tmp_path, target, *words)
    code, lines = started.end()
    assert code == 0, started.output
    assert lines == [
        "begins", "ends False here", "ends True elsewhere", "init LocalRunner elsewhere", "quitting True elsewhere",
        "start mine elsewhere",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [(), ("--headless",)])
def test_an_option_that_neither_knows_is_refused(
    words: tuple[str, ...], tmp_path: Path, target: CountingTarget
) -> None:
    started = Started(tmp_path, target, *words, "--nonsense")
    code, lines = started.end()
    assert (code, lines) == (2, ["begins", "ends False here"])
    assert "plimsoll: no such option '--nonsense'" in started.output


def test_the_command_describes_the_locustfile_to_the_program(tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--list")
    assert started.end()[0] == 0
    assert "Available Users:\n    Visitor\n" in started.output


def test_workers_on_other_machines_are_refused(tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--headless", "--cluster")
    assert (started.end()[0], "put its listeners into the locustfile" in started.output) == (2, True)


def test_a_listener_that_raises_keyboard_interrupt_ends_the_run(tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--headless", "-t", "1m", INTERRUPT="1")
    code, lines = started.end()
    assert code == 0, started.output
    assert {"quitting True here", "ends True here"} <= set(lines)


@pytest.mark.parametrize("whose", ["program", "command"])
def test_the_programs_last_lines_run_after_a_signal(whose: str, tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--headless", "-t", "1m")
    while target.total == 0:
        assert started.process.poll() is None
        time.sleep(0.05)
    if whose == "program":
        started.process.terminate()
    else:
        os.kill(_command_of(started.process.pid), signal.SIGKILL)
    code, lines = started.end()
    assert code == (0 if whose == "program" else 1), started.output
    assert {"quitting True here", "ends True here"} <= set(lines)


def _command_of(program: int) -> int:
    found = subprocess.run(["pgrep", "-P", str(program), "-f", "import join"], capture_output=True, text=True)
    return int(found.stdout.split()[0])


def test_a_fork_that_is_killed_is_noticed(tmp_path: Path, target: CountingTarget) -> None:
    started = Started(tmp_path, target, "--headless", "-u", "2", "-r", "2", "-t", "3s", "--processes", "2")
    while target.total == 0:
        assert started.process.poll() is None
        time.sleep(0.05)
    (fork, *_) = [grand for each in psutil.Process(started.process.pid).children() for grand in each.children()]
    fork.kill()
    code, lines = started.end()
    assert code == 0, started.output
    assert f"worker 0 (pid {fork.pid}) ended without a word" in started.output
    assert lines.count("ends True elsewhere") == 1


def test_python_m_locust_is_the_command(tmp_path: Path, target: CountingTarget) -> None:
    (tmp_path / "locustfile.py").write_text(LOCUSTFILE)
    command = [sys.executable, "-m", "plimsoll", "python", "-m", "locust", "--headless", "-t", "1s", "-H", target.url]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "Starting Locust" in done.stderr
    assert target.total > 0


def test_an_environment_goes_by_its_options() -> None:
    class Visitor(User):
        pass

    options = Namespace(host="http://h", reset_stats=True, profile="p", stop_timeout=3)
    environment = create_environment([Visitor], options, locustfile="x.py")
    assert (environment.host, environment.reset_stats, environment.profile) == ("http://h", True, "p")
    assert (environment.stop_timeout, environment.parsed_options, environment.user_classes) == (3, options, [Visitor])
