from __future__ import annotations

from pathlib import Path

import pytest
from labs.published.report import read

PUBLISHED = Path(__file__).parents[2] / "published"


@pytest.fixture(scope="session")
def report_path():
    """The file of a published report: report_path("000")."""

    def path(number: str) -> Path:
        (found,) = PUBLISHED.glob(f"{number}_*.txt")
        return found

    return path


@pytest.fixture(scope="session")
def published(report_path):
    """The study in a published report: published("000")."""

    def report(number: str, **options):
        return read(report_path(number), **options)

    return report
