"""Which users and tasks a locustfile has: `python -P -m plimsoll.run.describe FILE… `, JSON on stdout.

A process of its own, because the locustfile's imports and gevent's patches have no business in the coordinator.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.users.user import User

Ratio = dict[str, Any]
"""{"Visitor": {"ratio": 0.5, "tasks": {"index": {"ratio": 0.25}}}}, as `--show-task-ratio-json` prints it."""


def describe(paths: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """{"classes": [...], "per_class": Ratio, "total": Ratio}. Raises PlimsollError like a run would."""
    from plimsoll.run.transport import unpack_error

    command = [sys.executable, "-P", "-m", "plimsoll.run.describe", json.dumps([list(paths), list(names)])]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    try:
        # The locustfile may print as well; ours is the last line.
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError) as error:
        raise PlimsollError(f"the locustfile ended its process with code {done.returncode}") from error
    if "error" in answer:
        raise unpack_error(answer["error"])
    return dict(answer)


def ratio_lines(ratios: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Locust's listing of a `Ratio`."""
    lines = []
    for name, entry in ratios.items():
        lines.append(f" {'  ' * depth}* {100 * entry['ratio']:-4.1f}% {name}")
        lines += ratio_lines(entry.get("tasks", {}), depth + 1)
    return lines


def _tree(holder: Any, whole: float) -> Ratio:
    """The tasks of a user class or TaskSet, of which each is picked with its share of `whole`."""
    shares: dict[Any, float] = {}
    for task in holder.tasks:
        shares[task] = shares.get(task, 0.0) + whole / len(holder.tasks)
    return {
        task.__name__: {"ratio": share, **({"tasks": _tree(task, share)} if hasattr(task, "tasks") else {})}
        for task, share in shares.items()
    }


def ratios(classes: Sequence[type[User]], counts: Mapping[str, float], *, total: bool) -> Ratio:
    """The classes by their share of the users, of which there are `counts` by name, and their tasks."""
    whole = sum(counts.values()) or 1
    shares = {each: counts.get(each.__name__, 0) / whole for each in classes}
    return {
        each.__name__: {"ratio": shares[each], "tasks": _tree(each, shares[each] if total else 1.0)} for each in classes
    }


def _main(paths: list[str], names: list[str]) -> dict[str, Any]:
    from plimsoll.run import locustfile
    from plimsoll.run.transport import pack_error

    try:
        loaded = locustfile.load(paths)
        classes = locustfile.pick(loaded, names)
    except PlimsollError as error:
        return {"error": pack_error(error)}
    weights = {each.__name__: each.fixed_count or each.weight for each in classes}
    return {
        "classes": sorted(loaded.user_classes),
        "per_class": ratios(classes, weights, total=False),
        "total": ratios(classes, weights, total=True),
    }


if __name__ == "__main__":
    from plimsoll.locust import install

    install()
    print(f"\n{json.dumps(_main(*json.loads(sys.argv[1])))}", flush=True)
