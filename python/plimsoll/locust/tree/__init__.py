"""What `import locust` finds. Names only; behaviour is in `plimsoll.users`."""

from importlib import import_module
from types import ModuleType

from plimsoll.locust.legacy import LOCUST_VERSION
from plimsoll.users import *  # noqa: F403
from plimsoll.users import __all__ as __all__
from plimsoll.users.events import Events as Events

__version__ = LOCUST_VERSION


def __getattr__(name: str) -> ModuleType:
    # `import locust` alone makes `locust.exception.StopUser` work in the real one, which has all its modules loaded.
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(str(error)) from error
