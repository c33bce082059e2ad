"""Locust's adapter for `requests`, for locustfiles that mount one or derive from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from requests.adapters import HTTPAdapter

if TYPE_CHECKING:
    from urllib3 import PoolManager


class LocustHttpAdapter(HTTPAdapter):
    """pool_manager: shared by several sessions; None: one of its own.

    On a session of `requests` it works as there. On an HttpSession it has no effect, as the engine connects.
    """

    def __init__(self, pool_manager: PoolManager | None = None, *args: Any, **kwargs: Any) -> None:
        self.poolmanager = pool_manager  # type: ignore[assignment]
        super().__init__(*args, **kwargs)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make a pool manager, unless there is one."""
        if self.poolmanager is None:
            super().init_poolmanager(*args, **kwargs)
