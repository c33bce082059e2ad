"""What the page may do to the process that runs tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.server.messages import Form, LoadChange, RunRequest, TaskRatio


class Control(Protocol):
    """Called in threads of the server. All of it raises UsageError, whose text is shown, for what cannot be done."""

    def form(self) -> Form:
        """May take a moment the first time: the locustfile is imported in a process of its own."""

    def tasks(self) -> tuple[TaskRatio, ...]:
        """Which share of what is done each class and task has; () for native users."""

    def configure(self, name: str, settings: Mapping[str, Any]) -> None:
        """Attributes that a user class is to have in the runs that follow; what was said of others stays."""

    def check(self, request: RunRequest) -> object:
        """Says what is wrong with it, and starts nothing."""

    def start(self, request: RunRequest) -> None:
        """Returns once the run is accepted; how it goes is seen in `Live`."""

    def change(self, change: LoadChange) -> None: ...

    def stop(self) -> None: ...

    def reset(self) -> None:
        """Everything measured so far is kept, and left out of the numbers, as a warm-up is."""
