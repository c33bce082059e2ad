"""Each variant serves the same files; one tunnel leaks when its users leave, the other does not."""

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from labs.tunnels.hosts import core_share, limited, link
from labs.tunnels.lab import PROGRAM, VARIANTS

from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.ports import free_port

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "labs" / "tunnels"
TIMEOUT_S = 30.0

pytestmark = pytest.mark.long


def fetched(url: str) -> bytes:
    """As soon as the tunnel is there."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return bytes(reply.read())
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_all_variants_serve_the_same_files_and_end_when_told() -> None:
    files = set()
    for variant in VARIANTS:
        port = free_port()
        command = [sys.executable, "-m", "labs.tunnels.lab", "--variant", variant, "--port", str(port)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as lab:
            try:
                files.add(hashlib.sha256(fetched(f"http://127.0.0.1:{port}/7.bin")).hexdigest())
                with pytest.raises(urllib.error.HTTPError, match="404"):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/184.bin", timeout=10)
            finally:
                lab.send_signal(signal.SIGTERM)
            assert lab.wait(TIMEOUT_S) == 0, variant
        assert not Path("/sys/class/net", f"plim{lab.pid}").exists()
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/7.bin", timeout=2)
    assert len(files) == 1


@contextlib.contextmanager
def tunnel(kind: str) -> Iterator[tuple[int, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """The public port, the server and the client."""
    public, inner = free_port(), free_port()
    with subprocess.Popen([PROGRAM, "server", kind, f"127.0.0.1:{public}", f"127.0.0.1:{inner}"]) as server:
        client: subprocess.Popen[bytes] | None = None
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while client is None or client.poll() is not None:
                assert time.monotonic() < deadline
                command = [PROGRAM, "client", kind, f"127.0.0.1:{inner}"]
                client = subprocess.Popen(command, stderr=subprocess.DEVNULL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.wait(0.3)
            assert len(fetched(f"http://127.0.0.1:{public}/1.bin")) > 100
            yield public, server, client
        finally:
            server.kill()
            if client is not None:
                client.kill()
                client.wait()


def settled(process: subprocess.Popen[bytes]) -> int:
    """Its open files, once their number does not change."""
    found = [-1, 0]
    while found[-1] != found[-2]:
        time.sleep(0.2)
        found.append(open_files(process))
    return found[-1]


def open_files(process: subprocess.Popen[bytes]) -> int:
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


@pytest.mark.parametrize(("kind", "leaked"), [("streams", 0), ("connections", 20)])
def test_what_is_left_of_requests_whose_users_have_gone(kind: str, leaked: int) -> None:
    with tunnel(kind) as (port, server, client):
        before = settled(server)
        os.kill(client.pid, signal.SIGSTOP)
        users = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for each in users:
            each.sendall(b"GET /1.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + TIMEOUT_S
        while open_files(server) < before + 20:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for each in users:
            each.close()
        time.sleep(0.2)
        os.kill(client.pid, signal.SIGCONT)
        while open_files(server) != before + leaked:
            assert time.monotonic() < deadline, (open_files(server), before)
            time.sleep(0.01)
        assert len(fetched(f"http://127.0.0.1:{port}/1.bin")) > 100, "it works still"


# It makes a network interface, whereupon browsers of tests beside it cut their connections.
@pytest.mark.exhaustive
def test_the_other_host_is_reached_through_its_link_only_and_leaves_nothing() -> None:
    between = link(50)
    if between is None:
        pytest.skip("namespaces cannot be made here")
    shown = ["sh", "-c", "ip -o -4 address show; exec sleep 60"]
    with subprocess.Popen(between.command(*shown), stdout=subprocess.PIPE, text=True) as host:
        deadline = time.monotonic() + TIMEOUT_S
        while not between.set_up():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert host.stdout is not None
        lines = [host.stdout.readline(), host.stdout.readline()]
        assert [each.split()[3] for each in lines] == ["127.0.0.1/8", f"{between.theirs}/24"]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((between.theirs, 1), timeout=10)
        host.kill()
    while Path("/sys/class/net", between.name).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_limited_command_has_its_share_its_memory_and_its_files() -> None:
    with core_share(5) as groups:
        script = "ulimit -v; cat /proc/self/cgroup"
        done = subprocess.run(limited(["sh", "-c", script], groups, 512), capture_output=True, text=True, check=True)
        memory, *lines = done.stdout.splitlines()
        assert memory == str(512 * 1024)
        assert len(groups) == sum(f"plimsoll-{os.getpid()}" in each for each in lines)
    assert not any(each.exists() for each in groups)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", ["spike.toml", "pressure.toml"])
def test_the_experiments_are_of_both_tunnels(name: str, full: bool) -> None:
    experiment = read_experiment(str(FOLDER / name), full=full)
    assert [each.name for each in experiment.variants] == ["streams", "connections"]
    assert {each.name for each in experiment.variants} < set(VARIANTS)
    assert len((FOLDER / "files.csv").read_text().split()) == 184 + 1
