"""Plimsoll, a load-testing lab.

`from plimsoll import HttpUser, task, between` gives what `from locust import …` gives in a locustfile. The names are
looked up when they are first used: the coordinator of a run imports this package too, and has no use for gevent.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plimsoll.users import (
        FastHttpUser,
        HttpLocust,
        HttpUser,
        LoadTestShape,
        Locust,
        SequentialTaskSet,
        TaskSet,
        User,
        between,
        constant,
        constant_pacing,
        constant_throughput,
        events,
        poisson,
        run_single_user,
        tag,
        task,
        wait_time,
    )

__version__ = version("plimsoll")

__all__ = [
    "FastHttpUser",
    "HttpLocust",
    "HttpUser",
    "LoadTestShape",
    "Locust",
    "SequentialTaskSet",
    "TaskSet",
    "User",
    "__version__",
    "between",
    "constant",
    "constant_pacing",
    "constant_throughput",
    "events",
    "poisson",
    "run_single_user",
    "tag",
    "task",
    "wait_time",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        value = globals()[name] = getattr(import_module("plimsoll.users"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
