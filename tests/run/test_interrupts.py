"""What a signal means in each part of a command. Signals are those of a process: most tests have one of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.command import TIMEOUT_S

from plimsoll.run import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_S = 3.0
HELD_UP = """
import ctypes
lock, c = ctypes.create_string_buffer(64), ctypes.CDLL(None)
c.pthread_mutex_lock(lock)
print("ready", flush=True)
c.pthread_mutex_lock(lock)
"""
"""As a resolver or a database holds the main thread up: no handler is called."""


def _program(text: str, meaning: str) -> subprocess.Popen[str]:
    indented = "".join(f"    {line}\n" for line in text.strip().splitlines())
    program = f"import sys, time\nfrom plimsoll.run import interrupts\nwith interrupts.{meaning}:\n{indented}"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    _wait_until_asleep(process.pid)
    return process


def _wait_until_asleep(pid: int) -> None:
    """Until the main thread waits for something."""
    seen = 0
    while seen < 5:
        is_asleep = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
        seen = seen + 1 if is_asleep else 0
        time.sleep(0.02)


def _end(process: subprocess.Popen[str]) -> tuple[int, str, str, float]:
    """Exit code, stdout and stderr, and the seconds that it took."""
    began = time.monotonic()
    out, err = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, out, err, time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("meaning", ["command()", "ending()", "finishing()"])
def test_a_main_thread_that_is_held_up_does_not_keep_the_process(meaning: str, number: signal.Signals) -> None:
    process = _program(HELD_UP, meaning)
    process.send_signal(number)
    code, _, err, seconds = _end(process)
    assert seconds < TIMEOUT_S / 2
    assert code == 128 + number
    assert err.endswith(interrupts.LEFT.decode())


@pytest.mark.parametrize("meaning", ["orderly()", "passed_to(lambda _: None)", "passed_to(lambda _: None, every=True)"])
def test_an_action_that_is_not_carried_out_does_not_keep_it_either(meaning: str) -> None:
    process = _program(HELD_UP, meaning)
    process.send_signal(signal.SIGINT)
    time.sleep(1.5 * interrupts.BURST_S)
    assert process.poll() is None, "the first signal lets things end in their order"
    process.send_signal(signal.SIGINT)
    assert _end(process)[0] == 130


def test_a_command_is_interrupted_at_once() -> None:
    process = _program('try:\n    print("ready", flush=True)\n    time.sleep(600)\nexcept KeyboardInterrupt:\n'
                       '    print("interrupted", interrupts.exit_code(), interrupts.count())', "command()")  # fmt: skip
    process.send_signal(signal.SIGTERM)
    assert _end(process)[:3] == (0, "interrupted 143 1\n", "")


def test_what_a_process_does_after_its_command_has_the_limit_as_well() -> None:
    text = "import threading\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
    text += 'try:\n    print("ready", flush=True)\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    pass'
    process = _program(text, "command()")
    process.send_signal(signal.SIGINT)
    code, _, err, _ = _end(process)
    assert (code, err) == (130, interrupts.LEFT.decode())


WRITES = """
print("ready", flush=True)
until = time.monotonic() + 1.6
while time.monotonic() < until:
    time.sleep(0.01)
print("written", flush=True)
"""


def test_a_burst_of_signals_does_not_cost_what_is_being_written() -> None:
    process = _program(WRITES, "finishing()")
    for _ in range(30):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert _end(process)[:3] == (0, "written\n", interrupts.BEING_WRITTEN.decode())


def test_a_second_request_leaves_what_is_being_written() -> None:
    process = _program(WRITES.replace("1.6", "600"), "finishing()")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None and process.stderr.readline() == interrupts.BEING_WRITTEN.decode()
    time.sleep(1.2 * interrupts.BURST_S)
    process.send_signal(signal.SIGINT)
    code, out, err, _ = _end(process)
    assert code != 0 and "written" not in out
    assert "KeyboardInterrupt" in err or err == interrupts.LEFT.decode()


def test_the_innermost_meaning_counts_and_the_outer_one_comes_back() -> None:
    called: list[str] = []

    def raised() -> None:
        interrupts._interrupts._burst = -1e9  # not a part of the request before
        signal.raise_signal(signal.SIGINT)

    with interrupts.passed_to(lambda is_first: called.append(f"outer {is_first}")):
        raised()
        with interrupts.passed_to(lambda is_first: called.append(f"inner {is_first}")):
            raised()
            raised()
        raised()
        with pytest.raises(KeyboardInterrupt), interrupts.orderly():
            raised()
        raised()
        assert interrupts.count() == 6
    assert called == ["outer True", "inner True", "inner False", "outer False", "outer False"]


def test_handlers_are_as_before_afterwards() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(each) for each in numbers], sys.unraisablehook
    with interrupts.passed_to(lambda _: None), interrupts.finishing():
        assert [signal.getsignal(each) for each in numbers] != before[0]
    assert ([signal.getsignal(each) for each in numbers], sys.unraisablehook) == before


def test_a_signal_before_the_run_is_the_runs() -> None:
    with interrupts.finishing():
        assert not interrupts.take_noted()
        signal.raise_signal(signal.SIGINT)
        assert interrupts.take_noted()
        assert not interrupts.take_noted()
        assert not interrupts._interrupts.is_ending


def _never(seconds: float) -> bool:
    time.sleep(seconds)
    return False


@pytest.mark.parametrize(("look", "expected"), [(_never, False), (lambda _: True, True)])
def test_others_are_waited_for_only_so_long_once_a_signal_has_come(
    look: Callable[[float], bool], expected: bool
) -> None:
    with interrupts.passed_to(lambda _: interrupts.may_finish()):
        assert interrupts.wait(look, 0.05) is expected
        signal.raise_signal(signal.SIGINT)
        # It would be ten minutes.
        assert interrupts.wait(look, 600.0) is expected
