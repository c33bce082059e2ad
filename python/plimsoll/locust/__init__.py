"""Makes `import locust` find Plimsoll: `tree/` has one file per module of Locust that is supported."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

TREE = Path(__file__).with_name("tree")
PLUGINS = "locust_plugins"

REASONS = {
    "locust.opentelemetry": "spans and metrics are not exported; runs are kept, and `plimsoll export` writes them out",
    "locust.rpc.zmqrpc": "the processes of a run do not talk over ZeroMQ",
}
"""Why there is no such module, and never will be like that."""


class Finder(MetaPathFinder):
    """Resolves `locust` and everything below it to the files in `tree/`, and to nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for what Locust may have but the tree has not."""
        if fullname == "locust":
            return spec_from_file_location("locust", TREE / "__init__.py", submodule_search_locations=[str(TREE)])
        if not fullname.startswith("locust."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None:
            # Without `name`: the import system would take that for its own doing and say less.
            reason = f": {REASONS[fullname]}" if fullname in REASONS else ""
            raise ModuleNotFoundError(f"{fullname} is not supported yet by plimsoll{reason}")
        if spec.submodule_search_locations is None:
            # A package without files: `from locust.x import Name` then comes here for what locust/x.py does not have.
            spec.submodule_search_locations = []
        return spec


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
