"""Instructions per exchange of the native loop. Unlike time, they do not depend on other load of the machine."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import BenchError
from .nginx import Nginx
from .subjects import NATIVE

USERS = 1
"""With one user, every turn of the loop has one event. With more, the number depends on timing, and so does the
count."""
SHORT_SECONDS = 2
LONG_SECONDS = 6
END_SECONDS = 60.0


def missing() -> str | None:
    """Why they cannot be counted here; None if they can."""
    if not NATIVE.exists():
        return f"{NATIVE} is not built (cargo build --release --examples)"
    return None if shutil.which("valgrind") else "valgrind is not installed (apt-get install valgrind)"


def measure_instructions(nginx: Nginx) -> float:
    """Instructions per exchange: the difference of two runs, which cancels the startup. Raises BenchError."""
    short, long = (count(f"{nginx.url}/small", seconds) for seconds in (SHORT_SECONDS, LONG_SECONDS))
    if long[1] <= short[1]:
        raise BenchError(f"the longer run made no more requests: {short[1]} and {long[1]}")
    return (long[0] - short[0]) / (long[1] - short[1])


def count(url: str, seconds: int) -> tuple[int, int]:
    """(instructions, requests) of one run under callgrind."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(folder) / 'out'}"]
        command += [str(NATIVE), url, str(USERS), str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + END_SECONDS)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or collected is None:
        raise BenchError(f"callgrind: exit status {done.returncode}\n{done.stderr}")
    return int(collected[1]), int(json.loads(done.stdout)["requests"])
