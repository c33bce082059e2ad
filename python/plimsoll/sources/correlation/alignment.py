"""Which steps of two recordings of a flow are the same.

Pages send some requests in no fixed order, and some not each time. Paths may have ids that differ.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.sources.content.operations import action_of, graphql_operation
from plimsoll.sources.correlation.value_forms import SHORTEST_VALUE, is_id_segment

if TYPE_CHECKING:
    from plimsoll.sources.draft import DraftStep, ScenarioDraft

_ID_SHAPE = "…"
"""Stands for an id in the shape of a path."""
_FETCHED = frozenset(("xhr", "fetch"))
"""What a browser calls a request of a script."""


def aligned(draft: ScenarioDraft, other: ScenarioDraft) -> list[DraftStep | None]:
    """For each step of the draft the same one of the other recording; None if that has none. What a page has requested
    in the first recording only is taken out of the draft: the second one went without it. Raises UsageError if most
    steps are in one recording only."""
    twins: list[DraftStep | None] = [None] * len(draft.steps)
    rest = other.steps
    # A step that does the same is preferred to one that is sent to the same path.
    for shape in (_telling_shape, _shape):
        waiting: dict[str, deque[DraftStep]] = {}
        for step in rest:
            waiting.setdefault(shape(step), deque()).append(step)
        for number, step in enumerate(draft.steps):
            if twins[number] is None and (queue := waiting.get(shape(step))):
                twins[number] = queue.popleft()
        rest = [step for queue in waiting.values() for step in queue]
    for number, step in enumerate(draft.steps):
        if twins[number] is None:
            twins[number] = next((twin for twin in rest if _differ_by_ids(draft, step, other, twin)), None)
            rest = [twin for twin in rest if twin is not twins[number]]
    missing = [number for number, twin in enumerate(twins) if twin is None]
    if missing and len(missing) * 2 >= len(twins):
        first, second = draft.sources[0], other.sources[0]
        raise UsageError(
            f"step {missing[0] + 1} differs: {_shape(draft.steps[missing[0]])} of {first} is not in {second}; are "
            "these recordings of the same flow?"
        )
    optional = [number for number in missing if _is_optional(draft.steps[number], rest)]
    if optional:
        named = ", ".join(dict.fromkeys(_shape(draft.steps[number]) for number in optional))
        draft.left_out[f"in one recording only ({named})"] = len(optional)
    draft.notes += [
        f"step {number + 1} is in one recording only: {_shape(draft.steps[number])}"
        for number in missing
        if number not in optional
    ]
    draft.steps = [step for number, step in enumerate(draft.steps) if number not in optional]
    return [twin for number, twin in enumerate(twins) if number not in optional]


def _is_optional(step: DraftStep, rest: list[DraftStep]) -> bool:
    """Whether a script of the page has read something by itself, and the other recording has nothing else that may be
    the same. rest: steps that are in the other recording only."""
    operation = graphql_operation(step.exchange)
    reads = step.exchange.method == "GET" if operation is None else operation.kind == "query"
    return reads and _is_fetched(step) and not any(_may_be_same(step, other) for other in rest)


def _may_be_same(step: DraftStep, other: DraftStep) -> bool:
    """Whether two steps may differ by ids alone."""
    own, second = (item.exchange for item in (step, other))
    segments, others = (_shape(item).count("/") for item in (step, other))
    actions = {action_of(own), action_of(second)} - {""}
    return own.method == second.method and segments == others and len(actions) < 2


def _is_fetched(step: DraftStep) -> bool:
    """Whether a script of the page has sent it."""
    return step.exchange.kind in _FETCHED


def _differ_by_ids(draft: ScenarioDraft, step: DraftStep, other: ScenarioDraft, twin: DraftStep) -> bool:
    """Whether two steps have the same shape but for ids of letters alone: replies of each recording have its own."""
    if step.exchange.socket or twin.exchange.socket or step.exchange.method != twin.exchange.method:
        return False
    first, second = (_shape(item).split("/") for item in (step, twin))
    pairs = [(one, two) for one, two in zip(first, second, strict=False) if one != two]
    return len(first) == len(second) and all(
        segment == _ID_SHAPE or (len(segment) >= SHORTEST_VALUE and _is_replied(segment, recording))
        for pair in pairs
        for segment, recording in zip(pair, (draft, other), strict=True)
    )


def _is_replied(value: str, draft: ScenarioDraft) -> bool:
    """Whether a reply in JSON has exactly this value."""
    replies = (step.exchange.reply for step in draft.steps)
    return any(reply is not None and value in reply.leaves for reply in replies)


def _telling_shape(step: DraftStep) -> str:
    """The request without what may differ between two recordings of a flow, and what its body says that it does."""
    return f"{_shape(step)} {action_of(step.exchange)}"


def _shape(step: DraftStep) -> str:
    """The request without what may differ between two recordings of a flow."""
    path = "".join(map(str, step.path)).partition("?")[0]
    segments = [_ID_SHAPE if is_id_segment(segment) else segment for segment in path.split("/")]
    # Messages of a WebSocket differ by what they do.
    action = f" {step.exchange.socket}" if step.exchange.socket else ""
    # A person may choose what a form does, but the script of a page does something else then.
    does = action_of(step.exchange) if _is_fetched(step) or graphql_operation(step.exchange) else ""
    return f"{step.exchange.method}{action} {'/'.join(segments)}{f' ({does})' if does else ''}"
