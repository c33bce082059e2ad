"""Carries out a run under one of the two tools, in a folder of its own, and keeps all that it left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .case import Run
    from .server import Received, Server

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
GIVEN = HERE / "given"
PATIENCE = 15.0
"""Seconds after which a run is killed; the longest of a healthy run is about 5."""


@dataclass(frozen=True)
class Tool:
    """How a run is called under it."""

    name: str
    run: tuple[str, ...]
    python: tuple[str, ...]
    """What runs a script that uses it as a library."""


LOCUST = Tool("locust", (str(HERE / ".venv/bin/locust"),), (str(HERE / ".venv/bin/python"),))
PLIMSOLL = Tool(
    "plimsoll",
    (str(ROOT / ".venv/bin/plimsoll"), "run"),
    (str(ROOT / ".venv/bin/plimsoll"), "python"),
)
TOOLS: tuple[Tool, Tool] = (LOCUST, PLIMSOLL)


@dataclass(frozen=True)
class Left:
    """What a run left behind."""

    exit_code: int | None
    """None: it had to be killed."""
    out: str
    err: str
    received: list[Received]
    folder: Path
    """Its working directory: the case's files, `csv`, `happened`, and what the locustfile wrote."""


def carry_out(run: Run, tool: Tool, server: Server) -> Left:
    """The folder is the caller's to remove."""
    folder = Path(tempfile.mkdtemp(prefix=f"parity-{tool.name}-"))
    _put_files(run, folder)
    places = {"{target}": server.url, "{here}": str(folder)}
    command = _command(run, tool)
    env = _environment(run, folder)
    for place, text in places.items():
        command = [word.replace(place, text) for word in command]
        env = {name: value.replace(place, text) for name, value in env.items()}
    server.take()
    code, out, err = _end(command, folder, env)
    return Left(code, out, err, server.take(), folder)


def clean(left: Left) -> None:
    shutil.rmtree(left.folder, ignore_errors=True)


def _put_files(run: Run, folder: Path) -> None:
    if run.path.is_dir():
        shutil.copytree(run.path, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "main.py").rename(folder / "locustfile.py")
    else:
        shutil.copy(run.path, folder / "locustfile.py")
    for given in GIVEN.glob("*.py"):
        shutil.copy(given, folder)
    (folder / "happened").mkdir()


def _command(run: Run, tool: Tool) -> list[str]:
    if "script" in run.options:
        return [*tool.python, "locustfile.py", *run.arguments]
    usual = () if "bare" in run.options else ("-f", "locustfile.py,probe.py", "--headless", "-H", "{target}")
    files = ("--csv", "csv/run") if "csv" in run.options else ()
    return [*tool.run, *usual, *files, *run.arguments]


def _environment(run: Run, folder: Path) -> dict[str, str]:
    own = ("LOCUST_", "PLIMSOLL_", "PYTHON", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    env |= {"HOME": str(folder), "COLUMNS": "200", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PARITY_OUT": str(folder / "happened"), "PARITY_TARGET": "{target}"}
    # The store belongs to the run; that a busy machine makes a run invalid is not what is compared.
    env |= {"PLIMSOLL_STORE": str(folder / "plimsoll.db"), "PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}
    return env | run.env


def _end(command: list[str], folder: Path, env: dict[str, str]) -> tuple[int | None, str, str]:
    """In a process group of its own, so that whatever it started ends with it."""
    with (folder / ".out").open("w+") as out, (folder / ".err").open("w+") as err:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        code: int | None
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return code, _text(folder / ".out"), _text(folder / ".err")


def _text(path: Path) -> str:
    return path.read_text(errors="replace")
