from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from plimsoll.run.options.reference import reference
from plimsoll.run.options.table import OPTIONS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "options.md"


def test_the_page_is_up_to_date() -> None:
    command = "python -m plimsoll.run.options.reference docs/reference/options.md"
    assert PAGE.read_text() == reference(), f"write it again: {command}"


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    file = tmp_path / "options.md"
    subprocess.run([sys.executable, "-m", "plimsoll.run.options.reference", str(file)], check=True)
    assert file.read_text() == reference()


def test_every_option_has_an_entry() -> None:
    lines = reference().splitlines()
    assert [line for line in lines if line.startswith("### ")] == [f"### `{each.flag}`" for each in OPTIONS]
