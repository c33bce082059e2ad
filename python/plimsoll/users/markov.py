"""Random sequences of tasks: a Markov chain, in which every task declares its possible successors.

    class Shopper(MarkovTaskSet):
        @transition("search", weight=3)
        @transition("leave")
        def browse(self): ...

The first declared task runs first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from random import choice
from typing import TYPE_CHECKING, Any, TypeVar

from plimsoll.users.exceptions import (
    InvalidTransitionError,
    MarkovTaskTagError,
    NoMarkovTasksError,
    NonMarkovTaskTransitionError,
)
from plimsoll.users.tasks import check_task_name, expand, inherited_tasks, tags_of, warn_of_async
from plimsoll.users.taskset import TaskSet, TaskSetMeta

if TYPE_CHECKING:
    from collections.abc import Callable

    Task = Callable[..., Any]

TaskT = TypeVar("TaskT", bound="Callable[..., Any]")


def transition(func_name: str, weight: int = 1) -> Callable[[TaskT], TaskT]:
    """Declare that the task called func_name may come next; twice the weight is twice as likely. May be repeated."""
    return transitions({func_name: weight})


def transitions(weights: Mapping[str, int] | Iterable[tuple[str, int] | str]) -> Callable[[TaskT], TaskT]:
    """Declare several: {name: weight}, or a list of names (of weight 1) and (name, weight) pairs."""
    pairs = weights.items() if isinstance(weights, Mapping) else weights
    added = dict(pair if isinstance(pair, tuple) else (pair, 1) for pair in pairs)

    def decorate(decorated: TaskT) -> TaskT:
        decorated.transitions = {**getattr(decorated, "transitions", {}), **added}  # type: ignore[attr-defined]
        return decorated

    return decorate


def _transitions(task: Task) -> dict[str, int]:
    return task.transitions  # type: ignore[attr-defined, no-any-return]


def _has_transitions(value: object) -> bool:
    # dir() and not hasattr(): a class attribute such as a Mock or a proxy may have every name.
    return "transitions" in dir(value)


class MarkovTaskSetMeta(TaskSetMeta):
    """Checks the chain of a class, unless its own body says `abstract = True`."""

    abstract: bool
    current: Callable[..., Any]

    def __init__(self, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        self.abstract = bool(namespace.get("abstract"))
        if not self.abstract:
            chain = {name: value for name, value in namespace.items() if _has_transitions(value)}
            _check(chain, namespace, name)
            for task in chain.values():
                task.destinations = [*expand(_transitions(task))]
            self.current = next(iter(chain.values()))

    @staticmethod
    def collect(bases: tuple[type, ...], namespace: dict[str, Any]) -> list[Callable[..., Any]]:
        # The chain is not in `tasks`: nothing there is picked, weighted or filtered.
        return inherited_tasks(bases)


def _check(chain: dict[str, Task], namespace: dict[str, Any], owner: str) -> None:
    """Raises a LocustError for an invalid chain; warns of unreachable tasks."""
    if not chain:
        raise NoMarkovTasksError(f"{owner} has no task with transitions: decorate some with @transition(s)")
    for name, task in chain.items():
        check_task_name(task, "@transition")
        if tags_of(task):
            raise MarkovTaskTagError(
                f"{owner}.{name} has tags ({', '.join(sorted(tags_of(task)))}): a MarkovTaskSet cannot do without "
                "one of its tasks"
            )
        for destination in _transitions(task):
            if destination not in namespace:
                raise InvalidTransitionError(f"{owner}.{name} leads to {destination}, which {owner} does not have")
            if destination not in chain:
                raise NonMarkovTaskTransitionError(
                    f"{owner}.{name} leads to {destination}, which has no transitions of its own"
                )
    warn_of_async(namespace, chain.values())
    unreachable = chain.keys() - _reached(chain)
    if unreachable:
        logging.warning("The following markov tasks are unreachable in class %s: %s", owner, sorted(unreachable))


def _reached(chain: dict[str, Task]) -> set[str]:
    reached: set[str] = set()
    to_visit = [next(iter(chain))]
    while to_visit:
        name = to_visit.pop()
        if name not in reached:
            reached.add(name)
            to_visit += [following for following, weight in _transitions(chain[name]).items() if weight > 0]
    return reached


class MarkovTaskSet(TaskSet, metaclass=MarkovTaskSetMeta):
    """Executes one task after the other, each picked among those that the one before leads to."""

    abstract: bool = True
    """A base for other classes, whose chain is not checked."""

    current: Callable[..., Any]
    """The task that comes next."""

    _is_chain = True

    def get_next_task(self) -> Callable[..., Any]:
        task = self.current
        # Locust's random function: the same random.seed() gives the same tasks.
        self.current = getattr(self, choice(task.destinations))  # type: ignore[attr-defined]
        return task
