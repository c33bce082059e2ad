"""A function's result, kept for a while."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def memoize(timeout: float, dynamic_timeout: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call the decorated function at most once in `timeout` seconds, and return its last result meanwhile.

    One result is kept, whatever the arguments. dynamic_timeout: double the timeout whenever a call took longer than
    that. The decorated function has `clear_cache()`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept: list[tuple[float, Any]] = []
        limit = timeout

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal limit
            started = time.time()
            if not kept or started - kept[0][0] > limit:
                result = function(*args, **kwargs)
                ended = time.time()
                kept[:] = [(ended, result)]
                if dynamic_timeout and ended - started > limit:
                    limit *= 2
            return kept[0][1]

        wrapper.clear_cache = kept.clear  # type: ignore[attr-defined]
        return wrapper

    return decorate
