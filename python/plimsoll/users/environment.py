"""What a user needs of the test that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from plimsoll.users.events import Events
    from plimsoll.users.hub import Hub


class UserEnvironment(Protocol):
    """The same for every user of a process. `plimsoll.locust.environment.Environment` is one."""

    events: Events
    catch_exceptions: bool
    """Report an exception of a task and continue; else the exception ends the user."""
    stop_timeout: float
    """Seconds that running tasks get to finish before their users are killed."""
    runner: Any
    """Has `quit()`, which ends the test; None outside of a test."""

    @property
    def hub(self) -> Hub:
        """The engine in this thread's event loop."""
