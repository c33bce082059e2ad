from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.plan_file import PlanFile, read_plan

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., PlanFile]:
    """A plan read from this text."""

    def read(text: str, host: str | None = None) -> PlanFile:
        (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
        return read_plan(f"{tmp_path}/plan.toml", host)

    return read


@pytest.fixture
def mistakes(plan: Callable[..., PlanFile], tmp_path: Path) -> Callable[[str], list[str]]:
    """What is said about a plan with mistakes, without the folder."""

    def refused(text: str) -> list[str]:
        with pytest.raises(UsageError) as error:
            plan(text)
        return str(error.value).replace(f"{tmp_path}/", "").splitlines()

    return refused
