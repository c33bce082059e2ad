"""A worker and the main node among other processes: what they tell, and what they make of news."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
import pytest

from plimsoll.locust import runners
from plimsoll.locust.api import Environment
from plimsoll.locust.messages import decode, encode
from plimsoll.locust.runners import MasterRunner, WorkerRunner
from plimsoll.locust.script.peers import MainPeer, WorkerPeer
from plimsoll.run.transport.messages import EncodedSnapshot
from plimsoll.users import log
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterator


class Visitor(User):
    pass


class Nobody:
    def start(self, *_: Any) -> None: ...
    def stop(self) -> None: ...
    def quit(self) -> None: ...
    def send(self, *_: Any) -> None: ...


RecordedEvents = list[tuple[Any, ...]]


@pytest.fixture
def recorded_events() -> RecordedEvents:
    return []


@pytest.fixture
def worker(recorded_events: RecordedEvents) -> Iterator[WorkerRunner]:
    runner = WorkerRunner(Environment(user_classes=[Visitor]), controller=Nobody(), worker_index=0, worker_count=2)
    yield runner
    runner.greenlet.kill()


@pytest.fixture
def member(worker: WorkerRunner, recorded_events: RecordedEvents) -> WorkerPeer:
    return WorkerPeer(worker, lambda *what: recorded_events.append(what))


@pytest.fixture
def main() -> Iterator[MasterRunner]:
    runner = MasterRunner(Environment(user_classes=[Visitor]), controller=Nobody())
    yield runner
    runner.greenlet.kill()


def test_a_worker_says_who_it_is_and_then_how_it_is(
    worker: WorkerRunner, member: WorkerPeer, recorded_events: RecordedEvents
) -> None:
    assert recorded_events == [("connect", worker.client_id)]
    gevent.sleep(0.01)
    assert recorded_events[1:] == [("heartbeat", "ready", {"Visitor": 0}, 0.0, 0, 0)]
    for _ in range(2):
        member.adjusted()
    assert recorded_events[2:] == [("heartbeat", "ready", {"Visitor": 0}, 0.0, 0, 1)] * 2


def test_heartbeats_and_reports_come_as_often_as_the_locustfile_wants(
    worker: WorkerRunner, recorded_events: RecordedEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "HEARTBEAT_INTERVAL", 0.01)
    monkeypatch.setattr(runners, "WORKER_REPORT_INTERVAL", 0.01)
    member = WorkerPeer(worker, lambda *what: recorded_events.append(what))
    member.begin()
    with gevent.Timeout(30):
        while min(sum(kind == each for kind, *_ in recorded_events) for each in ("heartbeat", "report")) < 3:
            gevent.sleep(0.01)


def test_a_worker_reports_once_more_in_the_end(
    worker: WorkerRunner, member: WorkerPeer, recorded_events: RecordedEvents
) -> None:
    worker.environment.events.report_to_master.add_listener(lambda client_id, data: data.clear())
    worker.environment.events.report_to_master.add_listener(lambda client_id, data: data.update(own=[1]))
    member.finish()
    kind, data = recorded_events[-1]
    assert (kind, decode(data)) == ("report", {"own": [1]})


def test_a_report_that_cannot_be_sent_is_told(
    worker: WorkerRunner,
    member: WorkerPeer,
    recorded_events: RecordedEvents,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    worker.environment.events.report_to_master.add_listener(lambda client_id, data: data.update(own={1}))
    member.finish()
    assert "cannot carry a set" in caplog.text
    assert log.unhandled_greenlet_exception
    assert not any(kind == "report" for kind, *_ in recorded_events)


def test_news_for_a_worker(worker: WorkerRunner, member: WorkerPeer) -> None:
    got: list[Any] = []
    worker.register_message("greeting", lambda environment, msg: got.append((msg.data, msg.node_id)))
    member.receive("message", ["greeting", encode([1, 2])])
    assert got == [([1, 2], worker.client_id)]
    member.receive("heartbeat", [])
    assert worker.last_heartbeat_timestamp is not None


def test_news_for_the_main_node(main: MasterRunner, recorded_events: RecordedEvents) -> None:
    taken: list[EncodedSnapshot] = []
    member = MainPeer(main, lambda *what: recorded_events.append(what), taken.append)
    got: list[Any] = []
    main.register_message("greeting", lambda environment, msg: got.append((msg.data, msg.node_id)))
    main.environment.events.worker_report.add_listener(lambda client_id, data: got.append(data["own"]))
    member.receive("connect", ["a", 0])
    member.receive("heartbeat", ["a", "running", {"Visitor": 2}, 1.0, 10])
    member.receive("heartbeat", ["nobody", "running", {}, 1.0, 10])
    assert recorded_events == [("heartbeat", "a")]
    assert main.user_count == 2
    member.receive("message", ["greeting", encode("hello"), "a"])
    member.receive("report", ["a", encode({"own": 5, "user_classes_count": {}, "user_count": 0})])
    assert got == [("hello", "a"), 5]
    member.receive("lose", ["a"])
    assert len(main.clients.missing) == 1
    member.receive("leave", ["a"])
    assert len(main.clients) == 0
    assert (taken, member.failed) == ([], False)


def test_what_workers_measure_is_taken_and_their_exceptions_are_counted(main: MasterRunner) -> None:
    taken: list[EncodedSnapshot] = []
    member = MainPeer(main, lambda *_: None, taken.append)
    snapshot = EncodedSnapshot(0, 0, 1, [], [], [], [("boom", "line 1", 3)], {})
    member.receive("snapshot", ["a", snapshot.to_list()])
    member.receive("snapshot", ["b", snapshot.to_list()])
    assert [each.exceptions for each in taken] == [[("boom", "line 1", 3)]] * 2
    assert member.failed
    (row,) = main.exceptions.values()
    assert (row["count"], row["nodes"]) == (6, {"a", "b"})


def test_exceptions_of_several_workers_are_one_row_if_they_are_of_one_place(main: MasterRunner) -> None:
    member = MainPeer(main, lambda *_: None, lambda _: None)
    frames = '  File "a.py", line 1, in buy\n'
    for worker in ("a", "b"):
        caught = (f"item {worker}", f"{frames}ValueError: item {worker}\n", 2)
        member.receive("snapshot", [worker, EncodedSnapshot(0, 0, 1, [], [], [], [caught], {}).to_list()])
    (row,) = main.exceptions.values()
    assert row == {"count": 4, "msg": "item a", "traceback": frames, "nodes": {"a", "b"}}
