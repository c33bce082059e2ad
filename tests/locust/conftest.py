"""The fixtures of users and runs: Locust's surface is tested on the same targets."""

from __future__ import annotations

from tests.run.conftest import open_population
from tests.users.conftest import session_bench, target

__all__ = ["open_population", "session_bench", "target"]
