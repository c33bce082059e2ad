"""The page of a real run, as in the tests of runs."""

from __future__ import annotations

from tests.run.conftest import start_page

__all__ = ["start_page"]
