"""Makes `import locust` find Plimsoll: `names` says which of our names stand in each module of Locust."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING

from plimsoll.locust.names import NAMES, SAME_MODULE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

PLUGINS = "locust_plugins"

REASONS = {
    "locust.opentelemetry": "spans and metrics are not exported; runs are kept, and `plimsoll export` writes them out",
    "locust.rpc.zmqrpc": "the processes of a run do not talk over ZeroMQ",
}
"""Why a module of Locust is not here."""


class NamesLoader(Loader):
    """Fills a module of Locust with our names."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name in SAME_MODULE:
            # The import system takes what it finds here in place of the new module.
            sys.modules[name] = import_module(SAME_MODULE[name])
            return
        names = {theirs: (source, ours) for source, text in NAMES[name].items() for ours, theirs in _pairs(text)}
        for inner in names.keys() & {each.removeprefix(f"{name}.") for each in NAMES}:
            # The import system binds a submodule to its name when it loads it. `locust.user.task` must be the decorator
            # whenever somebody imports that submodule, so it is loaded before the decorator takes its name.
            import_module(f"{name}.{inner}")
        for theirs, (source, ours) in names.items():
            value = getattr(import_module(source), ours, None)
            setattr(module, theirs, import_module(f"{source}.{ours}") if value is None else value)
        if name == "locust":
            # `import locust` alone makes `locust.exception.StopUser` work in the real one: all its modules are loaded.
            module.__getattr__ = _submodule  # type: ignore[method-assign]


class Finder(MetaPathFinder):
    """Resolves `locust` and everything below it by the table of names, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a module of Locust that the table does not have."""
        if fullname.partition(".")[0] != "locust":
            return None
        if fullname not in NAMES and fullname not in SAME_MODULE:
            # Without `name`: with it the import system replaces the message.
            reason = f": {REASONS[fullname]}" if fullname in REASONS else ""
            raise ModuleNotFoundError(f"{fullname} is not supported yet by plimsoll{reason}")
        # A package: `from locust.x import Name` then comes here for what locust.x does not have.
        return ModuleSpec(fullname, NamesLoader(), is_package=True)


def install() -> None:
    """From now on `import locust` is Plimsoll, also where the real one is installed or even imported.

    Like the real one it lets gevent replace blocking functions of the standard library (not with
    LOCUST_SKIP_MONKEY_PATCH set), so this must come before requests, ssl and the like are imported.
    """
    if _installed():
        return
    if not os.getenv("LOCUST_SKIP_MONKEY_PATCH"):
        from gevent import monkey

        monkey.patch_all()
    for name in [name for name in sys.modules if name.partition(".")[0] == "locust"]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder())


def load_plugins() -> None:
    """Import locust_plugins where it is installed, as Locust's command does: it adds options and listeners."""
    if _installed() and find_spec(PLUGINS) is not None:
        import_module(PLUGINS)


def _installed() -> bool:
    return any(isinstance(finder, Finder) for finder in sys.meta_path)


def _pairs(text: str) -> list[tuple[str, str]]:
    """(our name, Locust's name) of each word."""
    return [(ours, theirs or ours) for ours, _, theirs in (word.partition("=") for word in text.split())]


def _submodule(name: str) -> ModuleType:
    try:
        return import_module(f"locust.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(str(error)) from error
