"""A worker, or the main node, among the other processes of its run: the messages it sends, and the effect of received
messages on its runner. `plimsoll.run.coordinator.peers` lists the messages, and passes them on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import gevent
import msgpack  # type: ignore[import-untyped]

from plimsoll.locust import runners
from plimsoll.locust.messages import decode, encode
from plimsoll.record import frames_of
from plimsoll.run.transport.messages import Begin, EncodedSnapshot, News, Quit
from plimsoll.users import log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.locust.runners import MasterRunner, WorkerRunner
    from plimsoll.run.transport.frames import Report

    Send = Callable[..., None]

logger = logging.getLogger("locust.runners")

UNREADABLE = object()


class HostedController:
    """The controller of a runner whose users the coordinator spreads over processes.

    report: receives reports for the coordinator. leave: called when the test must end; the users of this process need
    not wait for the coordinator.
    """

    def __init__(self, report: Callable[[Report], None], leave: Callable[[], None]) -> None:
        self._report = report
        self._leave = leave

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        self._report(Begin(users, rate, classes))

    def stop(self) -> None:
        self._report(Quit())
        self._leave()

    def quit(self) -> None:
        self.stop()

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        self._report(News("message", [type, encode(data), client_id]))


class Peer:
    """One of several processes."""

    failed = False
    """Other processes have reported failures or exceptions."""

    def begin(self) -> None:
        """Called after `init`."""

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        """Process a message of another process; calls listeners of user code."""
        raise NotImplementedError

    def finish(self) -> None:
        """Called after the end of the test."""


class WorkerPeer(Peer):
    """send: receives the kind of message and its arguments."""

    def __init__(self, runner: WorkerRunner, send: Send) -> None:
        self._runner = runner
        self._send = send
        self._adjusted = 0
        """Changes of the number of users since the last heartbeat."""
        send("connect", runner.client_id)
        runner.spawn(self._beat)

    def begin(self) -> None:
        self._runner.spawn(self._report)

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        match kind, arguments:
            case "message", [type_, data]:
                self._runner.deliver(type_, decode(data), self._runner.client_id)
            case "heartbeat", _:
                self._runner.receive_heartbeat()

    def adjusted(self) -> None:
        """The number of users has changed: report it to the main node at once."""
        self._adjusted += 1
        self._send_heartbeat()

    def finish(self) -> None:
        self._send_report()

    def _beat(self) -> None:
        while True:
            self._send_heartbeat()
            gevent.sleep(runners.HEARTBEAT_INTERVAL)

    def _send_heartbeat(self) -> None:
        runner, adjusted = self._runner, self._adjusted
        self._adjusted = 0
        usage = runner.current_cpu_usage, runner.current_memory_usage
        self._send("heartbeat", runner.state, runner.user_classes_count, *usage, adjusted)

    def _report(self) -> None:
        while True:
            self._send_report()
            gevent.sleep(runners.WORKER_REPORT_INTERVAL)

    def _send_report(self) -> None:
        data = self._runner.make_report()
        try:
            self._send("report", encode(data))
        except (TypeError, OverflowError) as error:
            logger.error("what listeners of report_to_master have added cannot be sent: %s", error)
            log.unhandled_greenlet_exception = True


class MainPeer(Peer):
    """take: receives a worker's measurements, for the statistics of this process."""

    def __init__(self, runner: MasterRunner, send: Send, take: Callable[[EncodedSnapshot], None]) -> None:
        self._runner = runner
        self._send = send
        self._take = take

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        runner = self._runner
        match kind, arguments:
            case "connect", [client, index]:
                runner.connect(client, index)
            case "heartbeat", [client, *state]:
                if runner.receive(client, *state):
                    self._send("heartbeat", client)
            case "report", [client, data]:
                if _is_report(report := _decoded(client, data)):
                    runner.take_report(client, report)
            case "snapshot", [client, data]:
                self._add(client, EncodedSnapshot.from_list(data))
            case "message", [type_, data, client]:
                if (message := _decoded(client, data)) is not UNREADABLE:
                    runner.deliver(type_, message, client)
            case "lose", [client]:
                runner.lose(client)
            case "leave", [client]:
                runner.leave(client)

    def _add(self, client: str, snapshot: EncodedSnapshot) -> None:
        self.failed |= bool(snapshot.failures or snapshot.exceptions)
        self._take(snapshot)
        for message, trace, count in snapshot.exceptions:
            self._runner.log_exception(client, message, frames_of(trace), count)


def _decoded(client: str, data: bytes) -> Any:
    """What a worker has sent, which may be on another machine; UNREADABLE if it is no message."""
    try:
        return decode(data)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        logger.error("what worker %s sent cannot be read, and is left out", client)
        return UNREADABLE


def _is_report(report: Any) -> bool:
    return isinstance(report, dict) and isinstance(report.get("user_classes_count"), dict)
