"""What the user's code asks of its runner, passed on to the process that runs the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.messages import encode
from plimsoll.run.transport.messages import Begin, News, Quit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.run.transport.frames import Report


class HostedController:
    """The controller of a runner whose users the coordinator spreads over processes.

    tell: gets reports for the coordinator. leave: called when the test is to end; the users of this process need not
    wait until the coordinator says so.
    """

    def __init__(self, tell: Callable[[Report], None], leave: Callable[[], None]) -> None:
        self._tell = tell
        self._leave = leave

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        self._tell(Begin(users, rate, classes))

    def stop(self) -> None:
        self._tell(Quit())
        self._leave()

    def quit(self) -> None:
        self.stop()

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        self._tell(News("message", [type, encode(data), client_id]))
