"""What the engine is made of takes any bytes."""

import subprocess
import sys
import tomllib

import pytest
from fuzz.engine import FOLDER, TARGETS

SECONDS = 10


def test_the_lock_file_has_what_the_crates_need() -> None:
    """Else nothing is built: `make fuzz` keeps to it."""
    locked = {each["name"]: each for each in tomllib.loads((FOLDER / "Cargo.lock").read_text())["package"]}
    crates = [name for name in locked if name.startswith("plimsoll-") and name != "plimsoll-fuzz"]
    assert len(crates) >= 6
    for name in crates:
        manifest = tomllib.loads((FOLDER.parent / "crates" / name.removeprefix("plimsoll-") / "Cargo.toml").read_text())
        tables = [manifest, *manifest.get("target", {}).values()]
        needed = {each for table in tables for each in table.get("dependencies", {})}
        assert needed == {each.split()[0] for each in locked[name].get("dependencies", ())}, name


def test_each_target_has_seeds_and_is_described() -> None:
    assert TARGETS == ("content", "decoder", "events", "grpc", "histogram", "http2", "scenario", "websocket")
    guide = (FOLDER / "README.md").read_text()
    for target in TARGETS:
        assert list((FOLDER / "seeds" / target).iterdir())
        assert f"| `{target}` |" in guide


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(900)  # it builds, too
def test_nothing_is_found() -> None:
    command = [sys.executable, "-m", "fuzz.engine", "--seconds", str(SECONDS)]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    assert done.returncode == 0, done
    assert done.stdout.count("nothing found") == len(TARGETS)
