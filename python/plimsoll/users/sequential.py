"""Tasks in the order of their declaration."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from plimsoll.users.exceptions import LocustError
from plimsoll.users.tasks import declared_weight, expand, inherited_tasks, warn_of_async
from plimsoll.users.taskset import TaskSet, TaskSetMeta

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.users.user import User


class SequentialTaskSetMeta(TaskSetMeta):
    """Collects tasks so that a `tasks` attribute keeps its position among the decorated methods."""

    @staticmethod
    def collect(bases: tuple[type, ...], namespace: dict[str, Any]) -> list[Callable[..., Any]]:
        tasks = inherited_tasks(bases)
        for name, value in namespace.items():
            if name == "tasks":
                if not isinstance(value, list | dict):
                    raise ValueError("The 'tasks' attribute can only be set to list or dict")
                tasks.extend(expand(value))
            tasks.extend([value] * (declared_weight(value) or 0))
        warn_of_async(namespace, tasks)
        return tasks


class SequentialTaskSet(TaskSet, metaclass=SequentialTaskSetMeta):
    """Executes its tasks one after the other and then from the start; one of weight n runs n times in a row."""

    def __init__(self, parent: User | TaskSet) -> None:
        super().__init__(parent)
        self._task_cycle = cycle(self.tasks)

    def get_next_task(self) -> Callable[..., Any]:
        if not self.tasks:
            raise LocustError(
                "No tasks defined. Use the @task decorator or set the 'tasks' attribute of the SequentialTaskSet"
            )
        return next(self._task_cycle)
