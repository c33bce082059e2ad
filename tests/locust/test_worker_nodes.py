"""The workers of a test as its main node knows them."""

from __future__ import annotations

from plimsoll.locust.worker_nodes import WorkerNode, WorkerNodes


def _nodes(**states: str) -> WorkerNodes:
    nodes = WorkerNodes()
    for name, state in states.items():
        nodes[name] = WorkerNode(name, state)
    return nodes


def test_workers_are_found_by_state():
    nodes = _nodes(a="ready", b="spawning", c="running", d="missing", e="stopped")
    assert [[node.id for node in group] for group in (nodes.ready, nodes.spawning, nodes.running, nodes.missing)] == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
    ]
    assert [node.id for node in nodes.present] == ["a", "b", "c"]
    assert (len(nodes), len(nodes.all), list(nodes), "c" in nodes) == (5, 5, ["a", "b", "c", "d", "e"], True)


def test_workers_may_leave_while_they_are_looked_at():
    nodes = _nodes(a="ready", b="ready")
    for name in nodes:
        del nodes[name]
    assert len(nodes) == 0


def test_a_worker_that_leaves_out_heartbeats_is_missing_until_it_is_back():
    nodes = _nodes(a="running")
    node = nodes["a"]
    node.receive("running", {"Visitor": 3}, 12.5, 1000, liveness=2)
    assert (node.user_count, node.cpu_usage, node.memory_usage) == (3, 12.5, 1000)
    for _ in range(3):
        nodes.expect_heartbeats(forget_at=-60)
        assert node.state == "running"
    nodes.expect_heartbeats(forget_at=-60)
    assert (node.state, node.user_count) == ("missing", 0)
    node.receive("running", {"Visitor": 2}, 0.0, 0, liveness=2)
    assert (node.state, node.user_count) == ("running", 2)


def test_a_worker_that_is_missing_for_long_is_forgotten():
    nodes = _nodes(a="running")
    nodes["a"].miss("is gone")
    for _ in range(13):
        assert "a" in nodes
        nodes.expect_heartbeats(forget_at=-10)
    nodes.expect_heartbeats(forget_at=-10)
    assert "a" not in nodes
