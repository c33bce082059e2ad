"""What is here for the sake of old locustfiles: class names that Locust dropped in 1.0, and a version to compare with.

Deriving from such a class tells what it is called today.
"""

from __future__ import annotations

from typing import Any

from plimsoll.run.main_log import LOCUST_VERSION as LOCUST_VERSION


class _Renamed(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _Renamed:
        if bases:
            old: Any = bases[0]
            raise ImportError(
                f"The {old.__name__} class has been renamed to {old._today} in version 1.0. "
                "For more info see: https://docs.locust.io/en/latest/changelog.html#changelog-1-0"
            )
        return super().__new__(mcs, name, bases, namespace)


class Locust(metaclass=_Renamed):
    _today = "User"


class HttpLocust(metaclass=_Renamed):
    _today = "HttpUser"


class FastHttpLocust(metaclass=_Renamed):
    _today = "FastHttpUser"
