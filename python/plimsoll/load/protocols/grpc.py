"""Calls of gRPC of a scenario, and the schema that has their methods."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcSchema, grpc_codes
from plimsoll.load.file_access import checked
from plimsoll.load.mistakes import BadValueError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

CODES = {name: number for number, name in enumerate(grpc_codes())}
"""The names of all status codes, and their numbers."""
DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
HTTP2_HINT = "; leave out --http2"
"""Ends the engine's message about a server without HTTP/2. A call has no such option."""

_METHOD = re.compile(r"[\w.]+/\w+")
_STAND_IN = "StandIn/Call"
_STAND_INS = """
syntax = "proto3";
import "google/protobuf/struct.proto";
service StandIn { rpc Call(stream google.protobuf.Value) returns (stream google.protobuf.Value); }
"""
"""A method that takes any JSON."""


def schema_of(files: Iterable[Path], roots: Iterable[Path], flows: Iterable[Mapping[str, Any]]) -> str:
    """The schema of the calls of these flows, as native users are given it. Raises BadValueError with file and line."""
    try:
        schema = GrpcSchema.read([str(checked(file)) for file in files], [str(checked(root)) for root in roots])
    except ValueError as error:
        raise BadValueError(str(error)) from error
    return text_of(schema, flows)


def text_of(schema: GrpcSchema, flows: Iterable[Mapping[str, Any]]) -> str:
    """The part of a schema that the calls of these flows need: a descriptor set in base64."""
    services = services_of(call for _, call in _calls(flows))
    return base64.b64encode(schema.pruned(services).descriptor_set).decode("ascii")


def needs_schema(scenario: Mapping[str, Any]) -> bool:
    """It has calls, and its targets are to be asked for their schema."""
    return "schema" not in scenario and any(True for _ in _calls(scenario["flows"]))


def calls_by_target(scenario: Mapping[str, Any]) -> dict[int, list[dict[str, Any]]]:
    """The steps that call a method, by the index of the target."""
    found: dict[int, list[dict[str, Any]]] = {}
    for _, call in _calls(scenario["flows"]):
        found.setdefault(call.get("target") or 0, []).append(call)
    return found


def services_of(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """The services that these steps call, each once."""
    return list(dict.fromkeys(call["grpc"]["method"].partition("/")[0] for call in calls))


def with_stand_in(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with a method that takes any JSON in the place of each, to check all but that. Raises BadValueError
    for a name that cannot be a method; its field is that of the scenario."""
    for place, call in _calls(scenario["flows"]):
        name = call["grpc"]["method"]
        if not _METHOD.fullmatch(name):
            raise BadValueError(f'{shown(name)} is not a method; valid is "package.Service/Method"', place)
    schema = base64.b64encode(GrpcSchema.from_text(_STAND_INS).descriptor_set).decode("ascii")
    return {**scenario, "schema": schema, "flows": [_with_stand_ins(flow) for flow in scenario["flows"]]}


def _with_stand_ins(flow: Mapping[str, Any]) -> dict[str, Any]:
    steps = [
        {**step, "grpc": {**step["grpc"], "method": _STAND_IN}} if step.get("grpc") else step for step in flow["steps"]
    ]
    return {**flow, "steps": steps}


def _calls(flows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The steps that call a method, with the place of its name in a scenario."""
    for number, flow in enumerate(flows):
        for index, step in enumerate(flow["steps"]):
            if step.get("grpc"):
                yield f"flows[{number}].steps[{index}].grpc.method", step


def definition(method: str, *, gzip: bool, statuses: Sequence[Any] = ()) -> dict[str, Any]:
    """A call in the format for native users. statuses: names of the expected codes."""
    return {"method": method, "gzip": gzip, "codes": [CODES[name] for name in statuses]}
