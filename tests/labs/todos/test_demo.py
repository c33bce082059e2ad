import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.store import Store

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "demo.db")


def demo(store: str, variant: str, time: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "labs.todos.demo", "--users", "10", "--time", time]
    return subprocess.Popen(
        [*command, "--variant", variant, "--store", store],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("variant", ["baseline", "limit-index"])
def test_the_runs_counts_are_the_services_own(store: str, variant: str) -> None:
    with demo(store, variant, "3s") as running:
        output, _ = running.communicate()
    assert running.returncode == 0, output
    assert f"{variant}: 0 todos at the start" in output
    lines = re.findall(r"(GET|POST) /todos/ +reported (\d+), received (\d+): equal", output)
    assert [method for method, _, _ in lines] == ["GET", "POST"], output
    assert all(reported == received != "0" for _, reported, received in lines)


def test_one_request_that_the_run_did_not_make_is_a_difference(store: str) -> None:
    with demo(store, "limit-index", "1s") as running:
        assert running.stdout is not None
        url = running.stdout.readline().split()[-1]
        with urllib.request.urlopen(url, timeout=20):
            pass
        output = running.stdout.read()
    assert re.search(r"GET /todos/ +reported \d+, received \d+: DIFFERENT", output), output
    assert running.returncode == 1


@pytest.fixture
def interrupted(store: str) -> Iterator[str]:
    """The output of a demo that got Ctrl-C once its users ran."""
    with demo(store, "baseline", "10m") as running:
        assert running.stdout is not None
        output = ""
        for line in running.stdout:
            output += line
            if "users spawned" in line:
                running.send_signal(signal.SIGINT)
                break
        yield output + running.stdout.read()


def test_ctrl_c_ends_the_run_which_still_reports_and_agrees(interrupted: str, store: str) -> None:
    assert "Response time percentiles" in interrupted
    assert "DIFFERENT" not in interrupted
    assert Store.open(store).run("last").status == "stopped"
