"""The public list."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import plimsoll
from plimsoll.distribution import NAME
from plimsoll.locust import api

NAMES = {
    *("FastHttpUser", "HttpLocust", "HttpUser", "LoadTestShape", "Locust", "MarkovTaskSet", "SequentialTaskSet"),
    *("TaskSet", "User", "__version__", "between", "constant", "constant_pacing", "constant_throughput", "events"),
    *("poisson", "run_single_user", "tag", "task", "transition", "transitions", "wait_time"),
}


def test_the_public_names_are_those_of_locust():
    assert sorted(plimsoll.__all__) == sorted(NAMES)


def test_every_public_name_is_there_and_the_same_as_for_locust():
    assert plimsoll.__all__ is api.__all__
    for name in plimsoll.__all__:
        assert getattr(plimsoll, name) is getattr(api, name)


def test_dir_has_the_names_too():
    assert set(plimsoll.__all__) <= set(dir(plimsoll))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(plimsoll, "no_such_name")


def test_importing_the_package_imports_neither_gevent_nor_requests():
    code = "from plimsoll import errors, __version__; import sys\n"
    code += "print(sorted({'gevent', 'greenlet', 'requests'} & sys.modules.keys()))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_the_engine_has_the_version_of_the_package():
    assert plimsoll.__version__ == metadata.version(NAME)


def test_ctrl_c_while_the_command_is_imported_is_no_traceback(tmp_path: Path) -> None:
    # A module of the same name as one that the command imports, which is interrupted in the middle of it.
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "plimsoll", "runs"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "plimsoll: interrupted\n")
