"""What whoever installs the package gets."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MATURIN = Path(sys.executable).with_name("maturin")
PAGE = ("web/__init__.py", "web/report.js", "web/report.css", "web/live/index.html")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of the files in a source distribution, within the package."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([MATURIN, "sdist", "-o", folder], cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        return [name.split("/python/plimsoll/")[1] for name in opened.getnames() if "/python/plimsoll/" in name]


@pytest.mark.parametrize("name", PAGE)
def test_the_built_page_is_in_the_package_though_git_ignores_it(names: list[str], name: str) -> None:
    assert name in names


def test_the_live_page_brings_what_its_document_names(names: list[str]) -> None:
    built = sorted(str(path.relative_to(ROOT / "python/plimsoll")) for path in _built() if path.is_file())
    assert any(name.endswith(".js") for name in built)
    assert [name for name in names if name.startswith("web/live/assets/")] != []
    assert set(built) <= set(names)


def test_a_wheel_has_the_page_as_a_source_distribution_has() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (page,) = (each for each in settings["tool"]["maturin"]["include"] if "plimsoll/web/" in each["path"])
    assert sorted(page["format"]) == ["sdist", "wheel"]


def test_nothing_that_builds_the_page_is_in_the_package(names: list[str]) -> None:
    assert not [name for name in names if "node_modules" in name or name.endswith((".ts", ".tsx"))]


def _built() -> list[Path]:
    return list((ROOT / "python/plimsoll/web/live").rglob("*"))
