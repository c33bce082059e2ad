"""What is here for the sake of old locustfiles: class names that Locust dropped in 1.0, and a version to compare with.

Deriving from such a class tells what it is called today.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

LOCUST_VERSION = "2.47.0"
"""The release whose behaviour a locustfile finds here; `locust.__version__`."""


class _Renamed(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _Renamed:
        if bases:
            old: Any = bases[0]
            raise ImportError(
                f"The {old.__name__} class has been renamed to {old._today} in version 1.0. "
                "For more info see: https://docs.locust.io/en/latest/changelog.html#changelog-1-0"
            )
        return super().__new__(mcs, name, bases, namespace)


def check_for_deprecated_task_set_attribute(class_dict: Mapping[str, Any]) -> None:
    """Warns of a User class about to be made that says `task_set`, as it was called before 1.0."""
    if "task_set" in class_dict:
        name = class_dict.get("__qualname__", "User").rpartition(".")[2]
        warnings.warn(f"{name}.task_set has no effect: say tasks = [...] instead", DeprecationWarning, stacklevel=3)


class Locust(metaclass=_Renamed):
    _today = "User"


class HttpLocust(metaclass=_Renamed):
    _today = "HttpUser"


class FastHttpLocust(metaclass=_Renamed):
    _today = "FastHttpUser"
