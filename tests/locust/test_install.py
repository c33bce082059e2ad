"""`import locust` after install(), each case in a process of its own: what is imported once stays."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

INSTALL = "from plimsoll.locust import install; install()\n"


def run(code: str, **environ: str) -> str:
    """What the code prints, or the last line of its traceback."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environ}
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_the_names_are_those_of_plimsoll():
    code = INSTALL + "import locust, plimsoll\n"
    code += "print([name for name in plimsoll.__all__ if getattr(locust, name) is not getattr(plimsoll, name)])"
    assert run(code) == "[]"


@pytest.mark.parametrize("imported_before", [False, True])
def test_it_wins_over_a_locust_that_is_installed(tmp_path, imported_before):
    (tmp_path / "locust").mkdir()
    (tmp_path / "locust" / "__init__.py").write_text("HttpUser = 'the real one'\n")
    (tmp_path / "locust" / "web.py").write_text("WebUI = 'the real one'\n")
    before = "import locust.web\n" if imported_before else ""
    code = before + INSTALL + "from locust import HttpUser; print(HttpUser.__module__)"
    assert run(code, PYTHONPATH=str(tmp_path)) == "plimsoll.users.user"
    code = before + INSTALL + "import locust.web"
    assert "locust.web is not supported yet by plimsoll" in run(code, PYTHONPATH=str(tmp_path))


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from locust import HttpUser as X", "plimsoll.users.user"),
        ("from locust.user import TaskSet as X", "plimsoll.users.taskset"),
        ("from locust.user.users import User as X", "plimsoll.users.user"),
        ("from locust.user.task import DefaultTaskSet as X", "plimsoll.users.taskset"),
        ("from locust.user.sequential_taskset import SequentialTaskSet as X", "plimsoll.users.sequential"),
        ("from locust.user.wait_time import between as X", "plimsoll.users.wait_time"),
        ("from locust.exception import RescheduleTask as X", "plimsoll.users.exceptions"),
        ("from locust.env import Environment as X", "plimsoll.users.environment"),
        ("from locust.event import EventHook as X", "plimsoll.users.events"),
        ("from locust.runners import MasterRunner as X", "plimsoll.users.runners"),
        ("from locust.shape import LoadTestShape as X", "plimsoll.users.shape"),
        ("from locust.log import setup_logging as X", "plimsoll.users.log"),
        ("from locust.debug import run_single_user as X", "plimsoll.users.debug"),
        ("from locust.clients import HttpSession as X", "plimsoll.users.session"),
        ("from locust.contrib.fasthttp import FastHttpUser as X", "plimsoll.users.fast_user"),
        ("from locust.contrib.fasthttp import FastHttpSession as X", "plimsoll.users.fast"),
        ("import locust; X = locust.exception.StopUser", "plimsoll.users.exceptions"),
    ],
)
def test_modules_of_locust(statement, module):
    assert run(f"{INSTALL}{statement}; print(X.__module__)") == module


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("from locust import MarkovTaskSet", "locust.MarkovTaskSet"),
        ("from locust import stats", "locust.stats"),
        ("import locust.web", "locust.web"),
        ("import locust; locust.stats.sort_stats", "locust.stats"),
        ("from locust.user.users import PytestUser", "locust.user.users.PytestUser"),
        ("from locust.contrib.mongodb import MongoDBUser", "locust.contrib.mongodb"),
    ],
)
def test_what_is_missing_says_so(statement, missing):
    assert run(INSTALL + statement).endswith(f"Error: {missing} is not supported yet by plimsoll")


def test_what_is_missing_can_be_caught_as_an_import_error():
    code = INSTALL + "try: from locust import MarkovTaskSet\nexcept ImportError: print('caught')"
    assert run(code) == "caught"


def test_the_flag_of_locust_log_is_the_one_that_events_set():
    code = "import locust.log, plimsoll.users.log; print(locust.log is plimsoll.users.log)"
    assert run(INSTALL + code) == "True"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, "True True"), ({"LOCUST_SKIP_MONKEY_PATCH": "1"}, "False False")],
    ids=["default", "no patching"],
)
def test_blocking_functions_are_patched_unless_told_not_to(variables, expected):
    code = INSTALL + (
        "import urllib3, gevent.queue, gevent.monkey\n"
        "pool = urllib3.connectionpool.ConnectionPool\n"
        "print(gevent.monkey.is_module_patched('socket'), pool.QueueCls is gevent.queue.LifoQueue)"
    )
    assert run(code, **variables) == expected


def test_importing_the_package_patches_nothing():
    assert run("import plimsoll.locust, sys; print('gevent' in sys.modules)") == "False"


def test_installing_twice_is_installing_once():
    code = INSTALL + "import locust\n" + INSTALL
    assert run(code + "import sys; print(sys.modules['locust'] is locust)") == "True"
