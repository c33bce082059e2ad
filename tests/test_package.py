"""What whoever installs the package gets."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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


def test_the_package_imports_nothing_that_only_tests_have() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    asked = {Requirement(each).name for each in project["dependencies"]}
    asked |= {Requirement(each).name for extra in project["optional-dependencies"].values() for each in extra}
    groups = settings["dependency-groups"]
    lines = [*groups["tests"], *(line for line in groups["dev"] if isinstance(line, str))]
    for_tests = {Requirement(line).name for line in lines} - asked
    assert "scipy" in for_tests
    imported = {name for path in (ROOT / "python/plimsoll").rglob("*.py") for name in _imported(path)}
    brought = {name: set(packages) for name, packages in packages_distributions().items() if name in imported}
    assert [name for name, packages in brought.items() if packages & for_tests and not packages & asked] == []


def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}


def _built() -> list[Path]:
    return list((ROOT / "python/plimsoll/web/live").rglob("*"))
