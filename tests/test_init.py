"""The public list."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import pytest

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


INTERRUPTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""
"""A process with this as its sitecustomize gets Ctrl-C when it begins to import a module."""


@pytest.mark.parametrize("name", ["plimsoll._engine", "plimsoll.__main__", "plimsoll.distribution", "plimsoll.cli"])
@pytest.mark.parametrize("command", [["-m", "plimsoll"], [str(Path(sys.executable).with_name("plimsoll"))]])
def test_ctrl_c_at_the_begin_of_the_command_is_no_traceback(tmp_path: Path, name: str, command: list[str]) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING.format(name=name))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, *command, "runs"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "plimsoll: interrupted\n")


def test_a_program_that_imports_the_package_keeps_its_own_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING.format(name="plimsoll._engine"))
    (tmp_path / "program.py").write_text("try:\n    import plimsoll\nexcept KeyboardInterrupt:\n    print('its own')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "its own\n", "")


@pytest.mark.long
def test_ctrl_c_at_any_moment_is_no_traceback_of_the_package() -> None:
    ended = 0
    for number in range(200):
        words = [str(Path(sys.executable).with_name("plimsoll")), "runs", "--store", "nowhere.db"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            # The moments differ; which of them are early depends on the machine, and the assertion does not.
            with suppress(subprocess.TimeoutExpired):
                process.wait(number * 0.002)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        # Before the package begins, the interpreter itself is interrupted.
        assert f"{Path(plimsoll.__file__).parent}" not in said, said
        ended += process.returncode == 130
    assert ended


def test_ctrl_c_while_the_command_is_imported_is_no_traceback(tmp_path: Path) -> None:
    # A module of the same name as one that the command imports, which is interrupted in the middle of it.
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "plimsoll", "runs"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "plimsoll: interrupted\n")
