"""`import locust` after install(), each case in a process of its own: what is imported once stays."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.locust import REASONS
from plimsoll.locust.imported import NOT_HERE

INSTALL = "from plimsoll.locust import install; install()\n"


def run(code: str, **environ: str) -> str:
    """What the code prints, or the last line of its traceback."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environ}
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_the_names_are_those_of_plimsoll():
    code = INSTALL + "import locust, plimsoll\n"
    code += "print([name for name in locust.__all__ if getattr(locust, name) is not getattr(plimsoll, name)])\n"
    code += "print(locust.__all__ is plimsoll.__all__)"
    # Locustfiles compare the version with those of Locust.
    assert run(code) == "['__version__']\nTrue"


def test_the_version_is_that_of_the_locust_whose_behaviour_it_is():
    assert run(INSTALL + "from locust import __version__; print(__version__)") == "2.47.0"


def test_a_star_brings_the_public_names():
    code = INSTALL + "from locust import *; print(HttpUser.__name__, transition.__module__, 'Environment' in dir())"
    assert run(code) == "HttpUser plimsoll.users.markov False"


@pytest.mark.parametrize("imported_before", [False, True])
def test_it_wins_over_a_locust_that_is_installed(tmp_path, imported_before):
    (tmp_path / "locust").mkdir()
    (tmp_path / "locust" / "__init__.py").write_text("HttpUser = 'the real one'\n")
    (tmp_path / "locust" / "nowhere.py").write_text("WebUI = 'the real one'\n")
    before = "import locust.nowhere\n" if imported_before else ""
    code = before + INSTALL + "from locust import HttpUser; print(HttpUser.__module__)"
    assert run(code, PYTHONPATH=str(tmp_path)) == "plimsoll.users.user"
    code = before + INSTALL + "import locust.nowhere"
    assert "Locust has no locust.nowhere" in run(code, PYTHONPATH=str(tmp_path))


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from locust import HttpUser as X", "plimsoll.users.user"),
        ("from locust.user import TaskSet as X", "plimsoll.users.taskset"),
        ("from locust.user.users import User as X", "plimsoll.users.user"),
        ("from locust.user.task import DefaultTaskSet as X", "plimsoll.users.taskset"),
        ("from locust.user.sequential_taskset import SequentialTaskSet as X", "plimsoll.users.sequential"),
        ("from locust import MarkovTaskSet as X", "plimsoll.users.markov"),
        ("from locust import Events as X", "plimsoll.users.events"),
        ("from locust.user.markov_taskset import MarkovTaskTagError as X", "plimsoll.users.exceptions"),
        ("from locust.user.markov_taskset import transitions as X", "plimsoll.users.markov"),
        ("from locust.user.users import RestMixin as X", "plimsoll.users.rest"),
        ("from locust.clients import RestResponseContextManager as X", "plimsoll.users.http.response"),
        ("from locust.user.wait_time import between as X", "plimsoll.users.wait_time"),
        ("from locust.exception import RescheduleTask as X", "plimsoll.users.exceptions"),
        ("from locust.env import Environment as X", "plimsoll.locust.environment"),
        ("from locust.event import EventHook as X", "plimsoll.users.events"),
        ("from locust.runners import MasterRunner as X", "plimsoll.locust.runners"),
        ("from locust.shape import LoadTestShape as X", "plimsoll.locust.shape"),
        ("from locust.log import setup_logging as X", "plimsoll.users.log"),
        ("from locust.stats import RequestStats as X", "plimsoll.locust.stats.request_stats"),
        ("from locust.stats import StatsError as X", "plimsoll.locust.stats.errors"),
        ("import locust; X = locust.stats.StatsEntry", "plimsoll.locust.stats.entry"),
        ("from locust.debug import run_single_user as X", "plimsoll.locust.debug"),
        ("from locust.clients import HttpSession as X", "plimsoll.users.http.session"),
        ("from locust.contrib.fasthttp import FastHttpUser as X", "plimsoll.locust.fasthttp.user"),
        ("from locust.contrib.fasthttp import FastHttpSession as X", "plimsoll.locust.fasthttp.session"),
        ("import locust; X = locust.exception.StopUser", "plimsoll.users.exceptions"),
    ],
)
def test_modules_of_locust(statement, module):
    assert run(f"{INSTALL}{statement}; print(X.__module__)") == module


GONE, SINCE = "Locust no longer has locust.", " in its place, since Locust 1.0"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from locust import no_such_name", "Locust has no locust.no_such_name"),
        ("import locust; locust.no_such_name", "Locust has no locust.no_such_name"),
        ("import locust.nowhere", "Locust has no locust.nowhere"),
        ("from locust import HttpUsr", "Locust has no locust.HttpUsr; did you mean HttpUser?"),
        ("from locust import HTTPUser", "Locust has no locust.HTTPUser; did you mean HttpUser?"),
        ("import locust.runer", "Locust has no locust.runer; did you mean runners?"),
        ("from locust.user.users import HttpUsr", "Locust has no locust.user.users.HttpUsr; did you mean HttpUser?"),
        ("from locust.contrib.dns import Nobody", "Locust has no locust.contrib.dns.Nobody"),
        (
            "from locust.runners import MastrRunner",
            "Locust has no locust.runners.MastrRunner; did you mean MasterRunner?",
        ),
        ("import locust.stats; locust.stats.nothing", "Locust has no locust.stats.nothing"),
        ("from locust import TaskSequence", f"{GONE}TaskSequence; there is SequentialTaskSet{SINCE}"),
        ("from locust.runners import LocustRunner", f"{GONE}runners.LocustRunner; there is Runner{SINCE}"),
        ("from locust.core import TaskSet", f"{GONE}core; there is locust.user{SINCE}"),
        ("from locust.argument_parser import gt_zero", "locust.argument_parser.gt_zero is not supported by plimsoll"),
    ],
)
def test_what_is_missing_says_so(statement, message):
    assert run(INSTALL + statement).endswith(f"Error: {message}")


NAMES_OF_LOCUST = """
import importlib
missing = {}
for line in open(NAMES).read().replace("\\n    ", " ").splitlines():
    name, _, text = line.partition(": ")
    if line.startswith("#"):
        continue
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        missing[name] = "all"
        continue
    if absent := [each for each in text.split() if not hasattr(module, each)]:
        missing[name] = " ".join(absent)
print(missing)
"""


def test_the_names_of_locusts_modules_are_here_except_those_that_are_listed():
    file = Path(__file__).with_name("names_of_locust.txt")
    found = ast.literal_eval(run(f"{INSTALL}NAMES = {str(file)!r}{NAMES_OF_LOCUST}"))
    assert found == {**NOT_HERE, **dict.fromkeys(REASONS, "all")}


def test_no_name_that_is_listed_as_dropped_or_missing_is_here():
    code = INSTALL + "import importlib\nfrom plimsoll.locust.imported import DROPPED, NOT_HERE\n"
    code += "names = [*DROPPED, *(f'{module}.{name}' for module, text in NOT_HERE.items() for name in text.split())]\n"
    code += "def has(module, name):\n    try: return hasattr(importlib.import_module(module), name)\n"
    code += "    except ImportError: return False\n"
    assert run(f"{code}print([each for each in names if has(*each.rsplit('.', 1))])") == "[]"


def test_after_a_bare_import_all_modules_are_there():
    wanted = "user.users.User contrib.fasthttp.FastHttpUser util.timespan.parse_timespan env.LoadTestShape events.init"
    code = f"{INSTALL}import locust; print([eval('locust.' + each) is not None for each in {wanted.split()}])"
    assert run(code) == str([True] * 5)


def test_a_logger_that_a_module_of_locust_has_is_the_one_of_that_name():
    assert run(INSTALL + "from locust.user.task import logger; print(logger.name)") == "locust.user.task"


def test_a_constant_of_the_statistics_that_is_set_counts():
    code = "import locust.stats; locust.stats.PERCENTILES_TO_REPORT = [0.25]\n"
    code += "print(locust.stats.get_percentile_stats_summary(locust.stats.RequestStats())[1].split())"
    assert run(INSTALL + code) == "['Type', 'Name', '25%', '#', 'reqs']"


def test_what_will_never_be_there_says_why():
    assert run(INSTALL + "import locust.rpc.zmqrpc").endswith(
        "Error: locust.rpc.zmqrpc is not supported by plimsoll: the processes of a run do not talk over ZeroMQ"
    )


def test_locust_plugins_are_imported_where_they_are_installed(tmp_path):
    (tmp_path / "locust_plugins.py").write_text(
        "from locust import events\nprint('plugged', events.init is not None)\n"
    )
    code = "from plimsoll.locust import install, load_plugins\nload_plugins(); print('-'); install(); load_plugins()"
    assert run(code, PYTHONPATH=str(tmp_path)) == "-\nplugged True"
    assert run(code) == "-"


def test_what_is_missing_can_be_caught_as_an_import_error():
    code = INSTALL + "try: from locust import no_such_name\nexcept ImportError: print('caught')"
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


def test_a_process_of_a_run_starts_without_what_reads_plans_and_with_native_users_without_what_locustfiles_need():
    code = "import sys, plimsoll.locust.script.process, plimsoll.run.worker.native_script\n"
    needless = "pydantic", "requests", "plimsoll.locust.runners", "plimsoll.users.taskset", "plimsoll.record.facts"
    assert run(f"{code}print([name for name in {needless} if name in sys.modules])") == "[]"
