from __future__ import annotations

import contextlib
import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.shipment import Shipment


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


def _shipment(root: Path, *names: str) -> Shipment:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return Shipment(str(root), tuple(sorted(names)), "load", ".")


def test_an_archive_has_the_files_of_a_shipment_and_no_others(tmp_path: Path) -> None:
    shipment = _shipment(tmp_path / "here", "load/shop.py", "data/users.csv")
    (tmp_path / "here" / "secret").write_text("not for others")
    archive = Archive.of(shipment)
    archive.unpack(str(tmp_path / "there"))
    found = {str(path.relative_to(tmp_path / "there")) for path in (tmp_path / "there").rglob("*") if path.is_file()}
    assert found == {"load/shop.py", "data/users.csv"}
    assert (archive.files, archive.folder) == ("load", ".")
    assert Archive(*archive.to_list()) == archive


def test_the_digest_depends_on_names_and_contents_alone(tmp_path: Path) -> None:
    shipments = [_shipment(tmp_path / each, "shop.py", "data.txt") for each in "ab"]
    os.utime(tmp_path / "b" / "data.txt", (1, 1))
    first, second = (Archive.of(each).digest for each in shipments)
    assert first == second
    (tmp_path / "b" / "data.txt").write_text("other")
    assert Archive.of(shipments[1]).digest != first


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    shipment = _shipment(tmp_path, "shop.py")
    (tmp_path / "shop.py").unlink()
    with pytest.raises(UsageError, match=r"shop\.py cannot be sent to the workers: No such file"):
        Archive.of(shipment)


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/plimsoll-outside.txt"])
def test_what_is_unpacked_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        tar.addfile(entry, io.BytesIO(b"x"))
    place = tmp_path / "place"
    place.mkdir()
    with contextlib.suppress(tarfile.TarError):
        Archive(buffer.getvalue(), ".", ".").unpack(str(place))
    assert not (tmp_path / "outside.txt").exists() and not Path("/tmp/plimsoll-outside.txt").exists()


def test_a_compressed_archive_is_none(tmp_path: Path) -> None:
    with pytest.raises(tarfile.TarError):
        Archive(gzip.compress(b"\0" * (1 << 20)), ".", ".").unpack(str(tmp_path))


def test_native_users_have_no_files() -> None:
    assert Archive.of(Shipment()) == Archive(b"", ".", ".")
