from __future__ import annotations

import pytest

from plimsoll.users.code_errors import hint


@pytest.mark.parametrize(
    ("error", "has_hint"),
    [
        (ModuleNotFoundError("", name="flask"), True),
        (ModuleNotFoundError("", name="zmq.green"), True),
        (ModuleNotFoundError("", name="faker"), False),
        (ImportError("without a name"), False),
        (ValueError("flask"), False),
    ],
)
def test_what_locust_brings_along_is_an_extra_here(error: Exception, has_hint: bool) -> None:
    assert ("pip install 'plimsoll-lab[locust]'" in hint(error)) == has_hint
