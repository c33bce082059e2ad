import resource
import subprocess
import sys
from pathlib import Path

import pytest
from benches import files

ROOT = Path(files.__file__).parents[1]
LIMIT = 300


def within_a_limit(expression: str) -> str:
    """What `expression` is in a process that may open LIMIT files, and has no right to raise that."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT // 2, LIMIT))

    program = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from benches.files import allowed_files, processes_for
limits = lambda: resource.getrlimit(resource.RLIMIT_NOFILE)
print(({expression}))"""
    done = subprocess.run([sys.executable, "-c", program], preexec_fn=limit, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def may_raise() -> bool:
    return within_a_limit(f"allowed_files({LIMIT + 1})") != str(LIMIT)


def test_the_soft_limit_is_raised_as_far_as_needed() -> None:
    assert within_a_limit(f"allowed_files({LIMIT - 50}), limits()") == str((LIMIT - 50, (LIMIT - 50, LIMIT)))
    assert within_a_limit("allowed_files(10), limits()[0]") == str((10, LIMIT // 2))


def test_what_one_process_may_not_have_is_spread_over_several() -> None:
    if may_raise():
        pytest.skip("this user may raise the hard limit")
    room = LIMIT - files.SPARE
    assert within_a_limit(f"allowed_files({2 * LIMIT}), limits()") == str((LIMIT, (LIMIT, LIMIT)))
    for connections, processes in ((1, 1), (room, 1), (room + 1, 2), (5 * room, 5)):
        assert within_a_limit(f"processes_for({connections})") == str(processes)
