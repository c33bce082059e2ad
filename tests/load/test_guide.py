"""The plans in the guide are plans."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.targets import read_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.load.plan_file import PlanFile

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "plans.md").read_text(encoding="utf-8")
PLANS = {text.splitlines()[0]: text for text in re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)}
WRONG = "# wrong.toml"


@pytest.mark.parametrize("title", [title for title in PLANS if title != WRONG])
def test_a_plan_of_the_guide_can_be_read(
    plan: Callable[..., PlanFile], title: str, tmp_path: Path, certificate: tuple[str, str]
) -> None:
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "certs").mkdir()
    for name in ("ann", "bob"):
        for path, end in zip(certificate, ("crt", "key"), strict=True):
            shutil.copy(path, tmp_path / "certs" / f"{name}.{end}")
    found = plan(PLANS[title])
    assert found.scenario or found.load


def test_the_wrong_plan_of_the_guide_is_told_as_it_says(plan: Callable[..., PlanFile], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        plan(PLANS[WRONG])
    said = str(refused.value).replace(f"{tmp_path}/plan.toml", "wrong.toml")
    assert f"plimsoll: {said}" in GUIDE


def test_the_examples_are_as_long_as_they_are_called() -> None:
    lines = [sum(1 for line in PLANS[f"# {name}.toml"].splitlines()[1:] if line) for name in ("first", "shop")]
    assert lines[0] <= 12 and 45 <= lines[1] <= 60


def test_the_targets_of_the_guide_can_be_read(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "targets.txt").write_text(text)
    (tmp_path / "new.json").write_text("{}")
    assert len(read_targets(str(tmp_path / "targets.txt"))["flows"]) == 2
