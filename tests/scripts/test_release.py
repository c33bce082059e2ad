"""What a release is checked for."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import version

import pytest
from scripts.release import ROOT, Part, bill, crates, distributions, faults, modules

from plimsoll.distribution import NAME


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("", False),
    ],
)
def test_licences_that_are_fine(licence, is_fine):
    assert Part("cargo", "x", "1", licence).is_fine is is_fine


def test_all_that_is_bundled_is_listed_with_its_licence():
    parts = sorted({*crates(), *modules(), *distributions()})
    names = {(each.kind, each.name) for each in parts}
    assert {("cargo", "mio"), ("cargo", "rustls"), ("npm", "preact"), ("pypi", "numpy"), ("pypi", "gevent")} <= names
    assert not {("cargo", "proptest"), ("cargo", "rcgen"), ("npm", "vitest"), ("pypi", "pytest")} & names
    assert [each.purl for each in parts if not each.is_fine] == []


def test_the_bill_names_each_part_once_and_is_the_same_again():
    parts = [Part("cargo", "a", "1", "MIT/Apache-2.0"), Part("npm", "@b/c", "2", "")]
    found = bill(parts, "0.1.0")
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert [each["purl"] for each in found["components"]] == ["pkg:cargo/a@1", "pkg:npm/%40b/c@2"]
    assert found["components"][0]["licenses"] == [{"expression": "MIT OR Apache-2.0"}]
    assert "licenses" not in found["components"][1]
    assert json.dumps(found) == json.dumps(bill(parts, "0.1.0"))


def test_what_is_in_the_way(tmp_path):
    found = list(faults([Part("cargo", "a", "1", "GPL-3.0-only")], "9.9.9", tmp_path))
    assert found[0] == "CHANGELOG.md has no heading for 9.9.9"
    assert found[1] == "pkg:cargo/a@1: licence 'GPL-3.0-only'"
    assert sum("has no wheel for" in each for each in found) == 4
    assert "no source distribution" in found[-1]


def test_the_version_stands_in_one_place():
    known = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert version(NAME) == known
    assert f"## {known}" in (ROOT / "CHANGELOG.md").read_text()
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
