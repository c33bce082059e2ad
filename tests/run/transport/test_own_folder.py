"""Folders of processes that end well, are killed, or go on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.transport.own_folder import LOCK, PREFIX, OwnFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER = """
import sys
from plimsoll.run.transport.own_folder import OwnFolder
folder = OwnFolder()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def _folder_of(owner: subprocess.Popen[str]) -> Path:
    assert owner.stdout is not None
    return Path(owner.stdout.readline().strip())


def test_it_is_removed_with_what_is_in_it(temporary: Path) -> None:
    with OwnFolder() as folder:
        (Path(folder.path) / "data.txt").write_text("some data")
        assert list(temporary.iterdir()) == [Path(folder.path)]
    assert list(temporary.iterdir()) == []
    folder.close()


def test_that_of_a_killed_process_is_removed_when_the_next_one_is_made(owner: subprocess.Popen[str]) -> None:
    left = _folder_of(owner)
    (left / "below").mkdir()
    with OwnFolder():
        assert left.exists(), "its process is there"
    owner.kill()
    owner.wait()
    assert left.exists()
    with OwnFolder() as folder:
        assert not left.exists() and Path(folder.path).exists()


def test_what_is_not_certainly_left_over_stays(temporary: Path, owner: subprocess.Popen[str]) -> None:
    new = temporary / f"{PREFIX}without-a-lock"
    new.mkdir()
    other = temporary / "plimsoll-other"
    other.mkdir()
    (other / LOCK).touch()
    link = temporary / f"{PREFIX}link"
    link.symlink_to(other)
    with OwnFolder():
        pass
    assert sorted(temporary.iterdir()) == sorted([new, other, link]) and (other / LOCK).exists()
    if os.getuid() == 0:
        foreign = _folder_of(owner)
        owner.kill()
        owner.wait()
        os.chown(foreign, 1234, 1234)
        with OwnFolder():
            assert foreign.exists()
