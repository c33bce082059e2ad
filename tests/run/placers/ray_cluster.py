"""A Ray cluster on this machine, of as many nodes as a test needs. Run as a program it is one node, or the head."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping

START_TIMEOUT_S = 90.0
HEALTH = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
"""With these a killed node is noticed after 1.5 s and a stopped one after 6 s."""

HEAD = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
for _ in range(int(sys.argv[1]) - 1):
    cluster.add_node(num_cpus=2)
print("address", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
NODE = """
import signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a raylet that is killed is no zombie, as with `ray start`
from ray._private.node import Node
from ray._private.parameter import RayParams
address = sys.argv[1]
node = Node(
    RayParams(gcs_address=address, num_cpus=2, node_ip_address=address.rpartition(":")[0], min_worker_port=0,
              max_worker_port=0),
    head=False, shutdown_at_exit=True, spawn_reaper=False,
)
print("address", address, flush=True)
sys.stdin.read()
node.kill_all_processes(check_alive=False, allow_graceful=True)
"""


class RayCluster:
    """Ends with its processes by their ids: `ray stop` would end others, too."""

    def __init__(self, folder: Path, nodes: int, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self.environment = {**os.environ, **HEALTH, **environment, "RAY_USAGE_STATS_ENABLED": "0"}
        self._processes: list[subprocess.Popen[str]] = []
        self.address = self._start([sys.executable, "-c", HEAD, str(nodes)])

    def add(self, *before: str) -> None:
        """One more node. before: a command that starts it, as `unshare …` is."""
        self._start([*before, sys.executable, "-c", NODE, self.address])

    def processes_of(self, number: int) -> list[psutil.Process]:
        """Of the head with the nodes that it began with (0), or of a node that was added (1, 2, …)."""
        return psutil.Process(self._processes[number].pid).children(recursive=True)

    def close(self) -> None:
        for process in reversed(self._processes):
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self, command: list[str]) -> str:
        log = self._folder / f"ray-{len(self._processes)}.log"
        with log.open("w") as stream:
            self._processes.append(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=stream, stderr=subprocess.STDOUT, text=True,
                    env=self.environment, start_new_session=True,
                )
            )  # fmt: skip
        end = time.monotonic() + START_TIMEOUT_S
        while not (found := re.search(r"^address (\S+)$", log.read_text(), re.MULTILINE)):
            assert time.monotonic() < end and self._processes[-1].poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
        return found[1]
