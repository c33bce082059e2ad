"""What is checked of user classes before any user is made."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.load.origins import is_host_url
from plimsoll.locust.fasthttp.user import FastHttpUser
from plimsoll.users.code_errors import place_of
from plimsoll.users.tasks import tags_of
from plimsoll.users.user import HttpUser, User

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.plan import RunPlan

_OWN_INITS = (User.__init__, HttpUser.__init__, FastHttpUser.__init__)


def check_classes(classes: Sequence[type[User]], plan: RunPlan) -> None:
    """Raises LocustfileError for classes whose users could not work."""
    check_tasks(classes, plan)
    check_wait_times(classes)
    check_spawn_rates(classes)


def check_tasks(classes: Sequence[type[User]], plan: RunPlan) -> None:
    """Raises LocustfileError for a class whose users have nothing to do.

    A class with its own `__init__` or `on_start` may choose its tasks there, so it is not checked.
    """
    for cls in classes:
        chooses = cls.on_start is not User.on_start or cls.__init__ not in _OWN_INITS
        if cls.tasks or chooses:
            continue
        tagged = _tags_named(cls) if plan.tags or plan.exclude_tags else ""
        others = [other.__name__ for other in classes if other.tasks]
        advice = f"; to leave it out, name the others: {' '.join(others)}" if others else ""
        raise LocustfileError(
            f"{place_of(cls)}: class {cls.__name__} has no task to run{tagged}; mark one with @task, or say "
            f"abstract = True in a class that is only a base for others{advice}"
        )


def _tags_named(cls: type[User]) -> str:
    """What a message says of the tags that a class's tasks have."""
    known = sorted({name for value in vars(cls).values() if callable(value) for name in tags_of(value)})
    there = f" (its tags are {', '.join(known)})" if known else " (none of its tasks has a tag)"
    return f" after --tags and --exclude-tags{there}"


def check_wait_times(classes: Sequence[type[User]]) -> None:
    """Raises LocustfileError for a wait_time that is a number, which nobody can call."""
    for cls in classes:
        value = inspect.getattr_static(cls, "wait_time")
        if isinstance(value, int | float):
            raise LocustfileError(
                f"{place_of(cls)}: {cls.__name__}.wait_time is {value}; it must be a function: "
                f"wait_time = constant({value})"
            )


def check_spawn_rates(classes: Sequence[type[User]]) -> None:
    """Raises LocustfileError for an invalid spawn rate."""
    for cls in classes:
        rate = cls.max_spawn_rate
        if rate is not None and not (isinstance(rate, int | float) and 0 < rate < math.inf):
            raise LocustfileError(f"{cls.__name__}.max_spawn_rate: must be users per second, above 0, not {rate!r}")


def needs_host(cls: type[User]) -> bool:
    """Whether it is an HTTP class that does not choose its host itself, in its own `__init__`."""
    return issubclass(cls, HttpUser | FastHttpUser) and cls.__init__ in _OWN_INITS


def check_hosts(classes: Sequence[type[User]]) -> None:
    """Raises UsageError if an HTTP class has no host, or an invalid one.

    An empty one is valid: users of such a class request absolute URLs.
    """
    for cls in classes:
        if not needs_host(cls):
            continue
        if cls.host is None:
            raise UsageError(f"no host: give one with -H http://…, or set `host` in class {cls.__name__}")
        if cls.host and not is_host_url(cls.host):
            raise UsageError(f"host {cls.host!r} of {cls.__name__} must begin with http:// or https://")
