from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.run.transport import bundle as module
from plimsoll.run.transport.bundle import Archive, Bundle


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


def _tree(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def _unpacked(archive: Archive, place: Path) -> set[str]:
    archive.unpack(str(place))
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def test_what_travels_is_the_working_directory_with_all_below_it(tmp_path: Path) -> None:
    root, place = tmp_path / "project", tmp_path / "there"
    _tree(root, "load/shop.py", "load/pages/cart.py", "data/users.csv", ".git/config", ".env", "plimsoll.db-wal")
    _tree(root, "load/__pycache__/shop.pyc", "venv/pyvenv.cfg", "venv/lib/x.py", "web/node_modules/a/index.js")
    archive = Archive.of(Bundle.of([str(root / "load/shop.py")]), root)
    assert _unpacked(archive, place) == {"load/shop.py", "load/pages/cart.py", "data/users.csv"}
    assert (archive.files, archive.folder) == ("load", ".")


def test_from_elsewhere_the_folder_of_the_locustfile_travels(tmp_path: Path) -> None:
    root, place = tmp_path / "project", tmp_path / "there"
    _tree(root, "load/shop.py", "load/helper.py", "other.txt")
    _tree(tmp_path, "elsewhere/x.txt")
    archive = Archive.of(Bundle.of([str(root / "load/shop.py")]), tmp_path / "elsewhere")
    assert _unpacked(archive, place) == {"shop.py", "helper.py"}
    assert (archive.files, archive.folder) == (".", ".")


def test_the_digest_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    roots = [tmp_path / each for each in "ab"]
    for root in roots:
        _tree(root, "shop.py", "data.txt")
    os.utime(roots[1] / "data.txt", (1, 1))
    first, second = (Archive.of(Bundle.of([str(root / "shop.py")]), root).digest for root in roots)
    assert first == second
    (roots[1] / "data.txt").write_text("other")
    assert Archive.of(Bundle.of([str(roots[1] / "shop.py")]), roots[1]).digest != first


def test_files_that_are_too_large_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path, "shop.py")
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "a.bin").write_bytes(b"x" * (3 << 20))
    monkeypatch.setattr(module, "MAX_ARCHIVE_BYTES", 1 << 20)
    with pytest.raises(UsageError, match=r"its files have 3 MiB, and 1 MiB travel .* The largest: dump \(3 MiB\)"):
        Archive.of(Bundle.of([str(tmp_path / "shop.py")]), tmp_path)


def test_native_users_have_no_files() -> None:
    assert Archive.of(Bundle(), Path.cwd()) == Archive(b"", ".", ".")
