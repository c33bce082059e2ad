"""What locustfiles raise and catch.

Names and base classes are Locust's. Errors of Plimsoll's own tools are in `plimsoll.errors`.
"""

from __future__ import annotations


class LocustError(Exception):
    """A locustfile uses the API incorrectly."""


class MissingWaitTimeError(LocustError):
    """Neither the TaskSet nor its User has a wait_time."""


class NoMarkovTasksError(LocustError):
    """A MarkovTaskSet has no task with transitions."""


class InvalidTransitionError(LocustError):
    """A transition leads to a task that the MarkovTaskSet does not have."""


class NonMarkovTaskTransitionError(LocustError):
    """A transition leads to a task without transitions."""


class MarkovTaskTagError(LocustError):
    """A task of a MarkovTaskSet has tags: filtering it out would break the chain."""


class ResponseError(Exception):
    """User code raises it inside a `catch_response` block to report the request as failed."""


class CatchResponseError(Exception):
    """The exception for the text in `response.failure("text")`."""


class WebSocketError(Exception):
    """A WebSocket could not be opened, or has ended, or a message did not come in time."""


class GrpcError(Exception):
    """A call of gRPC ended with another status than OK, or without one. outcome: the kind of failure."""

    def __init__(self, message: str, outcome: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class InterruptTaskSet(Exception):  # noqa: N818 - Locust's name
    """Leave the running TaskSet. reschedule: the parent picks its next task at once, else it waits first."""

    def __init__(self, reschedule: bool = True) -> None:
        super().__init__(reschedule)
        self.reschedule = reschedule


class RescheduleTask(Exception):  # noqa: N818 - Locust's name
    """End the running task like `return` does."""


class RescheduleTaskImmediately(Exception):  # noqa: N818 - Locust's name
    """End the running task and run the next one without waiting."""


class StopUser(Exception):  # noqa: N818 - Locust's name
    """End this user; it is not replaced."""


class StopTest(Exception):  # noqa: N818 - Locust's name
    """End the whole test."""


class RPCError(Exception):
    """Communication between coordinator and worker failed."""


class RPCSendError(RPCError):
    """A message could not be sent."""


class RPCReceiveError(RPCError):
    """A message was lost or damaged. addr: of the sender, if known."""

    def __init__(self, *args: object, addr: object = None) -> None:
        super().__init__(*args)
        self.addr = addr


class RunnerAlreadyExistsError(Exception):
    """An Environment can have only one runner."""


CONTROL_FLOW = (StopUser, StopTest, RescheduleTask, RescheduleTaskImmediately, InterruptTaskSet)
"""Raised on purpose to control a user, also from inside an event listener; never reported as an error."""
