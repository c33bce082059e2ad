import os
from collections.abc import Iterator

import pytest
from labs.truth.lab import Lab, open_lab
from labs.truth.target_process import BUILT


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The target, running, for short runs."""
    if not BUILT.exists():
        message = f"{BUILT} is not built (cargo build --release -p plimsoll-truth)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with open_lab(quick=True) as opened:
        yield opened
