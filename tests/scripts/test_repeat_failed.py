"""Failed tests are repeated once, alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from scripts.repeat_failed import MOST, run

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-m", "pytest", "-q", "-n"]

ONCE = """
from pathlib import Path

def test_that_passes():
    count = Path("passed")
    count.write_text(count.read_text() + "x" if count.exists() else "x")

def test_that_fails_once():
    first = Path("first")
    if not first.exists():
        first.touch()
        raise AssertionError("the machine was busy")
"""


def test_a_test_that_passes_alone_is_named_and_the_others_run_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_a.py").write_text(ONCE)
    assert run([*COMMAND, "2"], tmp_path) == 0
    assert (tmp_path / "passed").read_text() == "x"
    out = capfd.readouterr().out
    assert "the machine was busy" in out
    assert "failed, and repeated alone: test_a.py::test_that_fails_once\n" in out
    assert out.endswith("test_a.py::test_that_fails_once: passed alone: "
                        "these tests depend on the pace of the machine, mend them\n")  # fmt: skip


def test_a_repetition_has_no_end_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTS_BEGIN_BEFORE", "1")
    (tmp_path / "test_a.py").write_text(
        "import os\n\ndef test_a():\n    assert 'TESTS_BEGIN_BEFORE' not in os.environ\n"
    )
    assert run([*COMMAND, "0"], tmp_path) == 0


@pytest.mark.parametrize(("count", "repeated"), [(1, True), (MOST + 1, False)])
def test_a_fault_fails(count: int, repeated: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_a.py").write_text("".join(f"def test_{n}(): assert False\n" for n in range(count)))
    assert run([*COMMAND, "0"], tmp_path) == 1
    assert ("failed again\n" in capfd.readouterr().out) is repeated


def test_what_is_no_failure_of_a_test_is_not_repeated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass")
    assert (run([*COMMAND, "0"], tmp_path), run([*COMMAND, "0", "--nonsense"], tmp_path)) == (0, 4)
    assert "alone" not in capfd.readouterr().out
