"""Plimsoll, a load-testing lab.

`from plimsoll import HttpUser, task, between` gives what `from locust import …` gives in a locustfile. The names are
those of `plimsoll.locust.api`, looked up when they are first used: the coordinator of a run imports this package too,
and has no use for gevent. Neither have `plimsoll.run(…)` and `plimsoll.open(…)`, which are those of `plimsoll.api`.

Its fixture for pytest has no assertions to explain, and `plimsoll python -m pytest` has imported it by then:
PYTEST_DONT_REWRITE
"""

from plimsoll import early_interrupt as early_interrupt  # before what takes time

# isort: split
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from plimsoll._engine import __version__ as __version__

if TYPE_CHECKING:
    from plimsoll.api import open as open
    from plimsoll.api import run as run
    from plimsoll.locust.api import *  # noqa: F403
    from plimsoll.locust.api import __all__ as __all__


_API = ("open", "run")
"""Names of the interface for programs; not in `__all__`, which is Locust's."""


def __getattr__(name: str) -> Any:
    if name in _API:
        value = getattr(import_module("plimsoll.api"), name)
        # The package `plimsoll.run` is here by now, and calls the same function.
        return globals().setdefault(name, value)
    # `from plimsoll import errors` asks here first; a module must not bring gevent along.
    if name == "__all__" or not (name.startswith("__") or find_spec(f"{__name__}.{name}")):
        api = import_module("plimsoll.locust.api")
        if name == "__all__" or name in api.__all__:
            value = globals()[name] = getattr(api, name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_API, *__getattr__("__all__")})
