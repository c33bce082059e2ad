"""A git ref, checked out into a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.experiment.cell_values import CellError

if TYPE_CHECKING:
    from pathlib import Path

GIT_SECONDS = 300.0
"""A check-out of a large repository takes a while."""


@dataclass(frozen=True, slots=True)
class SourceCheckout:
    """The folder of a target's files, and which commit they are."""

    folder: Path
    commit: str | None = None
    """40 hexadecimal digits, of what was checked out; None: nothing was."""


def check_out(repository: Path, ref: str, shared: Path) -> SourceCheckout:
    """The ref as a worktree in `shared`. One commit is checked out once: what was built in there is kept for the cells
    that follow, as long as no file of the commit was changed.

    repository: a folder in it. Raises CellError: no git, no repository, no such ref.
    """
    commit = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", ref=ref)
    folder = shared / "sources" / commit[:12]
    if folder.exists() and not _is_as_committed(folder, commit):
        remove(repository, folder)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        # A worktree whose folder somebody deleted is still listed, and in the way.
        git(repository, "worktree", "prune")
        git(repository, "worktree", "add", "--detach", "--force", str(folder), commit)
    return SourceCheckout(folder, commit)


def clean_up(repository: Path, shared: Path) -> None:
    """Remove all that was checked out into `shared`; the repository forgets it. Complains of nothing."""
    sources = shared / "sources"
    for folder in sorted(sources.iterdir()) if sources.is_dir() else ():
        with contextlib.suppress(CellError):
            remove(repository, folder)
    shutil.rmtree(sources, ignore_errors=True)
    with contextlib.suppress(CellError):
        git(repository, "worktree", "prune")


def remove(repository: Path, folder: Path) -> None:
    """One worktree. Raises CellError."""
    # Twice --force: it may have been locked.
    with contextlib.suppress(CellError):
        git(repository, "worktree", "remove", "--force", "--force", str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    git(repository, "worktree", "prune")


def _is_as_committed(folder: Path, commit: str) -> bool:
    try:
        head = git(folder, "rev-parse", "HEAD")
        return head == commit and not git(folder, "status", "--porcelain", "--untracked-files=no")
    except CellError:
        return False


def git(folder: Path, *words: str, ref: str | None = None) -> str:
    """What it prints. ref: what is asked for, where git has no words of its own."""
    command = ["git", "-C", str(folder), *words]
    # Those who call us from a hook of git's have these set, and they lead elsewhere.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, env=environment,
            timeout=GIT_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise CellError("`git = …` needs git, which is not installed", command=command) from error
    except subprocess.TimeoutExpired as error:
        raise CellError(f"git took more than {GIT_SECONDS:g} s", command=command) from error
    if done.returncode:
        log = done.stderr.splitlines()
        what = f"git = {ref!r}: " if ref else ""
        if ref and not log:
            raise CellError(f"{what}there is no such ref in the repository of {folder}", command=command)
        raise CellError(f"{what}git failed", command=command, ending=f"exit status {done.returncode}", log=log)
    return done.stdout.strip()
