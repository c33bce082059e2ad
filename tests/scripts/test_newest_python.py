"""Which Python the quick tests are repeated on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scripts.newest_python import newest, requirements

if TYPE_CHECKING:
    from pathlib import Path


def a_python(folder: Path, answer: str, code: int = 0) -> str:
    program = folder / answer.replace(" ", ".")
    program.write_text(f"#!/bin/sh\necho {answer}\nexit {code}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [((), None), (("3 11",), None), (("3 9", "3 11"), None), (("3 13", "3 9", "3 12"), (3, 13))],
)
def test_the_newest_one_is_chosen_if_it_is_newer_than_the_oldest_supported(
    tmp_path: Path, versions: tuple[str, ...], chosen: tuple[int, int] | None
) -> None:
    found = newest([a_python(tmp_path, version) for version in versions])
    assert found == (chosen and (chosen, str(tmp_path / ".".join(map(str, chosen)))))


def test_a_name_without_a_program_is_none(tmp_path: Path) -> None:
    found = newest([a_python(tmp_path, "3 12"), a_python(tmp_path, "3 14", code=127)])
    assert found == ((3, 12), str(tmp_path / "3.12"))


def test_the_requirements_are_those_of_the_package_and_its_tests() -> None:
    names = [requirement.partition(">=")[0] for requirement in requirements()]
    assert {"gevent", "flask", "pytest"} <= set(names)
    assert len(names) == len(set(names)) + 1, "pytest is also what locustfiles import"
