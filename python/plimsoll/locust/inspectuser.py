"""How the tasks of user classes share out the users: what `--show-task-ratio` prints, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plimsoll.locust.script.describe import ratio_lines, ratios, users_of_each

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.locust.script.describe import Ratio
    from plimsoll.users.user import User


def get_ratio(user_classes: Sequence[type[User]], user_spawned: Mapping[str, int], total: bool) -> Ratio:
    """The share of every class of which so many users are spawned, and of its tasks: within the class, or of all."""
    return ratios(user_classes, user_spawned, total=total)


def print_task_ratio(user_classes: Sequence[type[User]], num_users: int | None, total: bool) -> None:
    """Print them for so many users, a line each."""
    print("\n".join(ratio_lines(get_ratio(user_classes, users_of_each(user_classes, num_users), total))))


def print_task_ratio_json(user_classes: Sequence[type[User]], num_users: int | None) -> None:
    """Print both as JSON."""
    counts = users_of_each(user_classes, num_users)
    both = {"per_class": get_ratio(user_classes, counts, False), "total": get_ratio(user_classes, counts, True)}
    print(json.dumps(both, indent=4))
