"""What `import locust` finds. Names only; behaviour is in `plimsoll.users`."""

from importlib import import_module
from types import ModuleType

from plimsoll import __version__
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
from plimsoll.users.events import Events

__all__ = [
    "Events",
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


def __getattr__(name: str) -> ModuleType:
    # `import locust` alone makes `locust.exception.StopUser` work in the real one, which has all its modules loaded.
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(str(error)) from error
