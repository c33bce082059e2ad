"""run_single_user, in a process of its own as it is meant to be used."""

from __future__ import annotations

import subprocess
import sys
from unittest.mock import ANY

import pytest

LOCUSTFILE = """
from plimsoll import User, events, run_single_user, task
from plimsoll.users.exceptions import CatchResponseError, StopUser

@events.init.add_listener
def init(environment, runner, **_):
    print("init", environment.locustfile, runner)
    if {fail}:
        raise ValueError("bad init")

@events.test_start.add_listener
def test_start(environment, **_):
    print("test_start", [cls.__name__ for cls in environment.user_classes])

class Shopper(User):
    @task
    def browse(self):
        with self.environment.events.request.measure("XMLRPC", "add", response_length=7):
            pass
        with self.environment.events.request.measure("XMLRPC", "add", context={{"a": 1}}):
            raise CatchResponseError("bad answer")
        raise StopUser

if __name__ == "__main__":
    run_single_user(Shopper, {arguments})
"""


OPTIONS = """
from plimsoll import User, events, run_single_user, task
from plimsoll.users.exceptions import StopTest, StopUser

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--depth", type=int, default=3)

@events.init.add_listener
def init(environment, **_):
    print(environment.parsed_options.depth, environment.parsed_options.locustfile, environment.host)

class Shopper(User):
    host = "http://own"
    def on_stop(self):
        print("stopped")
    @task
    def browse(self):
        print(self.host, self.environment.single_user_instance is self)
        raise StopUser

class Clerk(User):
    def on_stop(self):
        print("stopped too")
    @task
    def sell(self):
        raise StopTest("enough")

if __name__ == "__main__":
    run_single_user(Shopper)
    run_single_user(Clerk)
    print("after")
"""


@pytest.fixture
def run(tmp_path):
    """Run the locustfile; exit code, rows of what it printed, and what it logged."""

    def run(arguments: str = "", fail: bool = False) -> tuple[int, list[list[str]], str]:
        path = tmp_path / "shop.py"
        path.write_text(LOCUSTFILE.format(arguments=arguments, fail=fail))
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60)
        rows = [[cell.strip() for cell in line.split("\t")] for line in done.stdout.splitlines()]
        return done.returncode, rows, done.stderr

    return run


def test_requests_are_printed_after_the_events(run):
    code, rows, _ = run()
    assert code == 0
    assert rows == [
        ["type", "name", "resp_ms", "exception"],
        ["init shop.py None"],
        ["test_start ['Shopper']"],
        ["XMLRPC", "add", ANY, ""],
        ["XMLRPC", "add", ANY, "bad answer"],
    ]
    assert all(int(row[2]) >= 0 for row in rows[3:])


def test_more_columns_on_request(run):
    _, rows, _ = run("include_length=True, include_time=True, include_context=True, include_payload=True")
    assert rows[0] == ["time", "type", "name", "resp_ms", "length", "exception", "context", "payload"]
    assert rows[-1][1:] == ["XMLRPC", "add", ANY, "0", "bad answer", "{'a': 1}", ""]


def test_a_failing_init_listener_ends_the_process(run):
    code, rows, log = run(fail=True)
    assert code == 1
    assert "bad init" in log
    assert rows[-1] == ["init shop.py None"]


def _options(tmp_path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "shop.py"
    path.write_text(OPTIONS)
    return subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, timeout=60)


def test_the_command_line_is_that_of_the_locustfile(tmp_path):
    done = _options(tmp_path, "--depth", "7", "-H", "http://given")
    assert done.stdout.splitlines()[1:3] == ["7 shop.py http://given", "http://given True"], done.stderr


def test_an_option_that_nobody_knows_ends_the_process(tmp_path):
    done = _options(tmp_path, "--dept", "7", "--nope")
    assert done.returncode == 2
    assert "unrecognized arguments: --nope" in done.stderr


def test_one_user_may_follow_on_another(tmp_path):
    done = _options(tmp_path)
    printed = ["3 shop.py None", "http://own True", "stopped", "stopped too", "after"]
    assert done.stdout.splitlines()[1:] == printed, done.stderr
    assert (done.returncode, "enough" in done.stderr) == (0, True)
