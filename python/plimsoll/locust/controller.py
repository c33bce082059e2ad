"""The interface that a runner delegates to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Controller(Protocol):
    """Carries out a runner's commands."""

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        """Set the total number of users, also while users run; `rate` users per second are started or stopped.

        classes: those of new users; None: all.
        """

    def stop(self) -> None:
        """End the test."""

    def quit(self) -> None:
        """End the test, and this process's part in it."""

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        """Send a message of user code: from the main node to its workers (all, or one), from a worker to the main node.

        Raises TypeError for data that no message can carry.
        """
