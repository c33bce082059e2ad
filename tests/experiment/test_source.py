from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.source import check_out, clean_up


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With two commits: v1, and what is there now."""
    folder = tmp_path / "repository"
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    for number in ("1", "2"):
        (folder / "app.py").write_text(f"version = {number}\n")
        _git(folder, "add", "app.py")
        _git(folder, "commit", "--quiet", "-m", number)
        _git(folder, "tag", "-a", f"v{number}", "-m", number)
    return folder


def _worktrees(repository: Path) -> list[str]:
    return [
        line for line in _git(repository, "worktree", "list", "--porcelain").splitlines() if line.startswith("work")
    ]


def test_a_ref_is_checked_out_beside_what_is_there(repository: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (repository / "app.py").write_text("version = 3\n")
    made = check_out(repository, "v1", shared)
    assert (made.folder / "app.py").read_text() == "version = 1\n"
    assert made.commit == _git(repository, "rev-parse", "v1^{commit}")
    assert made.folder.is_relative_to(shared)
    assert (repository / "app.py").read_text() == "version = 3\n"


def test_a_commit_is_checked_out_once_and_what_was_built_there_is_kept(repository: Path, tmp_path: Path) -> None:
    made = check_out(repository, "v1", tmp_path / "shared")
    (made.folder / "built").write_text("slowly")
    again = check_out(repository, made.commit or "", tmp_path / "shared")
    assert again == made
    assert (made.folder / "built").exists()
    assert check_out(repository, "main", tmp_path / "shared").folder != made.folder


def test_a_check_out_that_was_changed_is_made_anew(repository: Path, tmp_path: Path) -> None:
    made = check_out(repository, "v1", tmp_path / "shared")
    (made.folder / "app.py").write_text("version = 99\n")
    check_out(repository, "v1", tmp_path / "shared")
    assert (made.folder / "app.py").read_text() == "version = 1\n"


def test_a_check_out_that_somebody_deleted_is_made_anew(repository: Path, tmp_path: Path) -> None:
    made = check_out(repository, "v1", tmp_path / "shared")
    shutil.rmtree(made.folder)
    assert (check_out(repository, "v1", tmp_path / "shared").folder / "app.py").exists()


def test_afterwards_the_repository_knows_nothing_of_it(repository: Path, tmp_path: Path) -> None:
    for ref in ("v1", "v2"):
        check_out(repository, ref, tmp_path / "shared")
    assert len(_worktrees(repository)) == 3
    clean_up(repository, tmp_path / "shared")
    assert len(_worktrees(repository)) == 1
    assert not (tmp_path / "shared" / "sources").exists()
    clean_up(repository, tmp_path / "shared")


@pytest.mark.parametrize("ref", ["v9", "--help", "-b", "no such thing"])
def test_a_ref_that_is_none_is_named(repository: Path, tmp_path: Path, ref: str) -> None:
    with pytest.raises(CellError) as caught:
        check_out(repository, ref, tmp_path / "shared")
    assert caught.value.one_line.startswith(f"git = {ref!r}: there is no such ref")


def test_without_a_repository_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(CellError) as caught:
        check_out(tmp_path, "v1", tmp_path / "shared")
    assert "not a git repository" in caught.value.one_line


def test_without_git_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CellError, match="needs git"):
        check_out(tmp_path, "v1", tmp_path / "shared")


def test_a_hook_of_git_that_calls_us_does_not_lead_us_elsewhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    made = check_out(repository, "v1", tmp_path / "shared")
    monkeypatch.delenv("GIT_DIR")
    assert made.commit == _git(repository, "rev-parse", "v1^{commit}")
