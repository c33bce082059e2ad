"""Users and TaskSets whose class has an `__init__` of its own that does not call the one it replaces."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from plimsoll.errors import LocustfileError

if TYPE_CHECKING:
    from plimsoll.users.environment import UserEnvironment
    from plimsoll.users.user import User


def make_user(cls: type[User], environment: UserEnvironment) -> User:
    """A user of this class. Raises LocustfileError for one without an environment, and what its `__init__` raises."""
    user = cls(environment)
    if not hasattr(user, "environment"):
        raise without_super(cls, "environment")
    return user


def without_super(cls: type, argument: str) -> LocustfileError:
    """What to say of a class whose `__init__` has left out that of its base. argument: what that takes."""
    own = [(base, inspect.unwrap(base.__dict__["__init__"])) for base in cls.__mro__ if "__init__" in base.__dict__]
    written = [(base, made.__code__) for base, made in own if inspect.isfunction(made)]
    # One that calls its base may have a base that does not.
    base, code = next((each for each in written if "__init__" not in each[1].co_names), written[0])
    return LocustfileError(
        f"{code.co_filename}:{code.co_firstlineno}: {base.__name__}.__init__ does not call that of its base class; "
        f"add super().__init__({argument})"
    )
