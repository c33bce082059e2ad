from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.experiment.real_cells import TIMEOUT_S, all_ended, marked_processes, python

from plimsoll.run.supervised.process import LONGEST_LINE, Process, ProcessEnd, StartError, last_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLEEPS = ["sleep", "600"]

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""

SLOW = """
import signal, sys, time
def asked(*_):
    print("asked", flush=True)
    time.sleep(0.5)
    sys.exit(0)
signal.signal(signal.SIGTERM, asked)
print("ready", flush=True)
time.sleep(600)
"""

CALLER = """
import sys, time
from pathlib import Path
from plimsoll.run.supervised.process import Process
folder = Path(sys.argv[1])
process = Process(
    ["sh", "-c", "setsid sleep 600 & sleep 601"], output=folder / "log", last=["touch", str(folder / "last")]
)
print("started", flush=True)
time.sleep(600)
"""


def _wait_for(path: Path, text: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while text not in (path.read_text() if path.exists() else ""):
        assert time.monotonic() < deadline, f"{path} never said {text!r}"
        time.sleep(0.01)


@contextmanager
def _interrupts(*after: float) -> Iterator[None]:
    """A KeyboardInterrupt of this thread after each of so many seconds, if it is still here then."""
    timers = [threading.Timer(each, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)) for each in after]
    try:
        for timer in timers:
            timer.start()
        yield
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()


def test_an_exit_status_and_the_last_lines_are_told(tmp_path: Path, process_mark: str) -> None:
    code = "import sys; print(*range(30), sep='\\n'); print('sorry', file=sys.stderr); sys.exit(3)"
    began = time.monotonic()
    with Process(python(code), output=tmp_path / "log") as process:
        ending = process.wait(TIMEOUT_S)
    assert ending is not None
    assert (ending.status, str(ending)) == (3, "exit status 3")
    assert began < ending.at < time.monotonic()
    assert process.tail(3)[-2:] == ["28", "29"] or process.tail(1) == ["sorry"]
    assert len(process.tail()) == 20
    assert process.stop() == ending


def test_standard_error_may_have_a_file_of_its_own(tmp_path: Path, process_mark: str) -> None:
    code = "import sys; print('result'); print('trouble', file=sys.stderr)"
    with Process(python(code), output=tmp_path / "out", errors=tmp_path / "err") as process:
        assert process.wait(TIMEOUT_S)
    assert (tmp_path / "out").read_text() == "result\n"
    assert process.tail() == ["trouble"]


def test_it_runs_where_and_with_what_it_is_told(tmp_path: Path, process_mark: str) -> None:
    env = {**os.environ, "COLOUR": "red"}
    with Process(["sh", "-c", "pwd; echo $COLOUR"], output=tmp_path / "log", cwd=tmp_path, env=env) as process:
        assert process.wait(TIMEOUT_S)
    assert process.tail() == [str(tmp_path), "red"]


@pytest.mark.parametrize(
    ("command", "cwd", "message"),
    [
        (["/no/such/program"], None, "/no/such/program: No such file or directory"),
        ([__file__], None, "test_process.py: Permission denied"),
        (["true"], "nowhere", "nowhere: No such file or directory"),
    ],
)
def test_what_cannot_be_started_is_named(
    tmp_path: Path, process_mark: str, command: list[str], cwd: str | None, message: str
) -> None:
    with pytest.raises(StartError) as caught:
        Process(command, output=tmp_path / "log", cwd=tmp_path / cwd if cwd else None)
    assert str(caught.value).endswith(message)
    assert all_ended(process_mark)


def test_stop_asks_first(tmp_path: Path, process_mark: str) -> None:
    code = "trap 'echo goodbye; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    log = tmp_path / "log"
    with Process(["sh", "-c", code], output=log) as process:
        _wait_for(log, "ready\n")
        assert process.poll() is None
        ending = process.stop()
    assert (ending.status, ending.remark) == (0, "")
    assert process.tail(1) == ["goodbye"]
    assert not psutil.pid_exists(process.pid)


def test_what_does_not_listen_is_killed_after_the_grace(tmp_path: Path, process_mark: str) -> None:
    log = tmp_path / "log"
    with Process(python(STUBBORN), output=log, grace=0.3) as process:
        _wait_for(log, "ready\n")
        began = time.monotonic()
        ending = process.stop()
    assert str(ending) == "ended by SIGKILL (it did not end within 0.3 s of SIGTERM)"
    assert time.monotonic() - began >= 0.3
    assert not psutil.pid_exists(process.pid)


def test_all_that_it_started_ends_with_it_also_what_left_its_session(tmp_path: Path, process_mark: str) -> None:
    command = ["sh", "-c", "setsid sleep 600 & (sleep 601 &) ; sleep 602"]
    with Process(command, output=tmp_path / "log") as process:

        def all_run() -> bool:
            """The supervisor, the shell, three that sleep. One that is about to become `sleep` has no mark yet."""
            marked = set(marked_processes(process_mark))
            children = psutil.Process(process.parent).children(recursive=True)
            return len(marked) >= 5 and marked >= {child.pid for child in children}

        deadline = time.monotonic() + TIMEOUT_S
        while not all_run():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.stop()
        assert marked_processes(process_mark) == []


def test_everything_is_asked_once(tmp_path: Path, process_mark: str) -> None:
    """A second signal often means: at once."""
    log = tmp_path / "log"
    words = shlex.join(python(SLOW))
    with Process(["sh", "-c", f"setsid {words} & {words} & exec sleep 600"], output=log) as process:
        _wait_for(log, "ready\nready\n")
        process.stop()
    assert sorted(process.tail()) == ["asked", "asked", "ready", "ready"]
    assert marked_processes(process_mark) == []


def test_what_it_leaves_behind_ends_when_it_ends_by_itself(tmp_path: Path, process_mark: str) -> None:
    with Process(["sh", "-c", "setsid sleep 600 & exit 4"], output=tmp_path / "log") as process:
        ending = process.wait(TIMEOUT_S)
        assert ending is not None
        assert ending.status == 4
        assert all_ended(process_mark)


def test_nothing_outlives_a_caller_that_was_killed(tmp_path: Path, process_mark: str) -> None:
    with subprocess.Popen(python(CALLER, str(tmp_path)), stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "started\n"
        assert len(marked_processes(process_mark)) >= 3
        caller.kill()
    assert all_ended(process_mark)
    assert (tmp_path / "last").exists(), "the last command is run all the same"


def test_it_does_not_outlive_its_supervisor_either(tmp_path: Path, process_mark: str) -> None:
    with Process(SLEEPS, output=tmp_path / "log") as process:
        os.kill(process.parent, signal.SIGKILL)
        assert process.wait(TIMEOUT_S) is not None
        assert all_ended(process_mark)


def test_the_last_command_comes_last(tmp_path: Path, process_mark: str) -> None:
    log = tmp_path / "log"
    code = "trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    with Process(["sh", "-c", code], output=log, last=["echo", "swept"]) as process:
        _wait_for(log, "ready\n")
        process.stop()
    assert [line for line in process.tail() if line != "Terminated"] == ["ready", "ended", "swept"]


def test_an_interrupt_is_for_the_command_alone(tmp_path: Path, process_mark: str) -> None:
    log = tmp_path / "log"
    code = f"""
import signal, subprocess, sys
child = subprocess.Popen({SLEEPS})
def interrupted(*_):
    try:
        child.wait(0.5)
        print("child is gone", flush=True)
    except subprocess.TimeoutExpired:
        print("child is alive", flush=True)
    sys.exit(5)
signal.signal(signal.SIGINT, interrupted)
print("ready", flush=True)
signal.pause()
"""
    with Process(python(code), output=log) as process:
        _wait_for(log, "ready\n")
        process.interrupt()
        ending = process.wait(TIMEOUT_S)
    assert ending is not None
    assert ending.status == 5
    assert process.tail() == ["ready", "child is alive"]
    process.interrupt()  # nobody is there any more


def test_a_signal_from_elsewhere_is_named(tmp_path: Path, process_mark: str) -> None:
    with Process(SLEEPS, output=tmp_path / "log") as process:
        os.kill(process.pid, signal.SIGSEGV)
        ending = process.wait(TIMEOUT_S)
    assert str(ending) == "ended by SIGSEGV"


def test_a_kill_that_nobody_here_ordered_may_be_the_kernels(
    tmp_path: Path, process_mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = []
    for kills in ([3, 3], [3, 4]):
        vmstat = iter([f"oom_kill {number}\n" for number in kills])
        monkeypatch.setattr("pathlib.Path.read_text", lambda _, vmstat=vmstat: next(vmstat))
        with Process(SLEEPS, output=tmp_path / "log") as process:
            os.kill(process.pid, signal.SIGKILL)
            endings.append(str(process.wait(TIMEOUT_S)))
    assert endings == [
        "ended by SIGKILL (out of memory?)",
        "ended by SIGKILL (the kernel killed for lack of memory meanwhile)",
    ]


def test_a_keyboard_interrupt_while_it_is_being_stopped_ends_the_grace(tmp_path: Path, process_mark: str) -> None:
    log = tmp_path / "log"
    with pytest.raises(KeyboardInterrupt), Process(python(STUBBORN), output=log, grace=30.0) as process:
        _wait_for(log, "ready\n")
        with _interrupts(0.3):
            process.stop()
    assert not psutil.pid_exists(process.pid)


def test_only_the_second_keyboard_interrupt_does_if_it_is_patient(tmp_path: Path, process_mark: str) -> None:
    slow = SLOW.replace("0.5", "2.0")
    endings = []
    for times in ((0.2,), (0.2, 0.5)):
        log = tmp_path / f"log{len(times)}"
        with pytest.raises(KeyboardInterrupt), Process(python(slow), output=log, grace=30.0) as process:
            _wait_for(log, "ready\n")
            with _interrupts(*times):
                process.stop(patient=True)
        endings.append(process.stop().status)
    assert endings == [0, -signal.SIGKILL]


def test_signals_without_a_name_have_their_number() -> None:
    assert str(ProcessEnd(-60, 0.0)) == "ended by signal 60"


def test_last_lines_are_bounded(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 10_000 + b"\n\n\xff y  \n")
    lines = last_lines(log, 2)
    assert lines == ["x" * LONGEST_LINE, "\ufffd y"]
    assert last_lines(tmp_path / "none") == []


def test_no_more_than_the_standard_library_is_needed_by_the_supervisor() -> None:
    from plimsoll.run.supervised import supervisor

    done = subprocess.run([sys.executable, "-I", "-S", supervisor.__file__, "--help"], capture_output=True, check=True)
    assert b"--grace" in done.stdout


@pytest.mark.skipif(not os.path.exists("/proc/self/autogroup"), reason="no scheduling groups of sessions")  # noqa: PTH110
def test_what_was_started_nice_is_nice_towards_other_sessions(tmp_path: Path) -> None:
    expected = min(19, os.nice(0) + 7)
    command = ["sh", "-c", f"until grep -q 'nice {expected}$' /proc/self/autogroup; do sleep 0.05; done"]
    holder = f"""if True:
        from pathlib import Path
        from plimsoll.run.supervised.process import Process
        ending = Process({command!r}, output=Path({str(tmp_path / "output")!r})).wait(30)
        raise SystemExit(9 if ending is None else ending.status)
    """
    subprocess.run(["nice", "-n", "7", sys.executable, "-c", holder], check=True)
