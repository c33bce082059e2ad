"""Run pytest, and tests that fail once more, alone.

    python -m scripts.repeat_failed COMMAND…    the command is pytest with its arguments

A test that fails among others and passes alone depends on the pace of the machine. Both outcomes are printed, so that
it can be mended; the exit code is that of the second run. More than `MOST` failures have a common reason: they are not
repeated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

MOST = 10
"""Failed tests that are repeated."""

FAILED = 1
"""Pytest's exit code for tests that failed; others say that it could not run them."""


def run(command: list[str], root: Path = ROOT) -> int:
    """Returns the exit code."""
    record = root / ".pytest_cache" / "v" / "cache" / "lastfailed"
    # It keeps what failed in other runs until it passes.
    record.unlink(missing_ok=True)
    code = subprocess.call(command, cwd=root)
    failed = list(json.loads(record.read_text())) if record.exists() else []
    if code != FAILED or not 0 < len(failed) <= MOST:
        return code
    print(f"\nfailed, and repeated alone: {', '.join(failed)}", flush=True)
    # A test that began in time may be repeated at any time.
    unlimited = {name: value for name, value in os.environ.items() if name != "TESTS_BEGIN_BEFORE"}
    code = subprocess.call([*command, "-n", "0", "--last-failed"], cwd=root, env=unlimited)
    outcome = "failed again" if code else "passed alone: these tests depend on the pace of the machine, mend them"
    print(f"{', '.join(failed)}: {outcome}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
