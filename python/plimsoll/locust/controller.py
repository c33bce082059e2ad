"""What a runner delegates to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Controller(Protocol):
    """Carries out what the user's code asks of a runner."""

    def start(self, users: int, rate: float, classes: Sequence[str] | None) -> None:
        """Have so many users in all, also while users run; they are started or stopped at `rate` per second.

        classes: those of users to come; None: all.
        """

    def stop(self) -> None:
        """End the test."""

    def quit(self) -> None:
        """End the test, and the part that this process has in it."""

    def send(self, type: str, data: Any, client_id: str | None) -> None:
        """A message of the user's own: from the main node to its workers (all, or one), from a worker to the main node.

        Raises TypeError for data that no message can carry.
        """
