"""Runs the quick tests of users and load on the newest Python of this machine that is not the oldest one.

python -m scripts.newest_python [options of pytest]

The engine has the stable ABI, so nothing is built: the package is that of `make setup`. Interpreters are those on the
path, and those of pyenv. Without one, the exit code is 0 and a line says so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.repeat_failed import run as run_and_repeat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parents[1]
OLDEST = (3, 11)
TESTS = ("tests/users", "tests/load")
PROCESSES = 6
"""The tests wait more than they compute."""


def candidates() -> list[str]:
    """Programs that may be a newer Python."""
    names = (shutil.which(f"python3.{minor}") for minor in range(OLDEST[1] + 1, 20))
    return [*filter(None, names), *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python"))]


def newest(programs: Iterable[str]) -> tuple[tuple[int, ...], str] | None:
    """The version of the newest one that is newer than the oldest, and its program."""
    found = {}
    for program in programs:
        # A name on the path may be a shim without a program.
        done = subprocess.run(
            [program, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        )
        if done.returncode == 0:
            found[tuple(map(int, done.stdout.split()))] = program
    version = max(found, default=OLDEST)
    return (version, found[version]) if version > OLDEST else None


def requirements() -> list[str]:
    """What the package needs, with what locustfiles import, and what these tests need besides."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    return [*project["project"]["dependencies"], *extras["locust"], *project["dependency-groups"]["tests"]]


def environment(version: tuple[int, ...], program: str) -> Path:
    """The interpreter of a virtual environment with the requirements; made again when these change."""
    folder = ROOT / "target" / f"python{'.'.join(map(str, version))}"
    python, done = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join(requirements())
    if not done.exists() or done.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        _run([program, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements()])
        # Not a variable: the tests start commands with environments of their own.
        (package,) = folder.glob("lib/python*/site-packages")
        (package / "plimsoll.pth").write_text(f"{ROOT / 'python'}\n")
        done.write_text(wanted)
    return python


def _run(command: Sequence[str]) -> None:
    """Ends the process if the command fails."""
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    chosen = newest(candidates())
    if chosen is None:
        print(f"newest_python: no Python newer than {'.'.join(map(str, OLDEST))} is here; nothing was run")
        return
    version, program = chosen
    print(f"newest_python: {', '.join(TESTS)} with Python {'.'.join(map(str, version))}", flush=True)
    python = environment(version, program)
    arguments = ["-q", "--dist", "worksteal", "-n", str(PROCESSES), *TESTS, *sys.argv[1:]]
    sys.exit(run_and_repeat([str(python), "-m", "pytest", *arguments]))


if __name__ == "__main__":
    main()
