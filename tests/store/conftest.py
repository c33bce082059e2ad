from __future__ import annotations

import pytest

from plimsoll.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def store_location(request, tmp_path) -> str:
    """Where a store may be made; every test runs on both databases."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgresql_url")


@pytest.fixture
def store(store_location):
    with Store.open(store_location) as opened:
        yield opened
