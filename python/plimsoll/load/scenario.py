"""From a plan to the scenario of native users, and back: the plan's field for each part."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from plimsoll.load.auth.adding import auth_number, auths_of
from plimsoll.load.auth.table import with_auth
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.plan_model import FlowTable
from plimsoll.load.protocols import grpc
from plimsoll.load.protocols.draft import Draft
from plimsoll.load.protocols.row_certificates import RowCertificate, RowFiles, contradictions
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.load.plan_model import PlanTable, PlanTargetTable, WeightedStep
    from plimsoll.load.step_model import StepTable


def scenario_of(
    plan: PlanTable, line: Callable[[str], int], host: str | None = None, schema: str | None = None
) -> tuple[dict[str, Any], Draft]:
    """The scenario of a plan with flows or requests. line: the line of a field; flows keep that order.

    host: a URL that replaces the first target's. schema: of its calls, if the plan has none.
    """
    draft = Draft(with_auth(plan.headers, plan.auth), plan.http2, plan.timeout, plan.idle_timeout)
    for index, table in enumerate(plan.target):
        _add_target(draft, plan, table, index, host if index == 0 else None)
    if host is not None and not plan.target:
        draft.add(host, None, {}, {})
    parts: list[tuple[str, FlowTable | WeightedStep]] = [
        *((f"flow[{index}]", flow) for index, flow in enumerate(plan.flow)),
        *((f"request[{index}]", request) for index, request in enumerate(plan.request)),
    ]
    parts.sort(key=lambda part: line(part[0]))
    definition: dict[str, Any] = {
        "targets": draft.targets,
        "feeders": [table.definition(name) for name, table in plan.feeder.items()],
        "choice": {"column": plan.choice.split(".", 1)} if "." in plan.choice else plan.choice,
        "cookies": plan.cookies,
        "accept_encoding": plan.accept_encoding,
        "flows": _different([_flow(draft, plan, table, path, f"flows[{i}]") for i, (path, table) in enumerate(parts)]),
    }
    if draft.auths:
        definition["auths"] = auths_of(draft)
    if credentials := _credentials(plan):
        definition["credentials"] = credentials
    if plan.jwt:
        definition["tokens"] = [table.definition(name) for name, table in plan.jwt.items()]
    for index, (name, token) in enumerate(plan.jwt.items()):
        draft.sources |= token.sources(f"jwt.{name}", f"tokens[{index}]")
    if plan.proto:
        definition["schema"] = _schema(plan, definition["flows"], draft)
    elif schema is not None:
        definition["schema"] = schema
    draft.sources["choice"] = "choice"
    for index, name in enumerate(plan.feeder):
        draft.sources[f"feeders[{index}]"] = f"feeder.{name}"
    return definition, draft


def _credentials(plan: PlanTable) -> list[str]:
    """The names, in small letters, of the headers of `auth`: records mask their values."""
    steps = [*plan.request, *(step for flow in plan.flow for step in flow.step)]
    tables = [plan.auth, *(step.auth for step in steps)]
    lines = (table.line() for table in tables if table is not None)
    return sorted({line[0].lower() for line in lines if line is not None})


def _schema(plan: PlanTable, flows: list[dict[str, Any]], draft: Draft) -> str:
    try:
        return grpc.schema_of(plan.proto, plan.proto_path, flows)
    except BadValueError as error:
        draft.complain("proto", str(error))
        return ""


def _add_target(draft: Draft, plan: PlanTable, table: PlanTargetTable, index: int, host: str | None) -> None:
    own: object = table.cert
    settings = {"verify": table.verify, "cert": own, "proxy": table.proxy}
    field, path = f"targets[{index}]", f"target[{index}]"
    draft.sources[field] = path
    draft.sources |= {f"{field}.{name}": f"{path}.{name}" for name in ("url", "headers", *settings)}
    if isinstance(table.cert, RowCertificate):
        files = _certificates(draft, plan, table.cert, f"{path}.cert")
        settings |= {"cert": None, "certs": None if files is None else asdict(files)}
        draft.sources[f"{field}.certs"] = f"{path}.cert"
    draft.add(host or table.url, table.http2, table.headers, settings)
    draft.names.append(table.name)


def _certificates(draft: Draft, plan: PlanTable, cert: RowCertificate, path: str) -> RowFiles | None:
    try:
        made = cert.definition(plan.feeder)
    except BadValueError as error:
        draft.complain(path, str(error))
        return None
    for field, why in contradictions(made.feeder, plan.feeder[made.feeder], plan.choice):
        draft.complain(field, why)
    return made


def _flow(draft: Draft, plan: PlanTable, table: FlowTable | WeightedStep, path: str, field: str) -> dict[str, Any]:
    draft.think = plan.think if table.think is None else table.think
    draft.connection = ""
    if isinstance(table, FlowTable):
        written: list[tuple[str, StepTable]] = [(f"{path}.step[{i}]", step) for i, step in enumerate(table.step)]
    else:
        written = [(path, table)]
    draft.sources[field] = path
    steps = []
    for index, (step_path, step) in enumerate(written):
        step_field = f"{field}.steps[{index}]"
        draft.sources |= step.sources(step_path, step_field)
        made = step.definition(draft, step_path)
        if "headers" in made:
            of_target = draft.targets[made["target"]]["headers"] if draft.targets else []
            is_plain = not (made.get("websocket") or made.get("grpc"))
            lines = [*of_target, *made["headers"]]
            number = auth_number(draft, plan.auth, step.auth, step_path, lines, is_plain=is_plain)
            made |= {} if number is None else {"auth": number}
        steps.append(made)
    names = [step["name"] for step in steps]
    for index, (step_path, step) in enumerate(written):
        if step.repeat is not None and step.repeat.from_ is not None:
            try:
                steps[index]["repeat"]["from"] = _index_of(step.repeat.from_, names[: index + 1])
            except BadValueError as error:
                draft.complain(f"{step_path}.repeat.from", str(error))
    draft.sources[f"{field}.name"] = f"{path}.name"
    # Several requests may be of one endpoint, and have its name.
    name = table.name if isinstance(table, FlowTable) else None
    return {"name": name, "weight": table.weight, "steps": steps}


def _index_of(name: str, before: list[str]) -> int:
    """The index of the last step with this name. before: the names of the steps. Raises BadValueError."""
    if name not in before:
        raise BadValueError(f"no earlier step has the name {shown(name)}; there are {listed(before)}")
    return len(before) - 1 - before[::-1].index(name)


def _different(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flows without a name get that of their first step, with a number if it is taken."""
    taken = {flow["name"] for flow in flows}
    for flow in flows:
        if flow["name"] is None:
            name = flow["steps"][0]["name"]
            flow["name"] = next(new for new in chain([name], (f"{name} {n}" for n in count(2))) if new not in taken)
            taken.add(flow["name"])
    return flows
