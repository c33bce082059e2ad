from __future__ import annotations

import pytest

from plimsoll.run.verdict import exit_code


@pytest.mark.parametrize(
    ("lost_workers", "chosen", "failures", "listener_failed", "code"),
    [
        (False, None, False, False, 0),
        (False, None, True, False, 9),
        (False, None, False, True, 2),
        (False, None, True, True, 9),
        (False, 0, True, True, 0),
        (False, 42, True, False, 42),
        (True, 0, True, True, 3),
        (True, None, False, False, 3),
    ],
)
def test_the_first_that_applies_decides(
    lost_workers: bool, chosen: int | None, failures: bool, listener_failed: bool, code: int
) -> None:
    assert code == exit_code(
        lost_workers=lost_workers, chosen=chosen, failures=failures, on_error=9, listener_failed=listener_failed
    )
