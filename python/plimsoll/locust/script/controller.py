"""What the user's code asks of its runner, passed on to the process that runs the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.messages import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.run.worker.worker import WorkerReports


class HostedController:
    """The controller of a runner whose users the coordinator spreads over processes.

    leave: called when the test is to end; the users of this process need not wait until the coordinator says so.
    """

    def __init__(self, reports: WorkerReports, leave: Callable[[], None]) -> None:
        self._reports = reports
        self._leave = leave

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        self._reports.begin(users, rate, classes)

    def stop(self) -> None:
        self._reports.quit()
        self._leave()

    def quit(self) -> None:
        self.stop()

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        self._reports.news("message", type, encode(data), client_id)
