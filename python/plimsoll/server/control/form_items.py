"""The form, and the share of each task, as the page shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.load.shapes.registry import SHAPES
from plimsoll.load.shapes.shape import FormShape
from plimsoll.server.control.class_settings import configured
from plimsoll.server.messages import Argument, Form, TaskRatio, UserClassItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.server.control.description import Description, OwnClass, OwnOption, TaskNode
    from plimsoll.server.messages import RunRequest


def form_of(description: Description, request: RunRequest, source: str, *, has_plan: bool, picks: bool) -> Form:
    """source: shown to people; without a locustfile it is the only content. picks: whether "no LoadTestShape" is a
    choice."""
    return Form(
        source=source,
        is_native=not (description.classes or description.error),
        classes=tuple(
            UserClassItem(each.name, each.weight, each.fixed_count, tuple(_names(each.tasks)), each.host)
            for each in description.classes
        ),
        shape_classes=description.shapes,
        tags=description.tags,
        arguments=tuple(_argument(each) for each in description.options if each.shown),
        request=filled_in(request, description),
        shapes=form_shapes(has_plan),
        has_shape=bool(description.shapes) and not picks,
        has_plan=has_plan,
        error=description.error,
    )


def form_shapes(has_plan: bool = False) -> tuple[FormShape, ...]:
    plan = (FormShape("plan", "As the plan says", "The phases of the plan file.", "", ""),) if has_plan else ()
    return (*(each.form for each in SHAPES.values() if each.form), *plan)


def filled_in(request: RunRequest, description: Description) -> RunRequest:
    """The request, completed with the locustfile's values, without secrets."""
    known = {each.name: each for each in description.options if each.shown}
    said = {name: value for name, value in request.arguments.items() if name in known}
    arguments = {name: said.get(name, each.value) for name, each in known.items() if each.kind != "secret"}
    return replace(request, classes=request.classes or description.picked, arguments=arguments)


def task_ratios(description: Description, request: RunRequest, users: Mapping[str, int]) -> tuple[TaskRatio, ...]:
    """users: the number per class; without users the weights decide."""
    chosen = request.classes or description.picked
    taking_part = [each for each in description.classes if not chosen or each.name in chosen]
    classes = configured(taking_part, request.class_settings)
    counts = {each.name: float(users.get(each.name, 0)) for each in classes}
    if not any(counts.values()):
        counts = _by_weight(classes, request.users)
    whole = sum(counts.values()) or 1.0
    found = []
    for each in classes:
        share = counts[each.name] / whole
        found.append(TaskRatio(each.name, share, share, _tasks(each.tasks, share, request)))
    return tuple(found)


def _by_weight(classes: Sequence[OwnClass], users: int) -> dict[str, float]:
    fixed = sum(each.fixed_count for each in classes)
    weight = sum(each.weight for each in classes if not each.fixed_count) or 1.0
    rest = max(0, users - fixed) or (0 if fixed else 1)
    return {each.name: each.fixed_count or rest * each.weight / weight for each in classes}


def _tasks(nodes: Sequence[TaskNode], whole: float, request: RunRequest) -> tuple[TaskRatio, ...]:
    passed = [node for node in nodes if _passes(node, request)]
    shares = sum(node.share for node in passed) or 1.0
    found = []
    for node in passed:
        share = node.share / shares
        found.append(TaskRatio(node.name, share, share * whole, _tasks(node.tasks, share * whole, request)))
    return tuple(found)


def _passes(node: TaskNode, request: RunRequest) -> bool:
    """Whether the tags include it."""
    if node.is_chain or node.tasks:
        return node.is_chain or any(_passes(each, request) for each in node.tasks)
    tags = set(node.tags)
    return not tags & set(request.exclude_tags) and (not request.tags or bool(tags & set(request.tags)))


def _names(nodes: Sequence[TaskNode]) -> list[str]:
    return [name for node in nodes for name in (_names(node.tasks) if node.tasks else [node.name])]


def _argument(option: OwnOption) -> Argument:
    return Argument(
        name=option.name,
        label=option.name.replace("_", " "),
        help=option.help,
        kind=option.kind,  # type: ignore[arg-type]
        value=option.value,
        choices=option.choices,
        required=option.required,
    )
