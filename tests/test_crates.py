"""The crates are those of crates/README.md and know each other as it says; no crate's modules import in a circle."""

from __future__ import annotations

import json
import re
import subprocess
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "crates" / "README.md").read_text()
PREFIX = "plimsoll-"

Arrows = dict[str, set[str]]
Module = tuple[str, ...]
"""Path of a module within its crate; empty for lib.rs."""

IMPORT = re.compile(r"^\s*(?:pub(?:\([\w ]+\))? )?use ([^;]+);", re.MULTILINE)
IN_PLACE = re.compile(r"\b(?:crate|super)(?:::\w+)+")
ONLY_TESTS = re.compile(
    r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*(?:mod (\w+);|\S[^\n]*\{\n.*?^\}$|[^\n]*;)", re.MULTILINE | re.DOTALL
)


@pytest.fixture(scope="module")
def arrows() -> Arrows:
    """Crate → the crates of ours that it is built from; those that only its tests need do not count."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return {
        package["name"].removeprefix(PREFIX): {
            dependency["name"].removeprefix(PREFIX)
            for dependency in package["dependencies"]
            if dependency["name"].startswith(PREFIX) and dependency["kind"] is None
        }
        for package in json.loads(done.stdout)["packages"]
        if Path(package["manifest_path"]).is_relative_to(ROOT / "crates")
    }


def test_the_arrows_are_those_of_cargo(arrows: Arrows) -> None:
    drawn = {
        source: set(targets.split(", "))
        for source, targets in re.findall(r"^(\w+) -> ([\w, ]+)$", README, re.MULTILINE)
    }
    assert drawn == {source: targets for source, targets in arrows.items() if targets}


def test_the_table_has_one_line_for_each_crate(arrows: Arrows) -> None:
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\) \|", README, re.MULTILINE)
    assert [name for name, _ in listed] == [folder for _, folder in listed]
    assert sorted(name for name, _ in listed) == sorted(arrows)
    assert sorted(arrows) == sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml"))


def test_what_is_at_the_bottom_knows_nobody_and_the_skin_is_known_by_nobody(arrows: Arrows) -> None:
    for crate in ("schedule", "http", "record"):
        assert arrows[crate] == set(), crate
    assert "python" not in set().union(*arrows.values())


@pytest.mark.parametrize("crate", sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")))
def test_the_modules_of_a_crate_do_not_import_in_a_circle(crate: str) -> None:
    arrows = module_arrows(read_sources(ROOT / "crates" / crate / "src"))
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(f"{crate}: {' <- '.join(error.args[1])}")


def test_a_circle_through_a_name_of_the_crates_root_is_found() -> None:
    sources: dict[Module, str] = {
        (): "mod a;\npub mod b;\npub use a::{Left, inner::Other as Another};\n",
        ("a",): "use crate::{\n    b::{self, Right},\n};\nmod inner;\n",
        ("a", "inner"): "use super::Left; // a part of `a`: no arrow\n",
        ("b",): "fn f() -> crate::Another {}\n#[cfg(test)]\nmod tests {\n    use crate::c::Only;\n}\n",
        ("c",): "// crate::b::Right\nuse std::io;\n",
    }
    assert module_arrows(sources) == {"a": {"b"}, "b": {"a"}}


def read_sources(folder: Path) -> dict[Module, str]:
    """Text by module, without modules that only tests have."""
    sources = {}
    for path in sorted(folder.rglob("*.rs")):
        module = path.relative_to(folder).with_suffix("").parts
        sources[() if module == ("lib",) else module] = path.read_text()
    only_tests = {
        (*module, found[1]) for module, text in sources.items() for found in ONLY_TESTS.finditer(text) if found[1]
    }
    return {module: text for module, text in sources.items() if module not in only_tests}


def module_arrows(sources: dict[Module, str]) -> Arrows:
    """Module → the modules beside it that it, or a part of it, imports. A module and its parts are one."""
    imports = {module: set(imported_paths(module, text)) for module, text in sources.items()}
    # A name at the root of the crate stands for the module that the root has it from.
    origins = {path[-1]: path[:-1] for path in imports[()]}
    arrows: Arrows = {}
    for module, paths in imports.items():
        for path in paths:
            target = path if path[:1] in sources else origins.get(path[0], path)
            depth = next((at for at, (a, b) in enumerate(zip(module, target, strict=False)) if a != b), None)
            if depth is not None and target[: depth + 1] in sources:
                arrows.setdefault("::".join(module[: depth + 1]), set()).add("::".join(target[: depth + 1]))
    return arrows


def imported_paths(module: Module, text: str) -> list[Module]:
    """Paths from the root of the crate of what a module names in it, tests and comments aside."""
    code = re.sub(r"//.*", "", ONLY_TESTS.sub("", text))
    paths = [path for found in IMPORT.finditer(code) for path in leaves(re.sub(r"\s+", " ", found[1]).strip())]
    paths += [found[0].split("::") for found in IN_PLACE.finditer(IMPORT.sub("", code))]
    inside = []
    for first, *rest in paths:
        if first == "crate":
            inside.append(tuple(rest))
        elif first in ("super", "self"):
            up = 0 if first == "self" else 1 + next(at for at, name in enumerate([*rest, ""]) if name != "super")
            inside.append((*module[: len(module) - up], *rest[max(up - 1, 0) :]))
        elif not module:
            inside.append((first, *rest))
    return [path for path in inside if path]


def leaves(tree: str) -> list[list[str]]:
    """`a::{b, c::d as e}` → a::b, a::c::e."""
    head, brace, body = tree.partition("{")
    if not brace:
        *folders, name = tree.split("::")
        return [folders if name == "self" else [*folders, name.split(" as ")[-1].strip()]]
    depth, parts = 0, [""]
    for letter in body.rstrip()[:-1]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    prefix = head.strip().removesuffix("::").split("::")
    return [prefix + leaf for part in parts if part.strip() for leaf in leaves(part.strip())]
