from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.doors import members
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Entry points of a group `some.door`, as an installer leaves them."""

    def install(**points: str) -> None:
        (tmp_path / "some_rows.py").write_text("ONE, TWO = 1, 2\nTEXT = 'x'\n")
        (tmp_path / "broken_rows.py").write_text("import not_there\n")
        info = tmp_path / "some_rows-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-rows\nVersion: 1.0\n")
        rows = "\n".join(f"{name} = {place}" for name, place in points.items())
        (info / "entry_points.txt").write_text(f"[some.door]\n{rows}\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_installed_packages_add_members_and_replace_none(install: Callable[..., None]) -> None:
    install(one="some_rows:ONE", own="some_rows:TWO")
    assert members("some.door", int, {"own": 0}) == {"own": 0, "one": 1}
    assert members("another.door", int, {"own": 0}) == {"own": 0}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("broken_rows:ONE", "No module named 'not_there'"),
        ("some_rows:THREE", "has no attribute 'THREE'"),
        ("some_rows:TEXT", "is not a int"),
    ],
)
def test_a_member_that_cannot_be_used_is_named(install: Callable[..., None], place: str, message: str) -> None:
    install(bad=place)
    with pytest.raises(UsageError, match=rf"entry point bad of some\.door \({place}\)") as error:
        members("some.door", int, {})
    assert message in str(error.value)
