"""A worker's memory comes from the C library, and its users' own programs know nothing of that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plimsoll.run import allocation
from plimsoll.run.allocation import VARIABLES, forget, with_allocation
from plimsoll.run.transport.local import WorkerProcess

HAS_GLIBC = sys.platform == "linux" and "CS_GNU_LIBC_VERSION" in os.confstr_names


@pytest.mark.skipif(not HAS_GLIBC, reason="another C library")
def test_a_worker_is_told_where_its_memory_comes_from() -> None:
    assert with_allocation({"HOME": "/h"}) == {"HOME": "/h", **VARIABLES}


@pytest.mark.parametrize(
    "own", [{"PYTHONMALLOC": "debug"}, {"GLIBC_TUNABLES": "glibc.malloc.check=3"}, {"PYTHONMALLOC": "malloc"}]
)
def test_what_the_user_has_set_stays_as_it_is(own: dict[str, str]) -> None:
    assert with_allocation(own) == own


@pytest.mark.parametrize("libc", [None, "raises"])
def test_with_another_c_library_nothing_is_set(libc: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def confstr(name: str) -> str | None:
        if libc == "raises":
            raise ValueError(name)
        return libc

    monkeypatch.setattr(allocation.os, "confstr", confstr)
    assert with_allocation({"HOME": "/h"}) == {"HOME": "/h"}


def test_a_python_without_the_global_lock_keeps_its_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocation.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    assert with_allocation({}) == {}


def test_only_our_own_values_are_forgotten() -> None:
    environment = {**VARIABLES, "HOME": "/h"}
    forget(environment)
    assert environment == {"HOME": "/h"}
    own = {"PYTHONMALLOC": "debug"}
    forget(own)
    assert own == {"PYTHONMALLOC": "debug"}


IN_HEAP = """
# How many of 64 large buffers lie in glibc's heap, after a larger one was freed.
import ctypes, sys
from plimsoll.run.allocation import LARGE_BUFFER_BYTES, return_large_buffers

if sys.argv[1] == "returned":
    return_large_buffers()
del (larger := [bytearray(64 * LARGE_BUFFER_BYTES)])[:]
buffers = [bytearray(LARGE_BUFFER_BYTES) for _ in range(64)]
heaps = [line.split()[0].split("-") for line in open("/proc/self/maps") if line.rstrip().endswith("[heap]")]
addresses = [ctypes.addressof(ctypes.c_char.from_buffer(buffer)) for buffer in buffers]
print(sum(any(int(low, 16) <= address < int(high, 16) for low, high in heaps) for address in addresses))
"""


@pytest.mark.skipif(not HAS_GLIBC, reason="another C library")
@pytest.mark.parametrize(("how", "least", "most"), [("returned", 0, 8), ("as glibc does", 56, 64)])
def test_large_buffers_do_not_lie_between_small_ones(how: str, least: int, most: int) -> None:
    command = [sys.executable, "-c", IN_HEAP, how]
    count = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert least <= count <= most  # A few fit into what the start left free.


@pytest.mark.skipif(not HAS_GLIBC, reason="another C library")
def test_a_worker_that_was_started_has_them() -> None:
    worker = WorkerProcess(0)
    try:
        # Empty for a moment, while the process begins.
        end = time.monotonic() + 60
        while not (environ := Path(f"/proc/{worker.pid}/environ").read_bytes()) and time.monotonic() < end:
            time.sleep(0.01)
        # glibc has cut its own variable apart, in place.
        entries = f":{environ.decode().replace(chr(0), ':')}:"
        assert all(f":{name}={value}:" in entries for name, value in VARIABLES.items())
    finally:
        worker.kill()
        worker.wait()
