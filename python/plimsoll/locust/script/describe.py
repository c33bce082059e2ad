"""Which users and tasks a locustfile has: `python -P -m plimsoll.locust.script.describe FILE… `, JSON on stdout.

A process of its own, because the locustfile's imports and gevent's patches have no business in the coordinator.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from plimsoll.errors import PlimsollError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.users.user import User

Ratio = dict[str, Any]
"""{"Visitor": {"ratio": 0.5, "tasks": {"index": {"ratio": 0.25}}}}, as `--show-task-ratio-json` prints it."""


def describe(paths: Sequence[str], names: Sequence[str], users: int | None = None) -> dict[str, Any]:
    """{"classes": [...], "per_class": Ratio, "total": Ratio}. Raises PlimsollError like a run would.

    users: of so many in all, of which each class has whole ones; None for as many as the weights add up to.
    """
    from plimsoll.run.transport.frames import unpack_error

    answer = told_by("plimsoll.locust.script.describe", [list(paths), list(names), users])
    if "error" in answer:
        raise unpack_error(answer["error"])
    return answer


def told_by(module: str, question: Any, patience: float | None = None) -> dict[str, Any]:
    """What a module says in a process of its own, whose argument is the question as JSON.

    patience: seconds that the locustfile may take. Raises PlimsollError when there is no answer.
    """
    command = [sys.executable, "-P", "-m", module, json.dumps(question, default=str)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, timeout=patience)
        # The locustfile may print as well; ours is the last line.
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired as error:
        raise PlimsollError(f"the locustfile was not imported within {patience:g} s") from error
    except (IndexError, ValueError) as error:
        raise PlimsollError(f"the locustfile ended its process with code {done.returncode}") from error


def ratio_lines(ratios: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Locust's listing of a `Ratio`, to the blanks at the ends of its lines."""
    lines = []
    indent = "  " * depth
    for name, entry in ratios.items():
        share = f"{indent}{100 * entry['ratio']:<6.1f}"
        lines.append(f" {share:<10} {indent + name:<50}")
        lines += ratio_lines(entry.get("tasks", {}), depth + 1)
    return lines


def ratios(classes: Iterable[type[User]], users: Mapping[str, float], *, total: bool) -> Ratio:
    """The shares of these classes, of which there are so many users by name, and of their tasks.

    total: a task's share is that of all tasks, not of those of its user class or TaskSet.
    """
    all_users = sum(users.values()) or 1
    shares = {each: users.get(each.__name__, 0) / all_users for each in classes}
    return {
        each.__name__: {"ratio": share, "tasks": _task_ratio(each, share if total else 1.0, total)}
        for each, share in shares.items()
    }


def _task_ratio(holder: Any, whole: float, total: bool) -> Ratio:
    """The tasks of a user class or TaskSet, which add up to `whole`."""
    tasks: Ratio = {}
    for task, count in Counter(holder.tasks).items():
        share = count * whole / len(holder.tasks)
        nested = {"tasks": _task_ratio(task, share if total else 1.0, total)} if hasattr(task, "tasks") else {}
        tasks[task.__name__] = {"ratio": share, **nested}
    return tasks


def users_of_each(user_classes: Sequence[type[User]], users: int | None) -> dict[str, int]:
    """How many of each class: those with a fixed count first, the others by weight. None: as the weights say."""
    fixed = sum(each.fixed_count for each in user_classes)
    weight = sum(each.weight for each in user_classes if not each.fixed_count)
    weighted = max(0, (users or (1 if fixed else weight)) - fixed)
    return {each.__name__: round(each.fixed_count or each.weight / weight * weighted) for each in user_classes}


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
