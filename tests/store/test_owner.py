from __future__ import annotations

import subprocess
import sys

from plimsoll.store.owner import OWNER_TIMEOUT_S, is_gone, this_process

WHO = "from plimsoll.store.owner import this_process; print(this_process())"


def test_this_process_is_not_gone_however_long_it_was_silent():
    assert not is_gone(this_process(), written=0.0, now=1e9)


def test_a_process_that_ended_is_gone_at_once():
    ended = subprocess.run([sys.executable, "-c", WHO], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert is_gone(ended, written=100.0, now=100.0)


def test_another_process_with_the_same_number_is_not_taken_for_it():
    machine, pid, created = this_process().split(" ")
    assert is_gone(f"{machine} {pid} {float(created) - 100:.2f}", written=100.0, now=100.0)


def test_a_process_on_another_machine_is_gone_when_it_was_silent_for_long():
    for elsewhere in ("elsewhere 1 100.00", "nonsense"):
        assert not is_gone(elsewhere, written=100.0, now=100.0 + OWNER_TIMEOUT_S)
        assert is_gone(elsewhere, written=100.0, now=100.1 + OWNER_TIMEOUT_S)
