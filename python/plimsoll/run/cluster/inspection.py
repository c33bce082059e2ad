"""The nodes of a Ray cluster as they are: a process of its own asks them, since Ray may not be in one with gevent.

Its arguments are the address, "capacity" to have each node measured or "", and the descriptor that gets the answer as
JSON: a list of nodes, or what is wrong.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.transport.cluster import require_ray, with_token

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWER_TIMEOUT_S = 90.0
"""Seconds for all nodes to answer."""
TASK_TIMEOUT_S = 45.0
ALL_ADDRESSES = ("0.0.0.0", "::")


@dataclass(slots=True)
class InspectedNode:
    """A node that is alive. cpus: those that Ray may use."""

    address: str
    cpus: int
    host: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    open_ports: list[int] = field(default_factory=list)
    """Of Ray, at all addresses of the machine."""
    capacity: dict[str, Any] | None = None
    """As `calibrate` has it; None if it was not measured."""
    error: str = ""
    """Why it does not answer."""


def inspect(
    address: str, *, with_capacity: bool = False, environment: Mapping[str, str] | None = None
) -> list[InspectedNode]:
    """The nodes of the cluster at this address. environment: by default ours, with a token. Raises PlimsollError."""
    require_ray()
    reader, writer = os.pipe()
    with os.fdopen(reader) as stream:
        with os.fdopen(writer, "w"):
            process = subprocess.Popen(
                [
                    sys.executable, "-P", "-c", "from plimsoll.run.cluster.inspection import main; main()",
                    address, "capacity" if with_capacity else "", str(writer),
                ],
                pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=with_token(os.environ) if environment is None else environment,
            )  # fmt: skip
        timer = threading.Timer(ANSWER_TIMEOUT_S, process.kill)
        timer.start()
        text = stream.read()
        timer.cancel()
    process.wait()
    if not text:
        raise PlimsollError(
            f"what is at {address} does not answer as a Ray cluster: it is none, wants another token "
            "(RAY_AUTH_TOKEN_PATH), or this machine is none of its nodes"
        )
    answer = json.loads(text)
    if isinstance(answer, str):
        raise UsageError(answer)
    return [InspectedNode(**each) for each in answer]


def main() -> None:
    """In the process of its own."""
    address, what, fd = sys.argv[1:]
    answer: object
    try:
        answer = _ask(address, with_capacity=what == "capacity")
    except PlimsollError as error:
        answer = str(error)
    with os.fdopen(int(fd), "w") as stream:
        json.dump(answer, stream)


def _ask(address: str, *, with_capacity: bool) -> list[dict[str, Any]]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from plimsoll.run.transport.ray_link import connect

    timer = threading.Timer(20.0, os._exit, [1])
    timer.start()
    connect(address)
    timer.cancel()
    nodes: Any = ray.nodes
    remote: Any = ray.remote(num_cpus=0, max_retries=0)(about)
    found, answers = [], []
    for each in sorted(nodes(), key=lambda node: str(node["NodeManagerAddress"])):
        if each["Alive"]:
            found.append({"address": each["NodeManagerAddress"], "cpus": int(each["Resources"].get("CPU", 0))})
            place = NodeAffinitySchedulingStrategy(each["NodeID"], soft=False)
            answers.append(remote.options(scheduling_strategy=place).remote(with_capacity and found[-1]["cpus"] > 0))
    for node, answer in zip(found, answers, strict=True):
        try:
            node |= ray.get(answer, timeout=TASK_TIMEOUT_S)
        except Exception as error:
            node["error"] = str(error).strip().splitlines()[-1]
    return found


def about(with_capacity: bool) -> dict[str, Any]:
    """Of the node that this runs on."""
    from plimsoll.run.cluster.calibration import calibrate
    from plimsoll.run.transport.ray_agent import versions

    return {
        "host": platform.node(),
        "versions": versions(),
        "open_ports": open_ports(),
        "capacity": calibrate() if with_capacity else None,
    }


def open_ports() -> list[int]:
    """Those at which processes of Ray listen at all addresses of this machine."""
    ports = set()
    for each in psutil.net_connections("tcp"):
        if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.ip in ALL_ADDRESSES and each.pid is not None:
            try:
                words = " ".join(psutil.Process(each.pid).cmdline()).replace("\\", "/")
            except psutil.Error:
                continue
            if "/ray/" in words or words.startswith("ray::"):
                ports.add(each.laddr.port)
    return sorted(ports)
