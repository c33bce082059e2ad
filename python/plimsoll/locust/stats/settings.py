"""The current constants of `locust.stats`: `settings.PERCENTILES_TO_REPORT`.

Locustfiles assign them in the package, which its own modules cannot import, because it imports them.
"""

from __future__ import annotations

import sys
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(sys.modules[__package__], name)
