"""The coordinator's side of a cluster, with a link that the tests play."""

from __future__ import annotations

import logging
import os
import socket
import stat
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.record.facts import MachineFacts
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport import cluster as module
from plimsoll.run.transport.cluster import Cluster, with_token
from plimsoll.run.transport.frames import Frames, pack, pack_error, pack_report
from plimsoll.run.transport.messages import Ending
from plimsoll.run.transport.orders import Drain, Start
from plimsoll.run.transport.shipment import Shipment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class FakeLink:
    """The other ends of the sockets, in this process."""

    def __init__(self, fds: list[int]) -> None:
        self.control, *self.streams = (socket.socket(fileno=os.dup(fd)) for fd in fds)
        self.stdout = None

    def tell(self, name: str, *arguments: Any) -> None:
        self.control.sendall(pack(name, *arguments))

    def started(self) -> tuple[list[Any], socket.socket]:
        """The next worker that is asked for, and the other end of its stream."""
        data, (fd,), *_ = socket.recv_fds(self.control, 65536, 9)
        ((name, arguments),) = Frames().feed(data)
        assert name == "start"
        self.streams.append(socket.socket(fileno=fd))
        return arguments, self.streams[-1]

    def wait(self, timeout: float | None = None) -> int:
        return 0

    def close(self) -> None:
        for each in (self.control, *self.streams):
            each.close()


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeLink]]:
    links: list[FakeLink] = []

    def start(fds: list[int], capture: bool) -> FakeLink:
        links.append(FakeLink(fds))
        return links[0]

    monkeypatch.setattr(module, "_start_link", start)
    monkeypatch.setattr(module, "require_ray", lambda: None)
    yield links
    for each in links:
        each.close()


def _cluster(**fields: Any) -> Cluster:
    return Cluster(RunPlan(cluster="h:1", nodes=2, processes=4, scenario={}, **fields), capture=False)


def test_the_link_is_asked_for_the_workers_of_the_plan(link: list[FakeLink]) -> None:
    cluster = _cluster()
    assert len(link[0].streams) == len(cluster.workers) == 4
    [(name, [request])] = Frames().feed(link[0].control.recv(65536))
    assert (name, request["address"], request["nodes"], request["workers"]) == ("run", "h:1", 2, 4)
    assert Shipment.from_list(request["shipment"]) == Shipment()
    cluster.close()


def test_orders_and_reports_are_mapped_by_the_clock_of_the_workers_machine(
    link: list[FakeLink], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plimsoll.run")
    cluster = _cluster()
    link[0].tell("placed", [["a", [0, 1]], ["b", [2, 3]]], "5e1f")
    link[0].tell("clock", 0, 1_000, 400_000)
    link[0].tell("clock", 1, -5_000_000_000, 300_000)
    assert cluster.read()
    assert "b: 2 workers, its clock is -5000.000 ms ± 0.300 ms from ours" in caplog.text
    cluster.workers[2].order(Start(6_000_000_000))
    assert list(Frames().feed(link[0].streams[2].recv(65536))) == [("start", [1_000_000_000, 0, None])]
    cluster.workers[2].order(Drain())
    link[0].streams[2].sendall(pack_report(Ending(2_000_000_000, None, False)))
    assert list(cluster.workers[2].read()) == [Ending(7_000_000_000, None, False)]
    cluster.close()


def test_later_estimates_say_how_far_a_clock_has_moved_and_change_no_stamp(link: list[FakeLink]) -> None:
    cluster = _cluster()
    link[0].tell("placed", [["a", [0, 1]], ["b", [2, 3]]], "")
    link[0].tell("clock", 0, 1_000_000, 400_000)
    link[0].tell("clock", 0, 3_500_000, 200_000)
    cluster.read()
    machine = cluster.facts().machines[0].to_json()
    assert (machine["clock_offset_ms"], machine["clock_error_ms"]) == (1.0, 0.4)
    assert (machine["clock_moved_ms"], machine["clock_moved_error_ms"]) == (2.5, pytest.approx(0.6))
    cluster.workers[0].order(Start(0))
    assert list(Frames().feed(link[0].streams[0].recv(65536))) == [("start", [1_000_000, 0, None])]
    assert cluster.facts().machines[1] == MachineFacts(host="b", workers=(2, 3)), "nothing is known of its clock"
    cluster.close()


def test_it_is_known_how_a_worker_ended(link: list[FakeLink]) -> None:
    cluster = _cluster()
    link[0].tell("placed", [["a", [0, 1]], ["b", [2, 3]]], "")
    link[0].tell("exited", 0, "")
    link[0].tell("exited", 2, "was killed by SIGKILL")
    assert cluster.workers[0].wait() is None
    assert (cluster.workers[2].place, cluster.workers[2].wait()) == ("on b", "was killed by SIGKILL")
    link[0].control.close()
    assert not cluster.read()
    assert cluster.workers[3].wait() == "is lost with the connection to the cluster"
    cluster.close()


def test_a_machine_that_comes_later_has_room_for_workers_with_a_clock_of_their_own(link: list[FakeLink]) -> None:
    cluster = _cluster()
    list(Frames().feed(link[0].control.recv(65536)))
    link[0].tell("placed", [["a", [0, 1]], ["b", [2, 3]]], "")
    link[0].tell("came", "c", 2)
    cluster.read()
    assert cluster.free_slots() == [], "nothing is known of its clock"
    link[0].tell("clock", 2, 1_000, 10)
    cluster.read()
    assert [each.host for each in cluster.free_slots()] == ["c", "c"]
    worker = cluster.free_slots()[0].reserve(3)()
    assert (worker.index, worker.place, len(cluster.free_slots())) == (3, "on c", 1)
    arguments, stream = link[0].started()
    assert arguments == [4, 3, 2], "a key of its own: the lost worker 3 may still be there"
    worker.order(Start(0))
    assert list(Frames().feed(stream.recv(65536))) == [("start", [1_000, 0, None])]
    link[0].tell("exited", 3, "is lost")
    link[0].tell("exited", 4, "")
    assert (cluster.workers[3].wait(), worker.wait()) == ("is lost", None)
    assert [each.workers for each in cluster.facts().machines] == [(0, 1), (2, 3), (3,)]
    cluster.close()


def test_a_machine_has_room_again_when_its_worker_has_ended_well_and_as_long_as_it_is_there(
    link: list[FakeLink],
) -> None:
    cluster = _cluster()
    link[0].tell("placed", [["a", [0, 1]], ["b", [2, 3]]], "")
    for number in (0, 1):
        link[0].tell("clock", number, 0, 0)
    link[0].tell("exited", 0, "")
    link[0].tell("exited", 1, "was killed by SIGKILL")
    link[0].tell("gone", 1)
    link[0].tell("exited", 2, "")
    cluster.read()
    assert [each.host for each in cluster.free_slots()] == ["a"], "one whose worker has crashed would crash again"
    cluster.free_slots()[0].reserve(0)
    assert cluster.facts().machines[0].workers == (0, 1)
    cluster.close()


def test_why_no_machine_takes_a_lost_place_is_said(link: list[FakeLink], caplog: pytest.LogCaptureFixture) -> None:
    cluster = _cluster()
    link[0].tell("failed", "c has Ray 1, this machine 2: install the same")
    cluster.read()
    assert "no worker can begin in the place of a lost one: c has Ray 1, this machine 2" in caplog.text
    cluster.close()


def test_a_worker_that_is_killed_is_named_to_the_link_and_a_run_that_can_be_continued_too(
    link: list[FakeLink],
) -> None:
    cluster = _cluster(run_id="r")
    cluster.keep()
    cluster.workers[1].kill()
    (_, *said) = Frames().feed(link[0].control.recv(65536))
    assert said == [("keep", ["r"]), ("kill", [1])]
    assert link[0].streams[1].recv(1) == b""
    assert list(cluster.workers[1].read()) == [None], "the coordinator goes on, also when the cluster does not answer"
    cluster.close()
    assert list(Frames().feed(link[0].control.recv(65536))) == [("quit", [])]


def test_a_refusal_is_the_error_that_it_is(link: list[FakeLink]) -> None:
    cluster = _cluster()
    link[0].tell("refused", *pack_error(LocustfileError("what and why")))
    cluster.read()
    assert isinstance(cluster.error, LocustfileError)
    cluster.close()


def test_without_ray_the_message_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"^--cluster needs Ray, .* pip install 'plimsoll-lab\[cluster\]'$"):
        _cluster()


def test_a_token_that_nobody_else_can_read_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".ray" / "auth_token"
    found = with_token({"A": "b"})
    assert found == {"A": "b", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(file)}
    token = file.read_text()
    assert len(token) == 64 and stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert with_token({"A": "b"}) == found
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (token, 0o600)


def test_a_token_that_is_given_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert with_token({"RAY_AUTH_TOKEN": "t"}) == {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "t"}
    assert with_token({"RAY_AUTH_MODE": "disabled"}) == {"RAY_AUTH_MODE": "disabled"}
    own = with_token({"RAY_AUTH_TOKEN_PATH": str(tmp_path / "own")})
    assert own["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / "own")
    assert not (tmp_path / ".ray").exists()


def test_a_token_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the token of the Ray cluster, /proc/x/token: No such file"):
        with_token({"RAY_AUTH_TOKEN_PATH": "/proc/x/token"})
