"""A run whose workers are on several machines says what each of them has done."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from tests.run.joined import VISITOR, start_master, start_worker
from tests.run.lossy_target import LossyTarget

if TYPE_CHECKING:
    import subprocess

    from tests.command import Command, CountingTarget

NAMED = """
import os, platform
platform.node = lambda: os.environ["HOST_OF_THIS_TEST"]
"""
"""What makes a process of Python believe that it is on another machine."""


def start_on(host: str, plimsoll: Command, port: int, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[str]:
    (plimsoll.directory / "named").mkdir(exist_ok=True)
    plimsoll.write(NAMED, "named/sitecustomize.py")
    with monkeypatch.context() as patched:
        patched.setitem(plimsoll.environment, "PYTHONPATH", str(plimsoll.directory / "named"))
        patched.setitem(plimsoll.environment, "HOST_OF_THIS_TEST", host)
        return start_worker(plimsoll, port)


def test_each_machine_has_a_row_with_its_requests(
    plimsoll: Command, target: CountingTarget, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plimsoll.write(VISITOR)
    workers = [start_on(host, plimsoll, port, monkeypatch) for host in ("vm-a", "vm-b", "vm-b")]
    words = ("-f", "locustfile.py", "--expect-workers", "3", "-H", target.url, "-u", "3", "-r", "3", "-t", "3s")
    done = plimsoll.end(start_master(plimsoll, port, *words, "--html", "report.html"))
    for worker in workers:
        assert plimsoll.end(worker).code == 0
    found = json.loads(plimsoll("show", "last", "--json").out)
    first, second = sorted(found["machines"], key=lambda each: each["machine"])
    assert [(each["machine"], each["workers"]) for each in (first, second)] == [("vm-a", 1), ("vm-b", 2)]
    assert first["requests"] + second["requests"] == found["total"]["requests"] > 0
    assert first["requests"] < second["requests"], "it has one user, the other one has two"
    assert first["share"] + second["share"] == pytest.approx(1)
    for each in (first, second):
        assert 0 < each["p50_ms"] <= each["p99_ms"]
        assert (each["failures"], each["cpu"] is not None, each["lag_p99_ms"] is not None) == (0, True, True)
        assert (each["retransmissions"] is not None) == (sys.platform == "linux")
    shown = plimsoll("show", "last").out
    for text in (done.out, shown):
        assert [line.split()[:2] for line in text.splitlines() if line.startswith("vm-")] == [
            ["vm-a", "1"],
            ["vm-b", "2"],
        ]
    assert "vm-b" in (plimsoll.directory / "report.html").read_text()


FROM_ITS_HOST = """
import os
from locust import FastHttpUser, constant, task

class Visitor(FastHttpUser):
    wait_time = constant(0.05)
    @task
    def index(self):
        self.client.get("/", headers={"X-Host": os.environ["HOST_OF_THIS_TEST"]})
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the target drops segments with a socket filter of Linux")
def test_a_machine_on_a_lossy_link_is_named(plimsoll: Command, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plimsoll.write(FROM_ITS_HOST)
    users = 20
    with LossyTarget("vm-b", 0.2) as target:
        workers = [start_on(host, plimsoll, port, monkeypatch) for host in ("vm-a", "vm-b")]
        words = ("-f", "locustfile.py", "--expect-workers", "2", "-H", target.url, "-u", str(users), "-r", str(users))
        assert plimsoll.end(start_master(plimsoll, port, *words, "-t", "6s")).code == 0
        for worker in workers:
            assert plimsoll.end(worker).code == 0
    found = json.loads(plimsoll("show", "last", "--json").out)
    sound, lossy = sorted(found["machines"], key=lambda each: each["machine"])
    # A user that is stopped may leave before its last lost segment is sent again.
    assert 20 < target.dropped - users <= lossy["retransmissions"] <= target.dropped + sound["retransmissions"] + users
    assert sound["retransmissions"] < lossy["retransmissions"] / 5
    assert found["generator"]["retransmissions"] == sound["retransmissions"] + lossy["retransmissions"]
    report = " ".join(plimsoll("report", "last").out.split())
    assert f"vm-b sent {lossy['retransmissions']} TCP segments again" in report
    assert "# Retrans." in report


def test_a_run_on_one_machine_has_no_such_table(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    done = plimsoll("run", "-f", "locustfile.py", "--headless", "-H", target.url, "-t", "1s", "--processes", "2")
    assert "Machines" not in done.out
    assert json.loads(plimsoll("show", "last", "--json").out)["machines"] == []
