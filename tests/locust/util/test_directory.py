from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.locust.util.directory import get_abspaths_in

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_files_below_that_are_not_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("a.py", "_b.py", "c.txt", "inner/d.py"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert sorted(get_abspaths_in(".", ".py")) == [str(tmp_path / "a.py"), str(tmp_path / "inner" / "d.py")]
    assert len(get_abspaths_in(str(tmp_path))) == 3
