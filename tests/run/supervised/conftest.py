"""A watch over the processes that a test starts."""

from __future__ import annotations

from tests.experiment.cells import mark

__all__ = ["mark"]
