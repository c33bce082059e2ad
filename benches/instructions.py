"""Instructions per exchange of the native loop. Unlike time, they do not depend on other load of the machine.

`python -m benches.instructions` also counts them for the Python users of the benches (about four minutes).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .cases import PLIMSOLL_REALISTIC, PLIMSOLL_TRIVIAL
from .errors import BenchError
from .nginx import Nginx, running_nginx
from .subjects import FOLDER, NATIVE, PlimsollRun

USERS = 1
"""With one user, every turn of the loop has one event. With more, the number depends on timing, and so does the
count."""
SHORT_SECONDS = 2
LONG_SECONDS = 6
END_SECONDS = 180.0
PYTHON_USERS = 20
"""As at full speed, a turn of the loop has many events."""


def missing() -> str | None:
    """Why they cannot be counted here; None if they can."""
    if not NATIVE.exists():
        return f"{NATIVE} is not built (cargo build --release --examples)"
    return None if shutil.which("valgrind") else "valgrind is not installed (apt-get install valgrind)"


def measure_instructions(nginx: Nginx) -> float:
    """Instructions per exchange: the difference of two runs, which cancels the startup. Raises BenchError."""
    return difference(str(NATIVE), f"{nginx.url}/small", str(USERS))


def measure_python_users(nginx: Nginx, subject: PlimsollRun) -> float:
    """Instructions per request of the users of a locustfile. Raises BenchError."""
    file, user = FOLDER / "locustfiles" / str(subject.file), str(subject.user)
    return difference(sys.executable, "-m", "benches.python_users", str(file), user, nginx.url, str(PYTHON_USERS))


def difference(*command: str) -> float:
    """Instructions per request of a command that takes a number of seconds as its last argument. Raises BenchError."""
    short, long = (count([*command, str(seconds)], seconds) for seconds in (SHORT_SECONDS, LONG_SECONDS))
    if long[1] <= short[1]:
        raise BenchError(f"the longer run made no more requests: {short[1]} and {long[1]}")
    return (long[0] - short[0]) / (long[1] - short[1])


def count(command: list[str], seconds: int) -> tuple[int, int]:
    """(instructions, requests) of one run under callgrind."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(folder) / 'out'}"]
        done = subprocess.run(
            [*callgrind, *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + END_SECONDS,
            env={**os.environ, "BENCH_PATH": "/small", "PYTHONHASHSEED": "0"},
        )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or collected is None:
        raise BenchError(f"callgrind: exit status {done.returncode}\n{done.stderr}")
    return int(collected[1]), int(json.loads(done.stdout)["requests"])


def main() -> None:
    """Print the instructions per request of all."""
    with running_nginx() as nginx:
        print(f"{measure_instructions(nginx):9,.0f} native users", flush=True)
        for subject in (*PLIMSOLL_TRIVIAL, *PLIMSOLL_REALISTIC):
            print(f"{measure_python_users(nginx, subject):9,.0f} {subject.name}", flush=True)


if __name__ == "__main__":
    main()
