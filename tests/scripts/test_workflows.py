"""The workflows of GitHub: what they run is here, what they use is pinned, and nothing is published but by a tag."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts import published

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def _jobs(name: str) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"]
    return jobs


@pytest.mark.parametrize("path", [*FILES, ROOT / "action.yml"], ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    used = [line.strip().removeprefix("- ") for line in path.read_text().splitlines() if "uses: " in line]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_commands_of_workflows_exist_and_take_no_text_from_expressions(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        for command in [step["run"] for step in job["steps"] if "run" in step]:
            assert "${{" not in command
            assert set(re.findall(r"\bmake ([\w-]+)", command)) <= targets
            for name in re.findall(r"(?:^|[ /\"])((?:scripts|\.ci)/[\w.-]+)", command):
                assert (ROOT / name).exists(), name


def test_only_jobs_of_a_tag_may_write_anything() -> None:
    for name, job in _jobs("release.yml").items():
        writes = [key for key, value in job.get("permissions", {}).items() if value == "write"]
        is_of_tag = job.get("if") == "github.ref_type == 'tag'"
        assert is_of_tag or set(writes) <= {"id-token", "attestations"}, name
    assert all("permissions" not in job for job in _jobs("ci.yml").values())


def test_what_is_published_was_checked_and_has_checksums() -> None:
    jobs = _jobs("release.yml")
    assert {"linux", "macos"} == set(jobs["files"]["needs"])
    assert jobs["index"]["needs"] == "files"
    assert "index" in jobs["page"]["needs"]
    assert any("make release-check" in step.get("run", "") for step in jobs["linux"]["steps"])


def test_a_tag_must_be_the_version_of_the_sources() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "published.py")]
    fine = subprocess.run([*command, "tag", f"v{published.version()}"], capture_output=True, text=True, check=False)
    assert (fine.returncode, fine.stderr) == (0, "")
    wrong = subprocess.run([*command, "tag", "v99.0.0"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert f"the tag is v99.0.0 and Cargo.toml says {published.version()}" in wrong.stderr
    assert subprocess.run([*command, "tags"], capture_output=True, check=False).returncode == 2


def test_checksums_are_of_every_file_and_as_the_system_checks_them(tmp_path: Path) -> None:
    for name in ("a.whl", "sbom.cdx.json", "SHA256SUMS"):
        (tmp_path / name).write_text(name)
    assert published.write_checksums(tmp_path) == 2
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "a.whl: OK\nsbom.cdx.json: OK\n"
