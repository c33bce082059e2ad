"""The name that pip installs is one, wherever people read it, and what replaces our files is noticed."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import plimsoll
from plimsoll.distribution import NAME, foreign_files, pip_install, with_extra

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTALLS = re.compile(r"(?:pip3?|pipx|uv tool|uv pip) install (?:--?[\w-]+ )*['\"]?(?P<what>plimsoll[\w.-]*)")
WITH_EXTRA = re.compile(r"\bplimsoll(?:-lab)?\[(?P<extra>[a-z,]+)\]")
SUFFIXES = {".md", ".py", ".yml", ".yaml", ".toml"}
STRANGER = 'NAME = "plimsoll"\n__version__ = "0.0.1"\n'


def _texts() -> dict[str, str]:
    """All that people read and machines install from."""
    paths = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "action.yml")]
    for folder in ("docs", "python", "container", "deploy", "scripts", "labs"):
        paths += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in paths
        if ".venv" not in path.parts and "node_modules" not in path.parts
    }


def test_the_distribution_is_named_once() -> None:
    assert PROJECT["name"] == NAME
    assert pip_install("otlp") == "pip install 'plimsoll-lab[otlp]'"


def test_every_line_that_installs_names_it() -> None:
    wrong = [
        f"{path}: {match[0]}"
        for path, text in _texts().items()
        for match in INSTALLS.finditer(text)
        if match["what"].rstrip(".") != NAME
    ]
    assert wrong == []
    assert re.findall(r"\{PACKAGE:-([\w-]+)\$release\}", (ROOT / "action.yml").read_text()) == [NAME]


def test_every_extra_that_is_named_exists_and_is_of_it() -> None:
    extras = set(PROJECT["optional-dependencies"])
    for path, text in _texts().items():
        for match in WITH_EXTRA.finditer(text):
            assert with_extra(match["extra"]) == match[0], path
            assert set(match["extra"].split(",")) <= extras, f"{path}: {match[0]}"


def test_a_wrong_line_is_seen() -> None:
    text = "pip install plimsoll\nuv tool install --pre plimsoll-lab"
    assert [match["what"] for match in INSTALLS.finditer(text)] == ["plimsoll", "plimsoll-lab"]


def test_nothing_is_said_of_our_own_files() -> None:
    assert foreign_files() is None


@pytest.mark.parametrize("initial", [STRANGER, None], ids=["replaced", "removed with the other project"])
def test_the_command_says_so_when_another_project_has_replaced_files(tmp_path: Path, initial: str | None) -> None:
    package = tmp_path / "plimsoll"
    package.mkdir()
    for path in Path(plimsoll.__file__).parent.iterdir():
        if path.name not in {"__init__.py", "__pycache__"}:
            (package / path.name).symlink_to(path)
    if initial is not None:
        (package / "__init__.py").write_text(initial)
    # Without the .pth file by which a clone's environment finds this package.
    paths = [str(tmp_path), sysconfig.get_path("purelib")]
    code = f"import sys; sys.path[:0] = {paths}; from plimsoll.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, "runs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("plimsoll: another project called plimsoll has replaced files of this one. Run: pip ")
    assert f"pip install --force-reinstall --no-deps {NAME}\n" in done.stderr
