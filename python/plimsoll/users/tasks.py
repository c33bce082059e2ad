"""Declares the tasks of a user: `@task`, `@tag`, and the `tasks` list of a class."""

from __future__ import annotations

import logging
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

TaskT = TypeVar("TaskT", bound="Callable[..., Any]")


@overload
def task(weight: TaskT) -> TaskT: ...
@overload
def task(weight: int = 1) -> Callable[[TaskT], TaskT]: ...
def task(weight: Any = 1) -> Any:
    """Declare a method, or a nested TaskSet class, as a task::

        @task
        def browse(self): ...

        @task(3)
        def search(self): ...

    Here the second is three times as likely.
    """
    if callable(weight):
        return task(1)(weight)

    def decorate(decorated: TaskT) -> TaskT:
        check_task_name(decorated, "@task")
        decorated.locust_task_weight = weight  # type: ignore[attr-defined]
        return decorated

    return decorate


def check_task_name(decorated: Callable[..., Any], decorator: str) -> None:
    """Raises Exception for a task named run; warns of names of methods that are also called otherwise."""
    name = decorated.__name__
    if name in ("on_start", "on_stop"):
        logging.warning("%s is decorated with %s: it will run as a task AND at every start or stop.", name, decorator)
    if name == "run":
        raise Exception("run() belongs to User and TaskSet; it can be neither overridden nor a task.")


def async_advice(function: Any) -> str | None:
    """The advice for an async function, which does nothing when it is called; None for any other."""
    if not (iscoroutinefunction(function) or isasyncgenfunction(function)):
        return None
    function = getattr(function, "func", function)  # of a partial
    code = function.__code__
    return (
        f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) is an async function, which a user "
        "cannot run, so it does nothing: write `def` instead of `async def`, and call self.client without `await`; "
        "other users run while it waits. For a library that needs asyncio call "
        "`gevent.get_hub().threadpool.apply(asyncio.run, (coroutine,))`, which runs it in a thread of its own."
    )


def tag(*tags: str) -> Callable[[TaskT], TaskT]:
    """Name a task, or all tasks of a TaskSet class, so that --tags and --exclude-tags can choose.

    Raises ValueError without a name.
    """
    if not tags or callable(tags[0]):
        raise ValueError("No tag name was supplied")

    def decorate(decorated: Any) -> Any:
        if hasattr(decorated, "tasks"):
            decorated.tasks = [decorate(inner) for inner in decorated.tasks]
        else:
            decorated.locust_tag_set = tags_of(decorated) | set(tags)
        return decorated

    return decorate


def tags_of(function: Callable[..., Any]) -> set[str]:
    """The tags of a task."""
    return getattr(function, "locust_tag_set", set())


def declared_weight(value: object) -> int | None:
    """The weight in `@task`; None if value is no task."""
    # dir() and not hasattr(): a class attribute such as a Mock or a proxy may have every name.
    return value.locust_task_weight if "locust_task_weight" in dir(value) else None  # type: ignore[attr-defined]


def inherited_tasks(bases: Iterable[type]) -> list[Callable[..., Any]]:
    """The tasks of all base classes, in the order of the bases."""
    return [inner for base in bases for inner in getattr(base, "tasks", None) or []]


def expand(tasks: Mapping[Any, int] | Iterable[Any]) -> Iterator[Callable[..., Any]]:
    """A `tasks` attribute, {task: weight} or a list of tasks and (task, weight) pairs, repeated by weight."""
    for item in tasks.items() if isinstance(tasks, dict) else tasks:
        if isinstance(item, tuple):
            inner, weight = item
            yield from [inner] * weight
        else:
            yield item


def collect_tasks(bases: Iterable[type], namespace: Mapping[str, Any]) -> list[Callable[..., Any]]:
    """The tasks of a new class: inherited ones, then its `tasks` attribute, then its decorated members."""
    tasks = inherited_tasks(bases)
    tasks.extend(expand(namespace.get("tasks") or []))
    for value in namespace.values():
        tasks.extend([value] * (declared_weight(value) or 0))
    warn_of_async(namespace, tasks)
    return tasks


def warn_of_async(namespace: Mapping[str, Any], tasks: Iterable[Callable[..., Any]]) -> None:
    """Warn of async functions among the tasks, on_start and on_stop of a new class.

    Locust accepts such a task without a message, but it does nothing.
    """
    for function in dict.fromkeys((namespace.get("on_start"), namespace.get("on_stop"), *tasks)):
        if advice := async_advice(function):
            logging.warning("%s", advice)


def is_chain(holder: Any) -> bool:
    """Whether it is a MarkovTaskSet class, whose tasks are not in `tasks`."""
    return getattr(holder, "_is_chain", False)


def filter_tasks_by_tags(
    holder: type[Any],
    tags: set[str] | None = None,
    exclude_tags: set[str] | None = None,
    verdicts: dict[Callable[..., Any], bool] | None = None,
) -> None:
    """Keep the tasks of a User or TaskSet class, including nested ones, that have one of tags and none of exclude_tags.

    None: no such condition. An empty TaskSet is dropped, except for a MarkovTaskSet, which tags cannot affect.
    verdicts: known results, for recursion.
    """
    verdicts = {} if verdicts is None else verdicts
    for inner in holder.tasks:
        if inner not in verdicts:
            verdicts[inner] = _passes(inner, tags, exclude_tags, verdicts)
    holder.tasks = [inner for inner in holder.tasks if verdicts[inner]]
    if not holder.tasks and not is_chain(holder):
        logging.warning("%s had no tasks left after filtering, instantiating it will fail!", holder.__name__)


def _passes(
    inner: Any, tags: set[str] | None, exclude_tags: set[str] | None, verdicts: dict[Callable[..., Any], bool]
) -> bool:
    if hasattr(inner, "tasks"):
        filter_tasks_by_tags(inner, tags, exclude_tags, verdicts)
        return bool(inner.tasks) or is_chain(inner)
    own = tags_of(inner)
    return (tags is None or not own.isdisjoint(tags)) and (exclude_tags is None or own.isdisjoint(exclude_tags))
