from __future__ import annotations

import pytest

from plimsoll.run.result import exit_code


@pytest.mark.parametrize(
    ("invalid", "chosen", "threshold_failed", "failures", "listener_failed", "code"),
    [
        (False, None, False, False, False, 0),
        (False, None, False, True, False, 9),
        (False, None, False, False, True, 2),
        (False, None, False, True, True, 9),
        (False, None, True, True, True, 1),
        (False, 0, True, True, True, 0),
        (False, 42, False, True, False, 42),
        (True, 0, True, True, True, 3),
        (True, None, False, False, False, 3),
    ],
)
def test_the_first_that_applies_decides(
    invalid: bool, chosen: int | None, threshold_failed: bool, failures: bool, listener_failed: bool, code: int
) -> None:
    assert code == exit_code(
        invalid=invalid, chosen=chosen, threshold_failed=threshold_failed, failures=failures, on_error=9,
        listener_failed=listener_failed,
    )  # fmt: skip


def test_who_does_not_mind_an_invalid_run_gets_the_other_codes() -> None:
    given = {"invalid": True, "on_invalid": 0, "chosen": None, "on_error": 9, "listener_failed": True}
    assert exit_code(**given, failures=True) == 9  # type: ignore[arg-type]
    assert exit_code(**given, failures=False) == 2  # type: ignore[arg-type]


def test_failures_that_cost_nothing_decide_before_a_listener_that_failed() -> None:
    assert exit_code(chosen=None, failures=True, on_error=0, listener_failed=True) == 0
    assert exit_code(chosen=None, failures=False, on_error=0, listener_failed=True) == 2


def test_a_threshold_within_the_generators_share_is_like_an_invalid_run_unless_another_one_failed() -> None:
    given = {"threshold_within_share": True, "chosen": None, "failures": False, "on_error": 9, "listener_failed": False}
    assert exit_code(**given) == 3  # type: ignore[arg-type]
    assert exit_code(**given, threshold_failed=True) == 1  # type: ignore[arg-type]
    assert exit_code(**given, on_invalid=0) == 0  # type: ignore[arg-type]
