"""The fixtures of users and runs: Locust's surface is tested on the same targets."""

from __future__ import annotations

from tests.run.conftest import scene
from tests.users.conftest import certificate, desk, target

__all__ = ["certificate", "desk", "scene", "target"]
