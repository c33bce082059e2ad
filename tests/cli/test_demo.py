"""`plimsoll demo`."""

from __future__ import annotations

import signal
import socket
from urllib.request import urlopen

import pytest
from tests.command import Command


@pytest.fixture
def command(tmp_path):
    command = Command(tmp_path)
    yield command
    command.clean_up()


def test_the_shop_is_loaded_and_its_faults_are_seen(command):
    done = command.in_a_process("demo", "-t", "3s")
    assert done.code == 0, done
    assert done.out.startswith("$ plimsoll run -f "), done
    rows = {f"{row['method']} {row['name']}": row for row in command.stored()["endpoints"]}
    assert rows.keys() == {"GET /", "GET /search", "GET /reviews", "POST /reviews", "POST /checkout"}
    assert rows["GET /search"]["response_ms"]["min"] >= 300
    assert "GET /search is slow. Half of its requests take at least" in " ".join(done.out.split())
    assert "GET /search is slow. Half of its requests take at least" in " ".join(command("report", "last").out.split())
    assert all(row["failures"] == 0 for name, row in rows.items() if name != "POST /checkout")


def test_the_shop_serves_alone_until_ctrl_c(command):
    process = command.start("demo", "--serve", "--port", "0")
    first, second = process.stdout.readline(), process.stdout.readline()
    url = first.split()[3]
    assert second.startswith("  plimsoll run -f ")
    assert f"-H {url} " in second
    with urlopen(url) as reply:
        assert reply.status == 200
    process.send_signal(signal.SIGINT)
    assert command.end(process).code == 0
    with socket.socket() as connection:
        host, port = url.removeprefix("http://").split(":")
        assert connection.connect_ex((host, int(port))) != 0


def test_the_shop_serves_for_as_long_as_is_asked(command):
    done = command("demo", "--serve", "--port", "0", "-t", "200ms")
    assert done.code == 0, done
    assert " for 0.2 s. Load it from another terminal:\n  plimsoll run " in done.out
    assert done.out.rstrip().endswith("-t 15s --headless")


def test_a_time_that_is_none_is_said(command):
    done = command("demo", "--serve", "-t", "soon")
    assert done.code == 2
    assert "soon" in done.err


def test_a_port_that_is_taken_is_said(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = command("demo", "--port", port)
    assert done.code == 2
    assert done.err == f"plimsoll: the shop cannot listen at port {port}: give another one with --port\n"
