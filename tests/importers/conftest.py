from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.importers import read

FILES = Path(__file__).parent / "files"
"""locust_*.csv: printed by Locust 2.47, wrk.txt: by wrk 4, both against a small server of this machine."""


@pytest.fixture
def read_text(tmp_path):
    """The study in a file with this text: read_text("| Name | …", users=5)."""

    def import_text(text: str | bytes, name: str = "report.md", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **options)

    return import_text


@pytest.fixture(scope="session")
def files():
    return FILES
