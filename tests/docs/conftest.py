from collections.abc import Iterator

import pytest
from scripts.documents import todos_service


@pytest.fixture(scope="session")
def todos_url() -> Iterator[str]:
    """The service of the documents."""
    with todos_service() as url:
        yield url
