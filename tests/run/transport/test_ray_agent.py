"""The actor of a machine with real worker processes. Whole clusters are in tests/run/test_cluster.py."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.command import wait_until

from plimsoll._engine import now
from plimsoll.errors import UsageError
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.frames import Frames, pack, unpack_report
from plimsoll.run.transport.kept import KeptSeconds
from plimsoll.run.transport.messages import EncodedSnapshot, Prepared, Ready
from plimsoll.run.transport.ray_agent import EXIT, KEPT, OUTPUT, REPORT, NodeAgent, check_versions, versions
from plimsoll.run.transport.shipment import Shipment

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCUSTFILE = """
import os
from locust import User, task
print("from", os.getcwd(), open("data.txt").read())
class A(User):
    @task
    def t(self): pass
"""


class Reader:
    """Takes what an agent reports, in a thread of its own as Ray does."""

    def __init__(self, agent: NodeAgent) -> None:
        self.parcels: list[tuple[str, int, bytes]] = []
        self._agent = agent
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        for parcels in self._agent.reports():
            self.parcels += parcels

    def of(self, kind: str, worker: int) -> bytes:
        return b"".join(data for each, index, data in self.parcels if (each, index) == (kind, worker))

    @property
    def exited(self) -> list[int]:
        return [key for kind, key, _ in self.parcels if kind == EXIT]

    def reports(self, worker: int) -> list[Any]:
        return [unpack_report(*frame) for frame in Frames().feed(self.of(REPORT, worker))]


@pytest.fixture
def agent() -> Iterator[NodeAgent]:
    made = NodeAgent()
    yield made
    made.close()


def _start(agent: NodeAgent, folder: Path, workers: list[int]) -> tuple[Reader, bytes]:
    """Returns what prepares a worker, too."""
    locustfile = folder / "load" / "locustfile.py"
    locustfile.parent.mkdir()
    locustfile.write_text(LOCUSTFILE)
    (folder / "data.txt").write_text("some data")
    bundle = Bundle.of([str(locustfile)])
    plan = RunPlan(locustfiles=(str(locustfile),), processes=len(workers), ship=("data.txt",))
    agent.start(Archive.of(Shipment.of(plan, folder)), workers)
    return Reader(agent), pack("prepare", plan.to_dict(), len(workers), bundle.to_list(), {}) + pack("init")


def test_workers_find_their_files_on_the_machine_and_their_bytes_are_carried(agent: NodeAgent, tmp_path: Path) -> None:
    reader, order = _start(agent, tmp_path, [4, 5])
    agent.order(1, [(4, order[10:]), (5, order)])
    agent.order(0, [(4, order[:10])])
    wait_until(lambda: all(Prepared({}) in reader.reports(worker) for worker in (4, 5)))
    place = Path(agent._place.path).resolve()
    assert f"from {place} some data\n".encode() in reader.of(OUTPUT, 5)
    agent.order(2, [(4, pack("drain")), (5, b"")])
    wait_until(lambda: len(reader.exited) == 2)
    assert (reader.of(EXIT, 4), reader.of(EXIT, 5)) == (b"", b"was killed by SIGKILL")
    agent.close()
    reader.thread.join(60)
    assert not reader.thread.is_alive() and not place.exists()


def test_a_worker_starts_later_in_the_place_of_one_that_is_still_there(agent: NodeAgent, tmp_path: Path) -> None:
    reader, order = _start(agent, tmp_path, [0])
    agent.order(0, [(7, 0), (7, order), (0, b"")])
    wait_until(lambda: Prepared({}) in reader.reports(7) and reader.exited)
    assert reader.exited == [0]
    agent.order(1, [(7, pack("drain"))])
    wait_until(lambda: len(reader.exited) == 2)
    assert reader.of(EXIT, 7) == b""


def test_a_later_worker_that_cannot_be_started_is_one_that_has_ended(agent: NodeAgent, tmp_path: Path) -> None:
    reader, order = _start(agent, tmp_path, [])
    agent._folder = str(tmp_path / "gone")
    agent.order(0, [(7, 0), (7, order)])
    wait_until(lambda: reader.exited)
    assert re.match(rb"cannot be started: .*No such file", reader.of(EXIT, 7))


def test_a_worker_whose_coordinator_is_lost_says_what_it_has_kept_before_it_has_ended(
    agent: NodeAgent, tmp_path: Path
) -> None:
    reader, order = _start(agent, tmp_path, [0])
    agent.order(0, [(7, 3), (7, order)])
    wait_until(lambda: Prepared({}) in reader.reports(7))
    agent.order(1, [(7, pack("open", {**RunPlan().to_dict(), "run_id": "r"}, None))])
    wait_until(lambda: isinstance(reader.reports(7)[-1], Ready))
    agent.order(2, [(7, pack("start", now(), 0, None))])
    wait_until(lambda: isinstance(reader.reports(7)[-1], EncodedSnapshot))
    agent.order(3, [(7, None), (0, None)])
    wait_until(lambda: len(reader.exited) == 2)
    assert reader.of(EXIT, 7) == b"exited with code 1"
    kept = KeptSeconds.read(reader.of(KEPT, 7))
    assert kept is not None
    assert (kept.run, kept.worker, kept.snapshots[0]) == ("r", 3, reader.reports(7)[2])
    assert reader.of(KEPT, 0) == b"", "its run has not begun"
    kinds = [kind for kind, key, _ in reader.parcels if key == 7]
    assert kinds.index(KEPT) < kinds.index(EXIT) == len(kinds) - 1


def test_a_worker_that_is_stopped_holds_up_no_other(agent: NodeAgent, tmp_path: Path) -> None:
    reader, order = _start(agent, tmp_path, [0, 1])
    os.kill(agent._processes[0].pid, signal.SIGSTOP)
    agent.order(0, [(0, pack("news", "message", ["big", b"x" * 5_000_000])), (1, order)])
    wait_until(lambda: Prepared({}) in reader.reports(1))
    agent.order(1, [(0, b""), (1, b"")])
    wait_until(lambda: sorted(reader.exited) == [0, 1])


def test_a_machine_with_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^b has Plimsoll 0\.0\.1, this machine .*: install the same$"):
        check_versions({"host": "b", **versions(), "Plimsoll": "0.0.1"})
    check_versions({"host": "a", **versions()})
