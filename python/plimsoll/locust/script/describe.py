"""The users and tasks of a locustfile: `python -P -m plimsoll.locust.script.describe FILE… `, JSON on stdout.

A separate process, because the locustfile's imports and gevent's patches must not affect the coordinator.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.locust import install
from plimsoll.locust.inspectuser import get_ratio, users_of_each
from plimsoll.run.program import calling_program
from plimsoll.run.transport.frames import pack_error, unpack_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def describe(paths: Sequence[str], names: Sequence[str], users: int | None = None) -> dict[str, Any]:
    """{"classes": [...], "per_class": Ratio, "total": Ratio}. Raises PlimsollError like a run would.

    users: the total, split into whole users per class; None for as many as the sum of the weights.
    """
    return run_module("plimsoll.locust.script.describe", [list(paths), list(names), users])


def run_module(module: str, question: Any, timeout: float | None = None) -> dict[str, Any]:
    """The result of a module in a separate process; the module calls `answer`.

    timeout: seconds for the locustfile. Raises PlimsollError without a result, or the error in the result.
    """
    text = json.dumps(question, default=str)
    command = [sys.executable, "-P", "-m", module, text]
    code = 0
    try:
        if (program := calling_program()) is not None:
            printed = program.answer(module, text, timeout)
        else:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, timeout=timeout
            )
            printed, code = done.stdout, done.returncode
        # The locustfile may print as well; ours is the last line.
        found = dict(json.loads(printed.splitlines()[-1]))
    except subprocess.TimeoutExpired as error:
        raise PlimsollError(f"the locustfile was not imported within {timeout:g} s") from error
    except (IndexError, ValueError) as error:
        raise PlimsollError(f"the locustfile ended its process with code {code}") from error
    if "error" in found:
        raise unpack_error(found["error"])
    return found


def answer(main: Callable[[Any], dict[str, Any]], question: str) -> None:
    """Print the result of `main` for the question of `run_module`, or the PlimsollError that it raises."""
    install()
    try:
        found = main(json.loads(question))
    except PlimsollError as error:
        found = {"error": pack_error(error)}
    print(f"\n{json.dumps(found)}", flush=True)


def _main(question: tuple[list[str], list[str], int | None]) -> dict[str, Any]:
    # Here, because these patch modules on import.
    from plimsoll.locust.script import locustfile

    paths, names, users = question
    loaded = locustfile.load(paths)
    classes = locustfile.pick(loaded, names)
    counts = users_of_each(classes, users)
    return {
        "classes": sorted(loaded.user_classes),
        "per_class": get_ratio(classes, counts, total=False),
        "total": get_ratio(classes, counts, total=True),
    }


def respond(question: str) -> None:
    """In the separate process."""
    answer(_main, question)


if __name__ == "__main__":
    respond(sys.argv[1])
