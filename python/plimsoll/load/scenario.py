"""From a plan to the scenario of native users, and back: the plan's field for each part."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Scenario
from plimsoll.load import origins
from plimsoll.load.bodies import header_lines, overridden
from plimsoll.load.complaints import Complaint
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.protocols import grpc, websocket
from plimsoll.load.step_model import RequestTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.load.plan_model import PlanTable, PlanTargetTable
    from plimsoll.load.step_model import FlowTable, StepTable

_REFUSED = re.compile(r"(?P<path>[a-z_]+(?:\[\d+\]|\.[a-z_]+)*): (?P<reason>.*)", re.DOTALL)
_LAST = re.compile(r"(?:\.[^.\[]+|\[\d+\]|^[^.\[]+)$")


@dataclass(slots=True)
class Draft:
    """An unfinished scenario."""

    plan: PlanTable
    targets: list[dict[str, Any]] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    """The path prefix of each target."""
    sources: dict[str, str] = field(default_factory=dict)
    """Field of the plan, by field of the scenario."""
    complaints: list[Complaint] = field(default_factory=list)
    calls: dict[int | str, int] = field(default_factory=dict)
    """The targets of calls of gRPC, by the target that they are a copy of, or by their origin."""


def scenario_of(
    plan: PlanTable, line: Callable[[str], int], host: str | None = None, schema: str | None = None
) -> tuple[dict[str, Any], Draft]:
    """The scenario of a plan with flows or requests. line: the line of a field; flows keep that order.

    host: a URL that replaces the first target's. schema: of its calls, if the plan has none.
    """
    draft = Draft(plan)
    for index, table in enumerate(plan.target):
        _add_target(draft, table, f"target[{index}]", host if index == 0 else None)
    if host is not None and not plan.target:
        address, is_grpc = origins.split_target(host)
        http2 = is_grpc or plan.http2
        draft.targets.append(origins.target(address.origin, header_lines(plan.headers), http2=http2))
        draft.bases.append(origins.escaped(address.path.rstrip("/")))
    parts: list[tuple[str, FlowTable | RequestTable]] = [
        *((f"flow[{index}]", flow) for index, flow in enumerate(plan.flow)),
        *((f"request[{index}]", request) for index, request in enumerate(plan.request)),
    ]
    parts.sort(key=lambda part: line(part[0]))
    definition: dict[str, Any] = {
        "targets": draft.targets,
        "feeders": [table.definition(name) for name, table in plan.feeder.items()],
        "choice": plan.choice,
        "cookies": plan.cookies,
        "accept_encoding": plan.accept_encoding,
        "flows": _different([_flow(draft, table, path, f"flows[{i}]") for i, (path, table) in enumerate(parts)]),
    }
    if plan.proto:
        definition["schema"] = _schema(plan, definition["flows"], draft)
    elif schema is not None:
        definition["schema"] = schema
    for index, name in enumerate(plan.feeder):
        draft.sources[f"feeders[{index}]"] = f"feeder.{name}"
    return definition, draft


def check(definition: dict[str, Any], draft: Draft) -> Complaint | None:
    """The engine's error, by field of the plan."""
    refused = refusal(definition)
    if refused is None:
        return None
    path, reason = refused
    while path and path not in draft.sources:
        path = _LAST.sub("", path)
    return Complaint(draft.sources.get(path, ""), reason)


def refusal(definition: dict[str, Any]) -> tuple[str, str] | None:
    """The field and the reason if native users cannot run this. Calls whose schema is not known yet are checked as far
    as they do not depend on it."""
    try:
        known = grpc.with_stand_in(definition) if grpc.needs_schema(definition) else definition
        Scenario(json.dumps(known, ensure_ascii=False))
    except BadValueError as error:
        return error.field, str(error)
    except ValueError as error:
        match = _REFUSED.fullmatch(str(error))
        return (match["path"], match["reason"]) if match else ("", str(error))
    return None


def _schema(plan: PlanTable, flows: list[dict[str, Any]], draft: Draft) -> str:
    try:
        return grpc.schema_of(plan.proto, plan.proto_path, flows)
    except BadValueError as error:
        draft.complaints.append(Complaint("proto", str(error)))
        return ""


def _add_target(draft: Draft, table: PlanTargetTable, path: str, host: str | None) -> None:
    address, is_grpc = origins.split_target(host or table.url)
    headers = overridden(header_lines(draft.plan.headers), header_lines(table.headers))
    given = {"verify": table.verify, "cert": table.cert, "proxy": table.proxy}
    place = f"targets[{len(draft.targets)}]"
    draft.sources[place] = path
    draft.sources |= {f"{place}.{name}": f"{path}.{name}" for name in ("url", "headers", *given)}
    http2 = is_grpc or (draft.plan.http2 if table.http2 is None else table.http2)
    draft.targets.append(origins.target(address.origin, headers, http2=http2) | given)
    draft.bases.append(origins.escaped(address.path.rstrip("/")))


def _flow(draft: Draft, table: FlowTable | RequestTable, path: str, place: str) -> dict[str, Any]:
    draft.sources[place] = path
    think = draft.plan.think if table.think is None else table.think
    if isinstance(table, RequestTable):
        given: list[tuple[str, StepTable]] = [(path, table)]
    else:
        given = [(f"{path}.step[{index}]", step) for index, step in enumerate(table.step)]
    steps, socket = [], ""
    for index, (step_path, step) in enumerate(given):
        step_place = f"{place}.steps[{index}]"
        if step.grpc is not None:
            steps.append(_call(draft, step, think, step_path, step_place))
            continue
        if step.action is None:
            steps.append(_step(draft, step, think, step_path, step_place))
            continue
        if step.connect is not None:
            socket = step.name or step.connect
        steps.append(_socket_step(draft, step, think, step_path, step_place) | {"name": step.name or socket})
    draft.sources[f"{place}.name"] = f"{path}.name"
    return {"name": table.name, "weight": table.weight, "steps": steps}


def _different(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flows without a name get that of their first step, with a number if it is taken."""
    taken = {flow["name"] for flow in flows}
    for flow in flows:
        if flow["name"] is None:
            name = flow["steps"][0]["name"]
            flow["name"] = next(each for each in chain([name], (f"{name} {n}" for n in count(2))) if each not in taken)
            taken.add(flow["name"])
    return flows


def _socket_step(draft: Draft, step: StepTable, think: dict[str, Any] | None, path: str, place: str) -> dict[str, Any]:
    """A step of a WebSocket, without its name. think: the default pause after a message was received."""
    _note_step(draft, step, path, place)
    draft.sources[f"{place}.websocket"] = f"{path}.{step.action}"
    made: dict[str, Any] = {
        "websocket": websocket.definition(step),
        "body": step.content,
        "timeout": draft.plan.timeout if step.timeout is None else step.timeout,
        "idle_timeout": draft.plan.idle_timeout if step.idle_timeout is None else step.idle_timeout,
        "think": think if step.think is None and step.receive is not None else step.think,
        "extract": [table.definition(name) for name, table in step.extract.items()],
        "expect": step.expected,
    }
    if step.connect is not None:
        made["target"], made["path"] = _where(draft, step, path)
        made["headers"] = header_lines(step.headers)
    return made


def _step(draft: Draft, step: StepTable, think: dict[str, Any] | None, path: str, place: str) -> dict[str, Any]:
    """think: the default pause after the step."""
    _note_step(draft, step, path, place)
    target, target_path = _where(draft, step, path)
    return {
        "name": step.name or step.where,
        "target": target,
        "method": step.verb,
        "path": target_path,
        **_common(draft, step, think),
        **({} if step.stream is None else {"stream": step.stream}),
        **({} if step.slo is None else {"slo": step.slo.definition()}),
    }


def _common(draft: Draft, step: StepTable, think: dict[str, Any] | None) -> dict[str, Any]:
    """What a request and a call have. think: the default pause after the step."""
    return {
        "headers": header_lines(step.headers),
        "body": step.content,
        "timeout": draft.plan.timeout if step.timeout is None else step.timeout,
        "idle_timeout": draft.plan.idle_timeout if step.idle_timeout is None else step.idle_timeout,
        "think": think if step.think is None else step.think,
        "extract": [table.definition(name) for name, table in step.extract.items()],
        "expect": step.expected,
    }


def _call(draft: Draft, step: StepTable, think: dict[str, Any] | None, path: str, place: str) -> dict[str, Any]:
    """A step that calls a method of gRPC. think: the default pause after it."""
    _note_step(draft, step, path, place)
    draft.sources[f"{place}.grpc"] = f"{path}.grpc"
    draft.sources[f"{place}.body.json"] = f"{path}.message"
    method = grpc.method_of(step)
    statuses = step.expect.status if step.expect and step.expect.status else ()
    common = _common(draft, step, think)
    if grpc.DEADLINE_EXCEEDED in statuses and common["timeout"] is not None:
        why = (
            f"{grpc.DEADLINE_EXCEEDED} cannot be met with a timeout: this client ends the call when its own timeout "
            "passes, and counts a failure (timeout); leave out this code, or write idle_timeout in place of timeout"
        )
        draft.complaints.append(Complaint(f"{path}.expect.status", why))
    return {
        "name": step.name or method,
        "target": _call_target(draft, step, path),
        "grpc": grpc.definition(method, gzip=bool(step.compression), statuses=statuses),
        **common,
    }


def _call_target(draft: Draft, step: StepTable, path: str) -> int:
    """The index of the target with HTTP/2: the step's own, or a copy of it."""
    if origins.is_grpc_url(step.where):
        origin = origins.split_grpc_url(step.where).origin
        key: int | str = origin
        wanted = origins.target(origin, header_lines(draft.plan.headers), http2=True)
    else:
        key, _ = _where(draft, step, path)
        if not draft.targets or draft.targets[key].get("http2"):
            return key
        wanted = draft.targets[key] | {"http2": True}
    if key not in draft.calls:
        draft.calls[key] = len(draft.targets)
        draft.targets.append(wanted)
        draft.bases.append("")
    return draft.calls[key]


def _note_step(draft: Draft, step: StepTable, path: str, place: str) -> None:
    """Record the plan's field for each field of this step."""
    note = draft.sources
    note[place] = path
    where = step.action or step.where_field
    note[f"{place}.method"] = f"{path}.{'method' if step.method else where}"
    note[f"{place}.path"] = f"{path}.{where}"
    note[f"{place}.body"] = f"{path}.{step.body_field}"
    for name in ("name", "target", "headers", "timeout", "idle_timeout", "stream", "slo", "think", "extract", "expect"):
        note[f"{place}.{name}"] = f"{path}.{name}"
    for index, name in enumerate(name for name, values in step.headers.items() for _ in values):
        note[f"{place}.headers[{index}]"] = f"{path}.headers.{name}"
    for index, (name, table) in enumerate(step.extract.items()):
        note[f"{place}.extract[{index}]"] = f"{path}.extract.{name}"
        note[f"{place}.extract[{index}].what"] = f"{path}.extract.{name}.{table.source}"
    for name in step.expected:
        note[f"{place}.expect.{name}"] = f"{path}.expect.{name}"


def _where(draft: Draft, step: StepTable, path: str) -> tuple[int, str]:
    """The index of the target, and the path on it."""
    if step.grpc is None and not step.where.startswith("/") and step.where != "*":
        address = (origins.split_socket_url if step.connect else origins.split_url)(step.where)
        for index, target in enumerate(draft.targets):
            if target["url"] == address.origin and index not in draft.calls.values():
                return index, address.path
        # A WebSocket is opened with HTTP/1.1.
        http2 = draft.plan.http2 and not step.connect
        draft.targets.append(origins.target(address.origin, header_lines(draft.plan.headers), http2=http2))
        draft.bases.append("")
        return len(draft.targets) - 1, address.path
    try:
        index = draft.plan.target_index(step)
    except BadValueError as error:
        draft.complaints.append(Complaint(f"{path}.{error.field}", str(error)))
        return 0, step.where
    if not draft.bases:
        message = 'has no target; write target = "http://127.0.0.1:8000" at the top of the plan'
        draft.complaints.append(Complaint(f"{path}.{step.where_field}", message))
        return 0, step.where
    return index, draft.bases[index] + step.where
