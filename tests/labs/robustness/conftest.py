import os

import pytest
from labs.robustness.system_calls import LIBRARY
from labs.truth.target_process import BUILT


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """The target and the library of faults."""
    for file in (BUILT, LIBRARY):
        if not file.exists():
            message = f"{file} is not built (make robustness builds it)"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
