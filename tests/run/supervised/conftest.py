"""A watch over the processes that a test starts."""

from __future__ import annotations

from tests.experiment.real_cells import process_mark

__all__ = ["process_mark"]
