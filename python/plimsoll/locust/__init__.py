"""Makes `import locust` find Plimsoll: `names` maps each module of Locust to our names."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from logging import getLogger
from typing import TYPE_CHECKING

from plimsoll.locust.imported import DROPPED, IMPORTED, NOT_HERE
from plimsoll.locust.names import NAMES, SAME_MODULE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader, MetaPathFinder
    from types import CodeType, ModuleType
else:
    # A module that imports a tenth of the standard library. Python asks only for the methods below.
    Loader = MetaPathFinder = object

PLUGINS = "locust_plugins"
COMMAND = "locust.__main__"

_ALIKE = 0.7
"""A name is offered in place of an unknown one if they are as alike as this; 1 is the same."""

REASONS = {
    "locust.rpc.zmqrpc": "the processes of a run do not talk over ZeroMQ",
}
"""Why a module of Locust is missing."""


class NamesLoader(Loader):
    """Fills a module of Locust with our names."""

    def create_module(self, spec: ModuleSpec) -> None:
        """The import system makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name in SAME_MODULE:
            # The import system then uses this entry instead of the new module.
            sys.modules[name] = same = import_module(SAME_MODULE[name])
            _complete(same, name)
            return
        names = {theirs: (source, ours) for source, text in NAMES[name].items() for ours, theirs in _pairs(text)}
        for inner in names.keys() & {each.removeprefix(f"{name}.") for each in NAMES}:
            # The import system binds a submodule to its name on loading. `locust.user.task` must always be the
            # decorator, so the submodule of that name is loaded before the decorator takes the name.
            import_module(f"{name}.{inner}")
        for theirs, (source, ours) in names.items():
            value = getattr(import_module(source), ours, None)
            setattr(module, theirs, import_module(f"{source}.{ours}") if value is None else value)
        _complete(module, name)


class CommandLoader(Loader):
    """`python -m locust`, also by way of runpy."""

    def create_module(self, spec: ModuleSpec) -> None:
        """The import system makes the module."""

    def get_code(self, name: str) -> CodeType:
        return compile("from locust.main import main; main()", f"<{name}>", "exec")


class Finder(MetaPathFinder):
    """Resolves `locust` and its submodules by the table of names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a module of Locust that is not in the table."""
        if fullname.partition(".")[0] != "locust":
            return None
        if fullname == COMMAND:
            # Python puts the origin into sys.argv[0].
            return ModuleSpec(fullname, CommandLoader(), origin="locust")
        if not _is_module(fullname):
            # Without `name`, with which the import system would replace the message.
            raise ModuleNotFoundError(missing(fullname))
        # A package, so that `from locust.x import Name` calls this finder for names missing in locust.x.
        return ModuleSpec(fullname, NamesLoader(), is_package=True)


class MissingNames(MetaPathFinder):
    """Says what is missing in a module of Locust that is our own. It comes after all other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a name that such a module does not have."""
        parent, _, name = fullname.rpartition(".")
        for theirs, ours in SAME_MODULE.items():
            if ours == parent and theirs in sys.modules:
                raise ModuleNotFoundError(missing(f"{theirs}.{name}"))
        return None


def install() -> None:
    """Make `import locust` import Plimsoll, even if Locust is installed or already imported.

    Like Locust it lets gevent replace blocking functions of the standard library (not with LOCUST_SKIP_MONKEY_PATCH
    set), so call it before requests, ssl and the like are imported.
    """
    if _installed():
        return
    if not os.getenv("LOCUST_SKIP_MONKEY_PATCH"):
        _patch()
    for name in [name for name in sys.modules if name.partition(".")[0] == "locust"]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder())
    sys.meta_path.append(MissingNames())


def _patch() -> None:
    """Apply gevent's patches. It asks for the plugins of each of them, about 46 times: one look at what is installed
    answers all. With 140 packages installed each look takes 6 ms."""
    from importlib import metadata

    from gevent import monkey

    look = metadata.entry_points
    metadata.entry_points = look().select
    try:
        monkey.patch_all()
    finally:
        metadata.entry_points = look


def load_plugins() -> None:
    """Import locust_plugins if it is installed, like Locust's command: it adds options and listeners."""
    if _installed() and find_spec(PLUGINS) is not None:
        import_module(PLUGINS)


def _installed() -> bool:
    return any(isinstance(finder, Finder) for finder in sys.meta_path)


def _pairs(text: str) -> list[tuple[str, str]]:
    """(our name, Locust's name) of each word."""
    return [(ours, theirs or ours) for ours, _, theirs in (word.partition("=") for word in text.split())]


def _is_module(name: str) -> bool:
    return name in NAMES or name in SAME_MODULE


def _complete(module: ModuleType, name: str) -> None:
    """Add what is found only when it is asked for: modules below this one, and the names that it has because it imports
    them. name: that of Locust's module."""
    sources = {theirs: source for source, theirs in map(_imported, IMPORTED.get(name, "").split())}
    own = getattr(module, "__getattr__", None)

    def find(wanted: str) -> object:
        if _is_module(f"{name}.{wanted}"):
            # In Locust, `import locust` alone makes `locust.exception.StopUser` work: all its modules are loaded.
            return import_module(f"{name}.{wanted}")
        if wanted in sources:
            found = _value(sources[wanted])
            setattr(module, wanted, found)
            return found
        if own is not None:
            return own(wanted)
        raise AttributeError(missing(f"{name}.{wanted}"), name=wanted, obj=module)

    module.__getattr__ = find  # type: ignore[method-assign]
    if not hasattr(module, "__path__"):
        # As if it were a package, so that `from locust.x import Name` calls `MissingNames`.
        module.__path__ = []


def _imported(word: str) -> tuple[str, str]:
    """(source, name there) of a word in `IMPORTED`."""
    source, _, theirs = word.partition("=")
    return source, theirs or source.replace(":", ".").rpartition(".")[2]


def _value(source: str) -> object:
    """Raises AttributeError if it is of a library that is not installed."""
    module, _, name = source.partition(":")
    if module == "logger":
        return getLogger(name)
    try:
        found = import_module(module)
        return getattr(found, name) if name else found
    except ModuleNotFoundError as error:
        raise AttributeError(f"{source.replace(':', '.')} is not installed") from error


def missing(name: str) -> str:
    """The error message for a name or a module of Locust that Plimsoll does not have. name: `locust.…`."""
    parent, _, own = name.rpartition(".")
    if name in REASONS:
        return f"{name} is not supported by plimsoll: {REASONS[name]}"
    if name in DROPPED:
        return f"Locust no longer has {name}; there is {DROPPED[name]}"
    if own in NOT_HERE.get(parent, "").split():
        return f"{name} is not supported by plimsoll"
    known = {known_name.lower(): known_name for known_name in _names_of(parent)}
    alike = get_close_matches(own.lower(), known, n=1, cutoff=_ALIKE)
    return f"Locust has no {name}{f'; did you mean {known[alike[0]]}?' if alike else ''}"


def _names_of(module: str) -> list[str]:
    """Those that a module of Locust has itself, and the modules below it."""
    below = [path.rpartition(".")[2] for path in (*NAMES, *SAME_MODULE) if path.rpartition(".")[0] == module]
    named = [theirs for text in NAMES.get(module, {}).values() for _, theirs in _pairs(text)]
    same = vars(sys.modules[module]) if module in SAME_MODULE and module in sys.modules else ()
    return [name for name in (*below, *named, *same) if not name.startswith("_")]
