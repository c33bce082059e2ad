"""crates/README.md says which crates there are and which one knows which: both as cargo sees them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "crates" / "README.md").read_text()
PREFIX = "plimsoll-"

Arrows = dict[str, set[str]]


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
