"""What the engine is made of takes any bytes."""

import subprocess
import sys

import pytest
from fuzz.engine import FOLDER, TARGETS

SECONDS = 10


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
