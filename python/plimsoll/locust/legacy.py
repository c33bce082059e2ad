"""For old locustfiles: class names that Locust dropped in 1.0, and a version to compare with.

Deriving from such a class raises an error with its new name.
"""

from __future__ import annotations

from typing import Any

from plimsoll.run.main_log import LOCUST_VERSION as LOCUST_VERSION


def _renamed(old: str, today: str) -> type:
    def refuse(_: Any, /, **__: Any) -> None:
        raise ImportError(
            f"The {old} class has been renamed to {today} in version 1.0. "
            "For more info see: https://docs.locust.io/en/latest/changelog.html#changelog-1-0"
        )

    return type(old, (), {"__init_subclass__": classmethod(refuse)})


Locust = _renamed("Locust", "User")
HttpLocust = _renamed("HttpLocust", "HttpUser")
FastHttpLocust = _renamed("FastHttpLocust", "FastHttpUser")
