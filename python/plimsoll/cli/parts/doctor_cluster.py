"""`plimsoll doctor --cluster`: what of a cluster limits or falsifies a load test, or lets others in."""

from __future__ import annotations

import os
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING

from plimsoll.cli.parts.common import MachineCheck
from plimsoll.cli.parts.measured import capacity, kept, total
from plimsoll.errors import PlimsollError
from plimsoll.run.cluster.inspection import inspect
from plimsoll.run.sizing import MachineCapacity

if TYPE_CHECKING:
    from plimsoll.run.cluster.inspection import InspectedNode


def cluster_checks(address: str) -> list[MachineCheck]:
    """Raises PlimsollError for a cluster that does not answer."""
    nodes = inspect(address, with_capacity=True)
    found = measured(nodes)
    return [
        token(_admits_anybody(address)),
        versions(nodes),
        *(check for each in nodes for check in (answers(each), ports(each), unmeasured(each)) if check is not None),
        *(capacity(each) for each in found),
        MachineCheck("all workers", total(found)),
        kept(found),
    ]


def token(admits_anybody: bool) -> MachineCheck:
    advice = (
        "start Ray on every node with RAY_AUTH_MODE=token: anybody who reaches its ports can else run programs there"
    )
    return MachineCheck("token", "not needed" if admits_anybody else "needed", advice if admits_anybody else "")


def versions(nodes: list[InspectedNode]) -> MachineCheck:
    found = Counter(
        " ".join(f"{name} {value}" for name, value in each.versions.items()) for each in nodes if not each.error
    )
    advice = "install the same Plimsoll, Python and Ray on all nodes: a run refuses the others"
    value = "; ".join(f"{words} on {nodes_of}" for words, nodes_of in found.most_common())
    return MachineCheck("versions", value or "not known", advice if len(found) > 1 else "")


def answers(node: InspectedNode) -> MachineCheck | None:
    if not node.error:
        return None
    return MachineCheck(node.address, "does not answer", f"{node.error}; is Plimsoll installed there?")


def ports(node: InspectedNode) -> MachineCheck | None:
    """Ray has no setting for this."""
    if node.error:
        return None
    if not node.open_ports:
        return MachineCheck(f"{node.host} ports", "none at all addresses")
    listed = ", ".join(map(str, node.open_ports))
    advice = (
        "Ray listens at all addresses. Admit only the nodes of the cluster: "
        f"nft add rule inet filter input tcp dport {{{listed}}} ip saddr != {{ADDRESSES}} drop"
    )
    return MachineCheck(f"{node.host} ports", f"{listed} at all addresses", advice)


def unmeasured(node: InspectedNode) -> MachineCheck | None:
    if node.error or not node.cpus or (node.capacity and node.capacity["native"]):
        return None
    return MachineCheck(f"{node.host} capacity", "not measured", "run plimsoll doctor --measure on that node")


def measured(nodes: list[InspectedNode]) -> list[MachineCapacity]:
    today = date.today().isoformat()
    return [
        MachineCapacity(host=each.host, cpus=each.cpus, measured=today, **each.capacity)
        for each in nodes
        if each.cpus and each.capacity and each.capacity["native"]
    ]


def _admits_anybody(address: str) -> bool:
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    try:
        inspect(address, environment=environment)
    except PlimsollError:
        return False
    return True
