from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.cli.parts import doctor_cluster
from plimsoll.run.cluster.inspection import InspectedNode
from plimsoll.run.sizing import known_capacities

if TYPE_CHECKING:
    from pathlib import Path

CAPACITY = {"native": 40_000.0, "python": 30_000.0, "ports": 28_232, "open_files": 65_536}
SAME = {"Plimsoll": "1", "Python": "3.13.1", "Ray": "2.60.0"}


def _node(**fields: object) -> InspectedNode:
    return InspectedNode(**{"address": "10.0.0.2", "cpus": 4, "host": "vm-a", "versions": SAME, **fields})  # type: ignore[arg-type]


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[InspectedNode]:
    found: list[InspectedNode] = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(doctor_cluster, "inspect", lambda *_, **__: found)
    monkeypatch.setattr(doctor_cluster, "_admits_anybody", lambda _: False)
    return found


def test_a_cluster_that_is_fit_has_no_advice(nodes: list[InspectedNode]) -> None:
    nodes += [_node(cpus=0), _node(capacity=CAPACITY)]
    checks = {each.name: each for each in doctor_cluster.cluster_checks("h:1")}
    assert all(each.ok for each in checks.values())
    assert checks["token"].value == "needed"
    assert checks["versions"].value == "Plimsoll 1 Python 3.13.1 Ray 2.60.0 on 2"
    assert checks["vm-a capacity"].value == (
        "4 workers, about 40\u202f000 requests/s each (native users), 30\u202f000 (Python users that do nothing else), "
        "small responses"
    )
    kept = known_capacities()["vm-a"]
    assert (kept.cpus, kept.native, kept.python) == (4, 40_000.0, 30_000.0)
    assert checks["all workers"].value == "4 workers, about 160\u202f000 requests/s; plan for 70 % of it"


@pytest.mark.parametrize(
    ("fields", "name", "advice"),
    [
        ({"versions": {**SAME, "Ray": "2.61.0"}}, "versions", "install the same Plimsoll, Python and Ray on all nodes"),
        ({"open_ports": [6379, 8265]}, "vm-a ports", "tcp dport {6379, 8265} ip saddr != {ADDRESSES} drop"),
        ({"capacity": None}, "vm-a capacity", "run plimsoll doctor --measure on that node"),
        ({"error": "No module named plimsoll"}, "10.0.0.2", "No module named plimsoll; is Plimsoll installed there?"),
    ],
)
def test_what_is_wrong_comes_with_what_to_do(
    nodes: list[InspectedNode], fields: dict[str, object], name: str, advice: str
) -> None:
    nodes += [_node(host="vm-b", capacity=CAPACITY), _node(**{"capacity": CAPACITY, **fields})]
    (check,) = [each for each in doctor_cluster.cluster_checks("h:1") if each.name == name]
    assert advice in check.advice


def test_a_cluster_for_anybody_is_warned_about(nodes: list[InspectedNode], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_cluster, "_admits_anybody", lambda _: True)
    nodes.append(_node(capacity=CAPACITY))
    token = doctor_cluster.cluster_checks("h:1")[0]
    assert (token.value, token.ok) == ("not needed", False)
