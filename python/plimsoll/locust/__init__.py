"""Makes `import locust` find Plimsoll: `names` maps each module of Locust to our names."""

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
"""Why a module of Locust is missing."""


class NamesLoader(Loader):
    """Fills a module of Locust with our names."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name in SAME_MODULE:
            # The import system then uses this entry instead of the new module.
            sys.modules[name] = import_module(SAME_MODULE[name])
            return
        names = {theirs: (source, ours) for source, text in NAMES[name].items() for ours, theirs in _pairs(text)}
        for inner in names.keys() & {each.removeprefix(f"{name}.") for each in NAMES}:
            # The import system binds a submodule to its name on loading. `locust.user.task` must always be the
            # decorator, so the submodule of that name is loaded before the decorator takes the name.
            import_module(f"{name}.{inner}")
        for theirs, (source, ours) in names.items():
            value = getattr(import_module(source), ours, None)
            setattr(module, theirs, import_module(f"{source}.{ours}") if value is None else value)
        if name == "locust":
            # In Locust, `import locust` alone makes `locust.exception.StopUser` work: all its modules are loaded.
            module.__getattr__ = _submodule  # type: ignore[method-assign]


class Finder(MetaPathFinder):
    """Resolves `locust` and its submodules by the table of names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a module of Locust that is not in the table."""
        if fullname.partition(".")[0] != "locust":
            return None
        if fullname not in NAMES and fullname not in SAME_MODULE:
            # Without `name`, with which the import system would replace the message.
            reason = f": {REASONS[fullname]}" if fullname in REASONS else ""
            raise ModuleNotFoundError(f"{fullname} is not supported yet by plimsoll{reason}")
        # A package, so that `from locust.x import Name` calls this finder for names missing in locust.x.
        return ModuleSpec(fullname, NamesLoader(), is_package=True)


def install() -> None:
    """Make `import locust` import Plimsoll, even if Locust is installed or already imported.

    Like Locust it lets gevent replace blocking functions of the standard library (not with LOCUST_SKIP_MONKEY_PATCH
    set), so call it before requests, ssl and the like are imported.
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
    """Import locust_plugins if it is installed, like Locust's command: it adds options and listeners."""
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
