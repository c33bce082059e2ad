"""`plimsoll python`, compared with Python itself: the same program under both must say and return the same."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLIMSOLL = [sys.executable, "-c", "from plimsoll.cli import main; main()", "python"]

# What a program may rely on; at the end it does what its first argument says.
PROGRAM = """
'''About this.'''
from __future__ import annotations
import __main__, atexit, os, signal, sys

def late() -> None:
    print("late", __main__ is sys.modules["__main__"], VALUE)

VALUE = 1
atexit.register(late)
print(sys.argv, __name__, __doc__, __spec__ and __spec__.name, __package__, type(__builtins__).__name__)
print(__main__.VALUE, globals() is vars(__main__), globals().get("__file__"), type(__loader__).__name__)
print(sys.path[0], sys.path.count(sys.path[0]))
match sys.argv[1:2]:
    case ["exit"]: sys.exit(7)
    case ["words"]: sys.exit("no such thing")
    case ["raise"]: {}["key"]
    case ["interrupt"]: os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.fixture
def same(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python and `plimsoll python` with the same arguments, in a folder with programs; what both of them did."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "broken.py").write_text("x = (\n")
    (tmp_path / "old.py").write_text("x: int = 1\nprint(__annotations__)\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(PROGRAM)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.py").symlink_to(tmp_path / "program.py")
    # What is named like a module of ours, or of the standard library, must not be taken for it.
    (tmp_path / "gevent.py").write_text("raise ImportError('not this one')")

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = []
        for command in ([sys.executable], PLIMSOLL):
            done.append(
                subprocess.run(
                    [*command, *arguments],
                    input=stdin,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    cwd=tmp_path,
                    env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                )
            )
        python, ours = done
        assert ours.stdout == python.stdout
        assert ours.stderr == python.stderr
        return ours

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ["program.py"],
        ["program.py", "a", "--help", "-m", "b", "--"],
        ["./program.py", "-h"],
        ["sub/link.py"],
        ["program.py", "exit"],
        ["program.py", "words"],
        ["program.py", "raise"],
        ["broken.py"],
        ["old.py"],
        ["package", "a", "-b"],
        ["package", "exit"],
        ["-m", "program", "a", "--help"],
        ["-mprogram", "a"],
        ["-m", "program", "exit"],
        ["-m", "package", "-c"],
        ["-m", "gone"],
        ["-c", PROGRAM, "a", "-h"],
        ["-cprint(1)"],
        ["-c", "raise SystemExit(3)"],
    ],
    ids=lambda arguments: " ".join(arguments).replace(PROGRAM, "CODE"),
)
def test_a_program_sees_what_it_would_see_in_python(same, arguments):
    same(*arguments)


@pytest.mark.parametrize("arguments", [[], ["-"], ["-", "a", "-b"]], ids=str)
def test_a_program_may_come_from_stdin(same, arguments):
    assert "late" in same(*arguments, stdin=PROGRAM.replace("__spec__", "None")).stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["program.py", "exit"], 7), (["program.py", "words"], 1), (["program.py", "raise"], 1), (["program.py"], 0)],
    ids=str,
)
def test_the_exit_code_is_the_programs(same, arguments, code):
    assert same(*arguments).returncode == code


def test_a_program_that_is_interrupted_has_the_exit_code_of_shells(same):
    assert same("program.py", "interrupt").returncode == 130


def test_a_file_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([*PLIMSOLL, "gone.py"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"plimsoll: can't open file {str(tmp_path / 'gone.py')!r}: no such file\n"


@pytest.mark.parametrize("arguments", [["-c"], ["program.py"], ["-m"]], ids=str)
def test_locust_is_plimsoll_in_it(tmp_path, arguments):
    code = "import locust, gevent.monkey as m; print(locust.HttpUser.__module__, m.is_module_patched('socket'))"
    (tmp_path / "program.py").write_text(code)
    arguments = {"-c": ["-c", code], "-m": ["-m", "program"]}.get(arguments[0], arguments)
    done = subprocess.run([*PLIMSOLL, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout == "plimsoll.users.user True\n", done.stderr


def test_the_module_for_debuggers_does_the_same(tmp_path):
    (tmp_path / "program.py").write_text("import locust, sys; print(sys.argv, sys.path[0], locust.HttpUser.__module__)")
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll.locust", "program.py", "-m"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert done.stdout == f"['program.py', '-m'] {tmp_path} plimsoll.users.user\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m"], "-m needs a value: plimsoll python -m MODULE"),
        (["-c"], "-c needs a value: plimsoll python -c CODE"),
        (["-u", "x.py"], "-u: of Python's own options there are -m and -c; PYTHON… variables set the others"),
    ],
    ids=str,
)
def test_what_cannot_be_run_is_told(plimsoll, arguments, message):
    result = plimsoll("python", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"plimsoll: {message}\n")
