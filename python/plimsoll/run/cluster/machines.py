"""A Ray cluster of this machine, which is its head and has no workers, and of machines that SSH reaches."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import __version__
from plimsoll.distribution import NAME, pip_install
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.cluster.hosts import ClusterHost, on_all
from plimsoll.run.cluster.inspection import inspect
from plimsoll.run.cluster.kuberay import HEALTH
from plimsoll.run.transport.cluster import require_ray, with_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.cluster.inspection import InspectedNode

STATE = ".plimsoll/cluster.json"
"""Below the home: the cluster that this machine is the head of."""
HEAD_TIMEOUT_S = 60.0
NODES_TIMEOUT_S = 60.0
END_TIMEOUT_S = 15
RAY = ("-m", "ray.scripts.scripts", "start", "--disable-usage-stats", "--block")

_START = """\
set -e
umask 077
mkdir -p ~/.plimsoll
cat > ~/.plimsoll/ray-token <<'END'
{token}
END
found=$({python} -c 'from importlib.metadata import version as v
print(v("{distribution}"), v("ray"))' 2>/dev/null) || {{
    echo "{python} has no Plimsoll with Ray: {install}, or python=PATH in the file of hosts" >&2
    exit 1
}}
[ "$found" = "{versions}" ] || {{
    echo "it has Plimsoll and Ray $found, this machine {versions}: install the same" >&2
    exit 1
}}
if [ -f ~/.plimsoll/ray.pid ] && kill -0 "$(cat ~/.plimsoll/ray.pid)" 2>/dev/null; then
    echo "it is a node already: plimsoll cluster down first" >&2
    exit 1
fi
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$HOME/.plimsoll/ray-token"
setsid {python} {command} > ~/.plimsoll/ray.log 2>&1 < /dev/null &
echo $! > ~/.plimsoll/ray.pid
"""
_END = """\
[ -f ~/.plimsoll/ray.pid ] || exit 0
pid=$(cat ~/.plimsoll/ray.pid)
case "$(tr '\\0' ' ' < /proc/$pid/cmdline 2>/dev/null)" in *ray.scripts.scripts*) ;; *) pid= ;; esac
if [ "$pid" ]; then
    kill -TERM "$pid"
    waited=0
    while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt {seconds} ]; do sleep 1; waited=$((waited + 1)); done
    kill -KILL -- "-$pid" 2>/dev/null
fi
rm -f ~/.plimsoll/ray.pid ~/.plimsoll/ray-token
"""


@dataclass(frozen=True, slots=True)
class OwnCluster:
    """head: its process. hosts: the other machines."""

    address: str
    head: int
    hosts: list[ClusterHost]

    def write(self) -> None:
        path = Path.home() / STATE
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls) -> OwnCluster:
        """Raises UsageError if there is none."""
        path = Path.home() / STATE
        try:
            data = json.loads(path.read_text())
            return cls(data["address"], data["head"], [ClusterHost(**each) for each in data["hosts"]])
        except FileNotFoundError:
            raise UsageError(
                "this machine is the head of no cluster: plimsoll cluster up hosts.txt makes one"
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} cannot be read ({error}); remove it, and end Ray by hand") from error

    @property
    def is_up(self) -> bool:
        return _is_ray(self.head)


def up(hosts: Sequence[ClusterHost], address: str | None, port: int) -> OwnCluster:
    """Start Ray here and on all hosts. address: that of this machine, by which they reach it. What is started ends
    again if not all of it can be. Raises PlimsollError."""
    require_ray()
    with contextlib.suppress(UsageError):
        if OwnCluster.read().is_up:
            raise PlimsollError("this machine is the head of a cluster already: plimsoll cluster down ends it")
    address = address or _own_address(hosts[0])
    environment = with_token({**HEALTH, **os.environ})
    cluster = OwnCluster(f"{address}:{port}", _start_head(address, port, environment), list(hosts))
    try:
        cluster.write()
        _await_head(cluster)
        token = environment.get("RAY_AUTH_TOKEN") or Path(environment["RAY_AUTH_TOKEN_PATH"]).read_text().strip()
        on_all(hosts, lambda host: _start_script(host, cluster.address, token))
    except BaseException:
        with contextlib.suppress(PlimsollError):
            down(cluster)
        raise
    return cluster


def down(cluster: OwnCluster) -> None:
    """End Ray on all hosts and here. Raises PlimsollError for hosts where it may go on."""
    try:
        on_all(cluster.hosts, lambda _: _END.format(seconds=END_TIMEOUT_S))
    finally:
        _end_head(cluster.head)
        (Path.home() / STATE).unlink(missing_ok=True)


def _start_script(host: ClusterHost, address: str, token: str) -> str:
    given = (("--num-cpus", host.cpus), ("--node-ip-address", host.address))
    settings = [f"{flag}={value}" for flag, value in given if value is not None]
    return _START.format(
        token=token,
        python=shlex.quote(host.python),
        versions=f"{__version__} {version('ray')}",
        distribution=NAME,
        install=pip_install("cluster"),
        command=shlex.join([*RAY, f"--address={address}", *settings]),
    )


def _start_head(address: str, port: int, environment: dict[str, str]) -> int:
    log = Path.home() / ".plimsoll" / "ray.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    words = ["--head", f"--node-ip-address={address}", f"--port={port}", "--num-cpus=0", "--include-dashboard=false"]
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, *RAY, *words],
            stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=environment, start_new_session=True,
        )  # fmt: skip
    return process.pid


def _await_head(cluster: OwnCluster) -> None:
    host, _, port = cluster.address.rpartition(":")
    end = time.monotonic() + HEAD_TIMEOUT_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection((host.strip("[]"), int(port)), 1.0):
            return
        # Not by its command line: that may be empty for a moment after its start.
        has_ended = os.waitpid(cluster.head, os.WNOHANG)[0] != 0
        if has_ended or time.monotonic() > end:
            raise PlimsollError(f"Ray does not start here; {Path.home() / '.plimsoll' / 'ray.log'} says why")
        time.sleep(0.2)


def _end_head(pid: int) -> None:
    if _is_ray(pid):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + END_TIMEOUT_S
    while _is_ray(pid) and time.monotonic() < end:
        # If it is a child of ours it would else stay as a zombie.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.2)
    if _is_ray(pid):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _is_ray(pid: int) -> bool:
    """That number may be another process' by now."""
    try:
        return b"ray.scripts.scripts" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _own_address(host: ClusterHost) -> str:
    """The one from which this machine reaches that host."""
    name = host.name.rpartition("@")[2]
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((name, 9))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise UsageError(f"{name} cannot be found ({error}); give the address of this machine: --address") from error


def await_nodes(cluster: OwnCluster) -> list[InspectedNode]:
    """All its nodes, once they are there. Raises PlimsollError."""
    end = time.monotonic() + NODES_TIMEOUT_S
    while True:
        nodes = inspect(cluster.address)
        if len(nodes) > len(cluster.hosts):
            return nodes
        if time.monotonic() > end:
            raise PlimsollError(
                f"{len(nodes) - 1} of {len(cluster.hosts)} hosts have joined within {NODES_TIMEOUT_S:g} s; the others "
                f"say why in ~/.plimsoll/ray.log. They must reach {cluster.address}: --address names another address"
            )
