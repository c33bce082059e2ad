"""What users of vector databases have in common: operations that return their outcome instead of raising."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plimsoll.users.events import events

if TYPE_CHECKING:
    from collections.abc import Callable

Result = dict[str, Any]
"""success; response_time (ms); result or exception; of a search also empty: an empty one is no success, but no failure
either where it is reported."""


def attempt(operation: Callable[[], Any], is_empty: Callable[[Any], bool] | None = None) -> Result:
    """Carry the operation out. is_empty: whether what it returned is worth nothing."""
    started = time.perf_counter()
    try:
        found = operation()
    except Exception as error:
        return {"success": False, "response_time": _since(started), "exception": error}
    result = {"success": True, "response_time": _since(started), "result": found}
    if is_empty is not None:
        result["empty"] = is_empty(found)
        result["success"] = not result["empty"]
    return result


def report(database: str, operation: str, result: Result) -> Result:
    """Report the call as a request, and return its result."""
    events.request.fire(
        request_type=database,
        name=operation,
        response_time=result["response_time"],
        response_length=0,
        exception=result.get("exception"),
        context={},
    )
    return result


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
