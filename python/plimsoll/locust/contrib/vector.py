"""Shared code of users of vector databases: operations that return their outcome instead of raising."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from plimsoll.users.events import events
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Callable

Result = dict[str, Any]
"""success; response_time (ms); result or exception; for a search also empty: an empty result is no success, but it is
not reported as a failure either."""
P = ParamSpec("P")


class VectorClient:
    """Operations on one collection."""

    client: Any
    """The client of the database's library."""
    collection_name: str

    def close(self) -> None:
        self.client.close()

    def _attempt(self, operation: str, is_empty: Callable[[Any], bool] | None = None, /, **arguments: Any) -> Result:
        """Call a method of the library's client. is_empty: whether a returned value is empty."""
        started = time.perf_counter()
        try:
            found = getattr(self.client, operation)(collection_name=self.collection_name, **arguments)
        except Exception as error:
            return {"success": False, "response_time": _since(started), "exception": error}
        result = {"success": True, "response_time": _since(started), "result": found}
        if is_empty is not None:
            result["empty"] = is_empty(found)
            result["success"] = not result["empty"]
        return result


class VectorUser(User):
    """A user with a `VectorClient`."""

    abstract = True

    client: VectorClient
    client_type: str
    """Their request type."""

    def on_stop(self) -> None:
        self.client.close()


def reported(operation: Callable[Concatenate[Any, P], Result]) -> Callable[Concatenate[Any, P], Result]:
    """A `VectorClient` method as a method of its user that reports it by name and returns its result."""

    @functools.wraps(operation)
    def method(user: Any, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        result: Result = getattr(user.client, operation.__name__)(*args, **kwargs)
        events.request.fire(
            request_type=user.client_type,
            name=operation.__name__,
            response_time=result["response_time"],
            response_length=0,
            exception=result.get("exception"),
            context={},
        )
        return result

    return method


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
