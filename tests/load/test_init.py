from __future__ import annotations

import subprocess
import sys

import pytest

import plimsoll.load


def test_every_public_name_is_there() -> None:
    for name in plimsoll.load.__all__:
        assert getattr(plimsoll.load, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing"):
        plimsoll.load.nothing  # noqa: B018


def test_values_come_without_what_reads_plans() -> None:
    code = "import sys; from plimsoll.load import Load; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_process_of_a_run_starts_without_what_reads_plans() -> None:
    code = "import sys, plimsoll.locust.script.process; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
