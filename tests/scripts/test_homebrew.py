"""The Homebrew formula has exactly the dependencies of the wheel, with the addresses and checksums that pip gives."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from scripts import homebrew
from scripts.homebrew import CPUS, FORMULA, UNKNOWN, Wheel, formula, of_report, own_name, resources
from scripts.release import distributions

TEXT = FORMULA.read_text()
REPORT = """{"install": [{"metadata": {"name": "Zope.Event"}, "download_info": {
    "url": "https://x.example/zope_event-6.2-py3-none-any.whl", "archive_info": {"hashes": {"sha256": "%s"}}}}]}"""


@pytest.mark.parametrize("cpu", CPUS)
def test_the_resources_are_the_dependencies_of_the_wheel(cpu: str) -> None:
    names = [wheel.name for wheel in resources(TEXT)[cpu]]
    assert names == sorted(set(names))
    assert set(names) == {re.sub(r"[-_.]+", "-", part.name).lower() for part in distributions()}


@pytest.mark.parametrize("cpu", CPUS)
def test_their_versions_are_allowed(cpu: str) -> None:
    versions = {wheel.name: wheel.version for wheel in resources(TEXT)[cpu]}
    for text in homebrew.requirements():
        requirement = Requirement(text)
        assert versions[requirement.name] in requirement.specifier


def test_a_formula_says_what_it_was_made_of() -> None:
    shared = Wheel("alembic", "https://x.example/alembic-1.20-py3-none-any.whl", "a" * 64)
    wheels = {cpu: [shared, Wheel("numpy", f"https://x.example/numpy-2.4-{cpu}.whl", "b" * 64)] for cpu in CPUS}
    assert resources(formula(wheels, dict.fromkeys(CPUS, UNKNOWN))) == wheels
    # The file in the repository is as the script writes it.
    assert formula(resources(TEXT), dict.fromkeys(CPUS, UNKNOWN)) == TEXT


def test_a_name_is_as_the_index_compares_it() -> None:
    (wheel,) = of_report(REPORT % ("c" * 64))
    assert (wheel.name, wheel.version, wheel.sha256) == ("zope-event", "6.2", "c" * 64)


def test_a_release_has_the_checksums_of_its_wheels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"homebrew: .*arm64\.whl is not there"):
        homebrew.main(["release", str(tmp_path)])
    for cpu in CPUS:
        (tmp_path / own_name(cpu)).write_text(cpu)
    assert homebrew.main(["release", str(tmp_path)]) == 0
    text = (tmp_path / FORMULA.name).read_text()
    assert UNKNOWN in TEXT
    assert UNKNOWN not in text
    for cpu in CPUS:
        lines = text.partition(own_name(cpu))[2].splitlines()
        assert lines[1].strip() == f'sha256 "{hashlib.sha256(cpu.encode()).hexdigest()}"'
    assert homebrew.main(["formula"]) == 2


@pytest.mark.skipif(shutil.which("ruby") is None, reason="Ruby is not installed")
def test_ruby_can_read_it() -> None:
    done = subprocess.run(["ruby", "-c", str(FORMULA)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_pip_gives_the_same_files() -> None:
    assert homebrew.differences() == []
