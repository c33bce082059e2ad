from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.run.transport.bundle import Bundle

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "here" / "lib").mkdir(parents=True)
    (tmp_path / "here" / "b.py").write_text("import lib.a")
    (tmp_path / "here" / "lib" / "a.py").write_text("1")
    return str(tmp_path / "here" / "b.py"), str(tmp_path / "here" / "lib" / "a.py")


def test_names_count_from_the_folder_that_all_files_share_and_keep_their_order(paths: tuple[str, ...]) -> None:
    bundle = Bundle.of(paths)
    assert bundle.root == paths[0].removesuffix("/b.py")
    assert [name for name, _ in bundle.files] == ["b.py", "lib/a.py"]
    assert bundle.open() == paths


def test_it_travels_as_plain_values(paths: tuple[str, ...]) -> None:
    assert Bundle.from_list(Bundle.of(paths).to_list()) == Bundle.of(paths)


def test_a_copy_elsewhere_is_opened_there(paths: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "here").rename(tmp_path / "there")
    moved = tuple(path.replace("/here/", "/there/") for path in paths)
    bundle = Bundle("/somewhere", Bundle.of(moved).files)
    assert bundle.open(str(tmp_path / "there")) == moved


def test_a_file_with_other_contents_is_refused(paths: tuple[str, ...], tmp_path: Path) -> None:
    bundle = Bundle.of(paths)
    (tmp_path / "here" / "lib" / "a.py").write_text("2")
    with pytest.raises(LocustfileError, match=r"lib/a\.py has changed since this run was started"):
        bundle.open()


def test_a_file_that_is_not_there_is_refused(paths: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(LocustfileError, match=r"nowhere\.py cannot be read: No such file"):
        Bundle.of((*paths, str(tmp_path / "nowhere.py")))
    with pytest.raises(LocustfileError, match=r"b\.py cannot be read: No such file"):
        Bundle.of(paths).open(str(tmp_path))


def test_a_run_without_a_locustfile_has_none() -> None:
    assert Bundle.of(()).open() == ()
