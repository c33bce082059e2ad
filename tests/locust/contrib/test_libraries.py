from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from plimsoll.locust.contrib.libraries import library

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_missing_is_told_with_its_package() -> None:
    with pytest.raises(ImportError, match=r"^no_such.client is not installed: pip install no-such$"):
        library("no_such.client", "no-such")


def test_what_is_there_but_misses_something_itself_says_so_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_there.py").write_text("import the_other_half\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="No module named 'the_other_half'"):
        library("half_there", "half-there")
    assert "half_there" not in sys.modules
