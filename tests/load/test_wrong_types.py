"""A value of the wrong type, in any field of a file, is an error in words."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.wrong_values import changed, with_each_field, write_toml

from plimsoll.errors import UsageError
from plimsoll.load.limits_model import LimitsTable, read_limits
from plimsoll.load.plan_file import read_plan
from plimsoll.load.plan_model import PlanTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[2]
PLAN: dict[str, Any] = {
    "target": "http://127.0.0.1:9",
    "flow": [{"name": "a", "step": [{"get": "/"}]}],
    "phase": [{"users": 1}],
    "stop": {"requests": 1},
}


def refused_in_words(read: Callable[[str], object], documents: Iterable[tuple[Any, dict[str, Any]]], file: Path) -> int:
    """The number of documents that were refused, each with a message. Any other error is raised, with its document."""
    refused = 0
    for path, document in documents:
        write_toml(file, document)
        try:
            read(str(file))
        except UsageError as error:
            assert str(error).strip(), (path, document)
            refused += 1
        except Exception as error:
            raise AssertionError(f"{path} of {document}") from error
    return refused


def test_each_field_of_a_plan(tmp_path: Path) -> None:
    assert refused_in_words(read_plan, with_each_field(PLAN, PlanTable), tmp_path / "plan.toml") > 1000


def test_each_field_of_the_limits_of_a_machine(tmp_path: Path) -> None:
    documents = with_each_field({}, LimitsTable)
    assert refused_in_words(lambda path: read_limits(Path(path)), documents, tmp_path / "limits.toml") > 50


@pytest.mark.long
@pytest.mark.parametrize("seed", sorted((ROOT / "fuzz/seeds/plans").glob("*.toml")), ids=lambda seed: seed.stem)
def test_each_value_of_a_plan_that_is_used(seed: Path, tmp_path: Path) -> None:
    documents = changed(tomllib.loads(seed.read_text()))
    assert refused_in_words(read_plan, documents, tmp_path / seed.name) > 0
