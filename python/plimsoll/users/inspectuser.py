"""How the tasks of user classes share out the users: what `--show-task-ratio` prints, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from plimsoll.run.describe import ratio_lines, ratios

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.run.describe import Ratio
    from plimsoll.users.user import User


def get_ratio(user_classes: Sequence[type[User]], user_spawned: Mapping[str, int], total: bool) -> Ratio:
    """The share of every class of which so many users are spawned, and of its tasks: within the class, or of all."""
    return ratios(user_classes, user_spawned, total=total)


def print_task_ratio(user_classes: Sequence[type[User]], num_users: int | None, total: bool) -> None:
    """Print them for so many users, a line each."""
    print("\n".join(ratio_lines(get_ratio(user_classes, _shared_out(user_classes, num_users), total))))


def print_task_ratio_json(user_classes: Sequence[type[User]], num_users: int | None) -> None:
    """Print both as JSON."""
    counts = _shared_out(user_classes, num_users)
    both = {"per_class": get_ratio(user_classes, counts, False), "total": get_ratio(user_classes, counts, True)}
    print(json.dumps(both, indent=4))


def _shared_out(user_classes: Sequence[type[User]], num_users: int | None) -> dict[str, int]:
    """Users of each class out of num_users: those with a fixed_count first, the rest by weight. Each is rounded by
    itself, as in Locust, so that they need not add up."""
    weights = sum(each.weight for each in user_classes if not each.fixed_count)
    fixed = sum(each.fixed_count for each in user_classes)
    left = max(0, (num_users or (1 if fixed else weights)) - fixed)
    return {each.__name__: each.fixed_count or round(each.weight / weights * left) for each in user_classes}
