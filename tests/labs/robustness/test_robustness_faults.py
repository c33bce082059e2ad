"""The library makes system calls fail in a process that knows nothing of it."""

import errno
import os
import subprocess
import sys
from pathlib import Path

from labs.robustness.system_calls import RULES, Switch

WRITES = """
import os
reading, writing = os.pipe()
for _ in range(100):
    try:
        print(os.write(writing, b"1234567"))
    except OSError as error:
        print(error.errno)
"""


def run(switch: Switch, rules: str, program: str = WRITES) -> list[str]:
    environment = os.environ | switch.environment(next(iter(RULES)), seed=1) | {"PLIMSOLL_FAULTS": rules}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    return done.stdout.split()


def test_calls_fail_only_while_the_switch_is_on(tmp_path: Path) -> None:
    switch = Switch(tmp_path / "switch")
    rules = f"write pipe {errno.ENOSPC} 1"
    assert set(run(switch, rules)) == {"7"}
    assert switch.applied == 0
    switch.turn(on=True)
    # The output of the program itself is a pipe too; it gets no byte out.
    environment = os.environ | switch.environment(next(iter(RULES)), seed=1) | {"PLIMSOLL_FAULTS": rules}
    done = subprocess.run([sys.executable, "-c", WRITES], env=environment, capture_output=True, timeout=60)
    assert done.stdout == b""
    assert switch.applied > 0


def test_a_share_of_calls_on_one_kind_of_descriptor_fails(tmp_path: Path) -> None:
    switch = Switch(tmp_path / "switch")
    switch.turn(on=True)
    program = WRITES.replace("os.pipe()", "[each.detach() for each in __import__('socket').socketpair()]")
    found = run(switch, f"write unix {errno.EPIPE} 0.3; write unix short 0.3", program)
    # About 49, 21 and 30 of 100: six standard deviations fit.
    assert {each: 0 < found.count(each) < 80 for each in ("7", "4", str(errno.EPIPE))} == {
        "7": True, "4": True, str(errno.EPIPE): True,
    }  # fmt: skip
    assert switch.applied == 100 - found.count("7")


def test_rules_that_are_not_understood_end_the_process(tmp_path: Path) -> None:
    environment = os.environ | Switch(tmp_path / "switch").environment(next(iter(RULES)), seed=1)
    environment["PLIMSOLL_FAULTS"] = "open tcp often"
    assert subprocess.run([sys.executable, "-c", ""], env=environment, timeout=60).returncode == 97


def test_all_rules_of_the_lab_are_understood(tmp_path: Path) -> None:
    switch = Switch(tmp_path / "switch")
    for rules in RULES.values():
        assert len(run(switch, "; ".join(rules))) == 100
