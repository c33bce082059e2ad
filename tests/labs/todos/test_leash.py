"""What hangs on the leash ends with its holder, however the holder ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from labs.todos.leash import AUTOGROUP, Leashed

ROOT = Path(__file__).parents[3]
SLEEP = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable, "-c",
    "import os, signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    "print(os.getpid(), flush=True); time.sleep(600)",
]  # fmt: skip
HOLDER = f"""
import subprocess, time
from labs.todos.leash import Leashed
Leashed({SLEEP!r})
time.sleep(600)
"""


def gone(pid: int) -> bool:
    """Whether it has ended and was waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def started(program: list[str], **options: object) -> tuple[Leashed, int]:
    """The leash and the pid of the program on it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as output:
        with os.fdopen(writing, "wb") as stdout:
            leashed = Leashed(program, stdout=stdout, **options)  # type: ignore[arg-type]
        return leashed, int(output.readline())


def test_stop_ends_the_program_and_removes_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    leashed, pid = started(SLEEP, remove=folder)
    assert leashed.returncode is None
    leashed.stop()
    assert gone(pid)
    assert not folder.exists()
    leashed.stop()


def test_a_program_that_ignores_the_interrupt_is_killed_after_the_grace() -> None:
    leashed, pid = started(STUBBORN, grace=0.2)
    leashed.stop()
    assert gone(pid)


def test_kill_9_of_the_holder_ends_the_program(wait_until_gone: Callable[[int], None]) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], cwd=ROOT, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    pid = int(holder.stdout.readline())
    holder.kill()
    holder.wait()
    wait_until_gone(pid)
    holder.stdout.close()


def test_sigterm_to_the_leash_ends_the_program(wait_until_gone: Callable[[int], None]) -> None:
    leashed, pid = started(SLEEP)
    leashed.process.send_signal(signal.SIGTERM)
    wait_until_gone(pid)
    leashed.stop()


def test_the_exit_status_is_the_programs_own() -> None:
    leashed = Leashed([sys.executable, "-c", "raise SystemExit(7)"])
    leashed.process.wait()
    assert leashed.returncode == 7
    leashed.stop()


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel has no scheduling groups of sessions")
def test_what_started_nice_is_nice_towards_other_sessions() -> None:
    holder = f"from labs.todos.leash import Leashed; Leashed(['cat', '{AUTOGROUP}']).process.wait()"
    command = ["nice", "-n", "7", sys.executable, "-c", holder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("nice 7\n")
