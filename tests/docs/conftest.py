import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def todos_url() -> Iterator[str]:
    """The todos service of labs/todos on a real PostgreSQL, as the documents' reader would have it on port 8000."""
    lab = subprocess.Popen(
        [sys.executable, "-m", "labs.todos.lab"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with lab:
        assert lab.stdout is not None
        line = lab.stdout.readline()
        assert line, "the todos lab did not start; its own words are above"
        yield line.split()[2]
        lab.terminate()
