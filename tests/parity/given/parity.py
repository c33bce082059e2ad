"""What a parity case can write down: `note("what", value)`. Imported by locustfiles and by probe.py, under either tool.

One file per process, a line of JSON per happening, in the order in which they happened.
"""

import json
import os
from pathlib import Path

MOST = 1000
"""Lines of a file: a case that does not end would fill the disk."""

written = {}


def note(what, value=None):
    """Something that the case wants to be equal under both tools."""
    write("note", what, plain(value))


def write(kind, name, value):
    pid = os.getpid()
    written[pid] = written.get(pid, 0) + 1
    if written[pid] > MOST:
        return
    with (Path(os.environ["PARITY_OUT"]) / f"happened.{pid}.jsonl").open("a") as file:
        file.write(json.dumps([kind, name, value]) + "\n")


def plain(value):
    """The value as JSON has it. Of what JSON has not: an exception's type, text and arguments, else the type's name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, BaseException):
        return {"type": type(value).__name__, "text": str(value), "repr": repr(value)}
    return f"<{type(value).__name__}>"
