from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.report.writing import check_writable, replaced_file


def test_a_check_makes_no_file_and_changes_none(tmp_path: Path) -> None:
    new, old = tmp_path / "new.html", tmp_path / "old.html"
    old.write_text("earlier")
    os.utime(old, (1, 1))
    check_writable(new)
    check_writable(str(old))
    assert not new.exists()
    assert (old.read_text(), old.stat().st_mtime) == ("earlier", 1)
    for nothing in (None, "-"):
        check_writable(nothing)
    check_writable("/dev/null")


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with pytest.raises(UsageError) as caught:
        check_writable(folder / "b" / "new.html", option="--html")
    hint = f"there is no folder {folder / 'b'}; make it first, or choose another"
    assert str(caught.value) == f"--html: cannot write {folder / 'b' / 'new.html'}: {hint}"
    assert not folder.exists()


@pytest.mark.parametrize("path", ["/proc/nowhere/report.html", "/dev/null/report.html", "/proc"])
def test_what_cannot_be_written_is_refused_with_its_option(path: str) -> None:
    with pytest.raises(UsageError, match=f"^--html: cannot write {path}: "):
        check_writable(path, option="--html")
    with pytest.raises(UsageError, match=f"^cannot write {path}: "):
        check_writable(path)


def test_an_older_file_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    file, link = tmp_path / "report.html", tmp_path / "latest.html"
    file.write_text("earlier")
    file.chmod(0o640)
    link.symlink_to(file)
    with replaced_file(link) as new:
        new.write(b"later")
        assert file.read_text() == "earlier"
    assert (file.read_text(), file.stat().st_mode & 0o777, link.is_symlink()) == ("later", 0o640, True)
    with pytest.raises(ValueError, match="damaged"), replaced_file(file) as new:
        new.write(b"a part")
        raise ValueError("damaged")
    assert (file.read_text(), sorted(each.name for each in tmp_path.iterdir())) == (
        "later",
        ["latest.html", "report.html"],
    )


def test_a_new_file_has_the_rights_of_any_other(tmp_path: Path) -> None:
    with replaced_file(tmp_path / "new") as new:
        new.write(b"x")
    (tmp_path / "other").write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_is_no_ordinary_file_is_written_directly() -> None:
    with replaced_file(Path("/dev/null")) as nothing:
        nothing.write(b"gone")
    assert Path("/dev/null").is_char_device()
