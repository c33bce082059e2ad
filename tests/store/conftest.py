from __future__ import annotations

import pytest

from plimsoll.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path) -> str:
    """Where a store may be made; every test runs on both databases."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgresql_url")


@pytest.fixture
def store(place):
    with Store.open(place) as opened:
        yield opened
