"""How much is held in memory, seen from outside: what can be reached from an object, whatever it is called there."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def count_reachable(root: object, counts: Callable[[object], bool] = lambda _: True) -> int:
    """How many objects can be reached from root, of those for which `counts` is true; neither types nor modules."""
    # Through the globals of a function everything could be reached.
    seen = {id(vars(each)) for each in list(sys.modules.values()) if isinstance(each, ModuleType)}
    found, left = 0, [root]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type | ModuleType):
            continue
        seen.add(id(each))
        found += counts(each)
        left += gc.get_referents(each)
    return found
