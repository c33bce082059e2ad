from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.importers import read

PUBLISHED = Path(__file__).parent.parent / "published"
FILES = Path(__file__).parent / "files"
"""locust_*.csv: printed by Locust 2.47, wrk.txt: by wrk 4, both against a small server of this machine."""


@pytest.fixture
def read_text(tmp_path):
    """The study in a file with this text: read_text("| Name | …", users=5)."""

    def import_text(text: str | bytes, name: str = "report.md", **told):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **told)

    return import_text


@pytest.fixture(scope="session")
def published():
    """One of the published reports: published("000")."""

    def report(number: str, **told):
        (path,) = PUBLISHED.glob(f"{number}_*.txt")
        return read(path, **told)

    return report


@pytest.fixture(scope="session")
def files():
    return FILES
