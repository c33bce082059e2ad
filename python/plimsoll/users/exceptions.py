"""What locustfiles raise and catch.

Names and base classes are Locust's. Faults of Plimsoll's own tools are in `plimsoll.errors`.
"""

from __future__ import annotations


class LocustError(Exception):
    """A locustfile uses the interface in a way that cannot work."""


class MissingWaitTimeError(LocustError):
    """Neither the TaskSet nor its User says how long to wait."""


class NoMarkovTasksError(LocustError):
    """A MarkovTaskSet has no task with transitions."""


class InvalidTransitionError(LocustError):
    """A transition leads to what the MarkovTaskSet does not have."""


class NonMarkovTaskTransitionError(LocustError):
    """A transition leads to what has no transitions itself."""


class MarkovTaskTagError(LocustError):
    """A task of a MarkovTaskSet has tags: without it there would be no chain."""


class ResponseError(Exception):
    """The user's code raises it inside a `catch_response` block. The request is then reported as failed with it."""


class CatchResponseError(Exception):
    """What `response.failure("text")` makes of a text."""


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
    """End this user; no other takes its place."""


class StopTest(Exception):  # noqa: N818 - Locust's name
    """End the whole test."""


class RPCError(Exception):
    """Coordinator and worker cannot talk to each other."""


class RPCSendError(RPCError):
    """A message could not be sent."""


class RPCReceiveError(RPCError):
    """A message was lost or damaged. addr: of the sender, if known."""

    def __init__(self, *args: object, addr: object = None) -> None:
        super().__init__(*args)
        self.addr = addr


class RunnerAlreadyExistsError(Exception):
    """An Environment has one runner for life."""


CONTROL_FLOW = (StopUser, StopTest, RescheduleTask, RescheduleTaskImmediately, InterruptTaskSet)
"""Raised on purpose to steer a user, also from inside an event listener; never reported as a fault."""
