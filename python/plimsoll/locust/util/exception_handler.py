"""A decorator that calls a function again after an exception."""

from __future__ import annotations

import functools
import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger("locust.util.exception_handler")


def retry(
    delays: Sequence[float] = (1, 3, 5), exception: type[BaseException] | tuple[type[BaseException], ...] = Exception
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call the decorated function again after each of these delays (seconds), as long as it raises `exception`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for attempt, delay in enumerate(delays, 1):
                try:
                    return function(*args, **kwargs)
                except exception:
                    logger.info("Attempt %d failed; the next one comes in %ss", attempt, delay, exc_info=True)
                    time.sleep(delay)
            return function(*args, **kwargs)

        return wrapper

    return decorate
