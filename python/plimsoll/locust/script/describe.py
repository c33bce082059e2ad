"""Which users and tasks a locustfile has: `python -P -m plimsoll.locust.script.describe FILE… `, JSON on stdout.

A process of its own, because the locustfile's imports and gevent's patches have no business in the coordinator.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError
from plimsoll.locust.inspectuser import ratios, users_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence


def describe(paths: Sequence[str], names: Sequence[str], users: int | None = None) -> dict[str, Any]:
    """{"classes": [...], "per_class": Ratio, "total": Ratio}. Raises PlimsollError like a run would.

    users: of so many in all, of which each class has whole ones; None for as many as the weights add up to.
    """
    from plimsoll.run.transport.frames import unpack_error

    answer = run_module("plimsoll.locust.script.describe", [list(paths), list(names), users])
    if "error" in answer:
        raise unpack_error(answer["error"])
    return answer


def run_module(module: str, question: Any, timeout: float | None = None) -> dict[str, Any]:
    """What a module says in a process of its own, whose argument is the question as JSON.

    timeout: seconds that the locustfile may take. Raises PlimsollError when there is no answer.
    """
    command = [sys.executable, "-P", "-m", module, json.dumps(question, default=str)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, timeout=timeout)
        # The locustfile may print as well; ours is the last line.
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired as error:
        raise PlimsollError(f"the locustfile was not imported within {timeout:g} s") from error
    except (IndexError, ValueError) as error:
        raise PlimsollError(f"the locustfile ended its process with code {done.returncode}") from error


def _main(paths: list[str], names: list[str], users: int | None) -> dict[str, Any]:
    from plimsoll.locust.script import locustfile
    from plimsoll.run.transport.frames import pack_error

    try:
        loaded = locustfile.load(paths)
        classes = locustfile.pick(loaded, names)
    except PlimsollError as error:
        return {"error": pack_error(error)}
    counts = users_of_each(classes, users)
    return {
        "classes": sorted(loaded.user_classes),
        "per_class": ratios(classes, counts, total=False),
        "total": ratios(classes, counts, total=True),
    }


if __name__ == "__main__":
    from plimsoll.locust import install

    install()
    print(f"\n{json.dumps(_main(*json.loads(sys.argv[1])))}", flush=True)
