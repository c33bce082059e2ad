"""The shares of user classes and tasks, as printed by `--show-task-ratio`, for programs."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.users.user import User


Ratio = dict[str, Any]
"""{"Visitor": {"ratio": 0.5, "tasks": {"index": {"ratio": 0.25}}}}, as printed by `--show-task-ratio-json`."""


def print_task_ratio(user_classes: Sequence[type[User]], num_users: int | None, total: bool) -> None:
    """Print the ratios for this number of users, one per line."""
    print("\n".join(ratio_lines(get_ratio(user_classes, users_of_each(user_classes, num_users), total))))


def print_task_ratio_json(user_classes: Sequence[type[User]], num_users: int | None) -> None:
    """Print both as JSON."""
    counts = users_of_each(user_classes, num_users)
    both = {"per_class": get_ratio(user_classes, counts, False), "total": get_ratio(user_classes, counts, True)}
    print(json.dumps(both, indent=4))


def ratio_lines(ratios: Mapping[str, Any], depth: int = 0) -> list[str]:
    """Locust's listing of a `Ratio`, including its trailing blanks."""
    lines = []
    indent = "  " * depth
    for name, entry in ratios.items():
        share = f"{indent}{100 * entry['ratio']:<6.1f}"
        lines.append(f" {share:<10} {indent + name:<50}")
        lines += ratio_lines(entry.get("tasks", {}), depth + 1)
    return lines


def get_ratio(user_classes: Iterable[type[User]], user_spawned: Mapping[str, float], total: bool) -> Ratio:
    """The shares of these classes, given the number of users by name, and of their tasks.

    total: a task's share is of all tasks, not of those of its user class or TaskSet.
    """
    all_users = sum(user_spawned.values()) or 1
    shares = {each: user_spawned.get(each.__name__, 0) / all_users for each in user_classes}
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
    """The number of users of each class: fixed counts first, the others by weight. None: the weights themselves."""
    fixed = sum(each.fixed_count for each in user_classes)
    weight = sum(each.weight for each in user_classes if not each.fixed_count)
    weighted = max(0, (users or (1 if fixed else weight)) - fixed)
    return {each.__name__: round(each.fixed_count or each.weight / weight * weighted) for each in user_classes}
