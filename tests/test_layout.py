"""What holds for all files of the package: how many there are together, how long they are, what they are called.

`lint-imports` checks which package may import which; here it is about single modules.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "plimsoll"
MOST_FILES, LEAST_LINES, MOST_LINES = 25, 40, 500

MIRRORS = ("locust/", "store/migrations/")
"""Folders whose files are small because others say which there are: Locust's modules, versions of the schema."""

LARGE_FOLDERS: set[str] = set()
"""Those that have too many files. The list only shrinks."""

SHORT_FILES = {
    "__main__.py", "cli/completion.py", "cli/show.py", "demo/shop.py",
}  # fmt: skip
"""Files that might be part of another. The list only shrinks."""

LONG_FILES: set[str] = set()
"""Files that are too long. The list only shrinks."""

SHARED_NAMES: set[str] = set()
"""Public classes of the same name in several modules. The list only shrinks."""


def files() -> dict[str, list[str]]:
    """{path within the package: lines}"""
    found = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text().splitlines() for path in found}


FILES = files()


def check(found: set[str], listed: set[str], rule: str) -> None:
    assert found - listed == set(), rule
    assert listed - found == set(), "these are fine by now: take them off the list"


def test_a_folder_has_few_files() -> None:
    folders = defaultdict(int)
    for path in FILES:
        folders[path.rpartition("/")[0]] += 1
    large = {folder for folder, number in folders.items() if number > MOST_FILES}
    check(large, LARGE_FOLDERS, f"more than {MOST_FILES} files: make folders of them")


def test_a_file_is_long_enough_to_be_one() -> None:
    short = {
        path for path, lines in FILES.items()
        if len(lines) < LEAST_LINES and not path.endswith("__init__.py") and not path.startswith(MIRRORS)
    }  # fmt: skip
    check(short, SHORT_FILES, f"less than {LEAST_LINES} lines: make it part of the file that it is about")


def test_a_file_is_short_enough_to_be_read() -> None:
    long = {path for path, lines in FILES.items() if len(lines) > MOST_LINES}
    check(long, LONG_FILES, f"more than {MOST_LINES} lines: split it by subject")


def test_the_name_of_a_public_class_says_which_it_is() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for path, lines in FILES.items():
        for node in ast.parse("\n".join(lines)).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(path)
    shared = {name for name, paths in where.items() if len(paths) > 1}
    check(shared, SHARED_NAMES, f"in several modules: {[where[name] for name in shared - SHARED_NAMES]}")


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("plimsoll", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > len(FILES) / 2
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
