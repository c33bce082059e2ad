"""A cluster by SSH from its beginning to its end. Its hosts are all this machine: `ssh` runs here."""

from __future__ import annotations

import os
import re
import socket
import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.command import wait_until
from tests.run.cluster.fake_ssh import put_ssh

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

pytestmark = [pytest.mark.long, pytest.mark.exhaustive, pytest.mark.timeout(400)]


def _port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def _of(address: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if address in " ".join(each.info["cmdline"] or ())]


def test_a_cluster_comes_up_shows_itself_carries_a_run_and_ends(
    plimsoll: Command, target: CountingTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_ssh(plimsoll.directory, monkeypatch)
    plimsoll.environment["PATH"] = os.environ["PATH"]
    # One host: of two that start at the same moment in one file system, Ray takes the one for the other.
    plimsoll.write(f"one cpus=2 python={sys.executable} address=127.0.0.2\n", "hosts.txt")
    port = _port()
    address = f"127.0.0.1:{port}"
    made = plimsoll.in_a_process("cluster", "up", "hosts.txt", "--address", "127.0.0.1", "--port", port)
    try:
        assert made.code == 0, made
        assert f"the cluster is up at {address}: plimsoll run … --cluster {address} --nodes 1" in made.out + made.err
        again = plimsoll.in_a_process("cluster", "up", "hosts.txt")
        assert again.code == 2 and "is the head of a cluster already: plimsoll cluster down ends it" in again.err
        shown = plimsoll.in_a_process("cluster", "status")
        assert shown.code == 0, shown
        assert sorted(line.split()[2] for line in shown.out.splitlines()) == ["0", "2", "CPUs"]

        run = plimsoll.in_a_process(
            "run", target.url, "--rate", "50/s", "-t", "2s", "--cluster", address, "--nodes", "1",
            "--workers-per-node", "2", "--headless",
        )  # fmt: skip
        assert run.code == 0, run
        assert plimsoll.stored()["total"]["requests"] == target.total == 100

        doctor = plimsoll.in_a_process("doctor", "--cluster", address)
        assert doctor.code in (0, 1), doctor
        assert re.search(r"^ok +token +needed$", doctor.out, re.MULTILINE)
        assert re.search(r"^ok +versions +Plimsoll \S+ Python \S+ Ray \S+ on 2$", doctor.out, re.MULTILINE)
        assert len(re.findall(r"capacity +2 workers, about [\d\u202f]+ requests/s each", doctor.out)) == 1
    finally:
        ended = plimsoll.in_a_process("cluster", "down")
    assert ended.code == 0, ended
    wait_until(lambda: not _of(address))
    none = plimsoll.in_a_process("cluster", "status")
    assert none.code == 2
    assert none.err == "plimsoll: this machine is the head of no cluster: plimsoll cluster up hosts.txt makes one\n"


def test_a_host_that_cannot_take_part_leaves_nothing_behind(plimsoll: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    put_ssh(plimsoll.directory, monkeypatch)
    plimsoll.environment["PATH"] = os.environ["PATH"]
    plimsoll.write(f"one python={sys.executable}\ntwo python=/usr/bin/false\n", "hosts.txt")
    port = _port()
    done = plimsoll.in_a_process("cluster", "up", "hosts.txt", "--address", "127.0.0.1", "--port", port)
    assert done.code == 2
    assert done.err == (
        "plimsoll: two: /usr/bin/false has no Plimsoll with Ray: pip install 'plimsoll-lab[cluster]', or "
        "python=PATH in the file of hosts\n"
    )
    wait_until(lambda: not _of(f"127.0.0.1:{port}"))
