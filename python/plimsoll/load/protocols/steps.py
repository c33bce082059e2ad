"""The steps that a plan may have, a file for each protocol.

A new protocol is a class in a file here and a row in STEPS.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Discriminator, Tag

from plimsoll.load.complaints import tag_of
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.protocols.grpc_step import GrpcStep
from plimsoll.load.protocols.request_step import RequestStep
from plimsoll.load.protocols.socket_step import SocketStep
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.load.step_model import StepTable

STEPS: list[type[StepTable]] = [RequestStep, SocketStep, GrpcStep]
"""A table that has no field which makes it one of the others is the first."""


def one_of(steps: Sequence[type[StepTable]]) -> Any:
    """The type of a table that is one of these steps. The fields that it has decide which one."""
    pick = _picked_from(steps)
    members = [Annotated[step, Tag(tag_of(step))] for step in steps]
    return Annotated[
        reduce(or_, members),
        Discriminator(lambda value: tag_of(pick(value))),
        BeforeValidator(lambda value: _without_fields_of_others(value, pick(value))),
    ]


def _picked_from(steps: Sequence[type[StepTable]]) -> Callable[[Any], type[StepTable]]:
    first, *others = steps
    return lambda value: next(
        (step for step in others if isinstance(value, dict) and any(name in value for name in step.made_by)), first
    )


def _without_fields_of_others(value: Any, step: type[StepTable]) -> Any:
    """Raises BadValueError for a field that steps of another protocol have."""
    own = step.field_names()
    for name in value if isinstance(value, dict) else ():
        owners = [other for other in STEPS if name in other.field_names()]
        if name in own or not owners:
            continue
        maker = next((field for field in step.made_by if field in value), None)
        if maker is None:
            raise BadValueError(f"belongs with {listed((owner.made_by[0] for owner in owners), 'or')}", name)
        instead = step.instead.get(name, f"it is a field of {listed((owner.called for owner in owners), 'or')}")
        raise BadValueError(f"does not go with {maker}; {instead}", name)
    return value
