"""The constants of `locust.stats`, as they are now: `settings.PERCENTILES_TO_REPORT`.

A locustfile assigns them in the package itself, whose modules cannot import it: it imports them.
"""

from __future__ import annotations

import sys
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(sys.modules[__package__], name)
