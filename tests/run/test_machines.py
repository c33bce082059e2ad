"""A run whose workers are on several machines says what each of them has done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.run.joined import VISITOR, start_master, start_worker

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
    shown = plimsoll("show", "last").out
    for text in (done.out, shown):
        assert [line.split()[:2] for line in text.splitlines() if line.startswith("vm-")] == [
            ["vm-a", "1"],
            ["vm-b", "2"],
        ]
    assert "vm-b" in (plimsoll.directory / "report.html").read_text()


def test_a_run_on_one_machine_has_no_such_table(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    done = plimsoll("run", "-f", "locustfile.py", "--headless", "-H", target.url, "-t", "1s", "--processes", "2")
    assert "Machines" not in done.out
    assert json.loads(plimsoll("show", "last", "--json").out)["machines"] == []
