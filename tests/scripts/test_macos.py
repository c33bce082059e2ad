"""The engine compiles for macOS, on both CPUs. CI checks it where the code of a platform changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = ("aarch64-apple-darwin", "x86_64-apple-darwin")

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def test_the_engine_compiles_for_macos() -> None:
    added = subprocess.run(
        ["rustup", "--quiet", "target", "add", *TARGETS], capture_output=True, text=True, check=False
    )
    if added.returncode:
        pytest.skip(f"rustup cannot add {TARGETS}: {added.stderr.strip()}")
    done = subprocess.run(["make", "check-macos"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
