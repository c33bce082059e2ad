"""Steps of a plan that call a method of gRPC, and the schema that has the methods."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcSchema, grpc_codes
from plimsoll.load.mistakes import BadValueError, at
from plimsoll.load.origins import is_grpc_url, split_grpc_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from plimsoll.load.step_model import StepTable

CODES = {name: number for number, name in enumerate(grpc_codes())}
"""The names of all status codes, and their numbers."""
_FIELDS = frozenset((
    "name", "think", "weight", "target", "headers", "timeout", "idle_timeout", "extract", "expect", "grpc", "message",
    "compression",
))  # fmt: skip
"""What a step that calls a method may have."""


def schema_of(files: Iterable[Path], roots: Iterable[Path]) -> str:
    """A descriptor set in base64, as native users are given it. Raises BadValueError with file and line."""
    try:
        schema = GrpcSchema.read([str(file) for file in files], [str(root) for root in roots])
    except ValueError as error:
        raise BadValueError(str(error)) from error
    return base64.b64encode(schema.descriptor_set).decode("ascii")


def check(step: StepTable) -> None:
    """Raises BadValueError for fields that do not go with a call."""
    assert step.grpc is not None
    for name in (name.removesuffix("_") for name in type(step).model_fields if name in step.model_fields_set):
        if name in ("json", "body"):
            raise BadValueError("does not go with grpc; the message is in message", name)
        if name not in _FIELDS:
            raise BadValueError("does not go with grpc", name)
    if is_grpc_url(step.grpc):
        at("grpc", split_grpc_url, step.grpc)
        if step.target is not None:
            raise BadValueError("contradicts grpc, which is a whole URL", "target")
    if step.expect is not None and any(not isinstance(each, str) for each in step.expect.status or ()):
        raise BadValueError('must be names of gRPC, as "OK" or "NOT_FOUND"', "expect.status")


def check_none(step: StepTable) -> None:
    """Raises BadValueError for fields that only a call has."""
    if step.message is not None:
        raise BadValueError("belongs with grpc", "message")
    for each in (step.expect and step.expect.status) or ():
        if isinstance(each, str):
            raise BadValueError(f"{each} is a status of gRPC; it belongs with grpc", "expect.status")


def method_of(step: StepTable) -> str:
    """The name of the method: `package.Service/Method`."""
    assert step.grpc is not None
    return (split_grpc_url(step.grpc).path if is_grpc_url(step.grpc) else step.grpc).removeprefix("/")


def definition(method: str, *, gzip: bool, statuses: Sequence[Any] = ()) -> dict[str, Any]:
    """A call in the format for native users. statuses: names of the expected codes."""
    return {"method": method, "gzip": gzip, "codes": [CODES[name] for name in statuses]}
