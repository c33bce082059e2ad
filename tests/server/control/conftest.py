"""The page of a real run, as in the tests of runs."""

from __future__ import annotations

from tests.run.conftest import paged

__all__ = ["paged"]
