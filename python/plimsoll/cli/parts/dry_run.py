"""`plimsoll run --dry-run`: what would be sent where, and what it must keep to. Nothing is connected to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load.auth.definition import plain_auths
from plimsoll.load.guard_rails import HEADER
from plimsoll.load.origins import grpc_url
from plimsoll.load.protocols import grpc as calls
from plimsoll.plain_text import one_line
from plimsoll.redact import masked_headers, redact
from plimsoll.report.load import load_at_length, load_in_short
from plimsoll.report.text import dumps
from plimsoll.report.writing import STDOUT
from plimsoll.run.guard import Place, check_places, guarded, places_of, requests_each, shares
from plimsoll.run.limits import ensure_open_files
from plimsoll.say.durations import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.load.auth.definition import AuthFields
    from plimsoll.run.plan import RunPlan
    from plimsoll.server.control.description import Description, OwnClass

REFUSED = 2
LONGEST_BODY = 100
"""Characters of a body that are shown."""
COLUMN = 12


@dataclass(frozen=True, slots=True)
class DryRun:
    """A run that is only described."""

    plan: RunPlan
    described: Description | None
    """Of a locustfile; None for native users."""
    refusal: str
    """Why it would not begin; "": it would."""
    outputs: tuple[str, ...] = ()
    """Where its figures would go, without secrets."""

    @property
    def classes(self) -> list[OwnClass]:
        found = self.described.classes if self.described else ()
        picked = self.described.picked if self.described else ()
        return [each for each in found if not picked or each.name in picked]

    @property
    def places(self) -> list[Place]:
        hosts = [] if self.plan.host else [each.host for each in self.classes if each.host]
        return list(dict.fromkeys((*places_of(self.plan), *(Place(url) for url in hosts))))

    @property
    def is_shaped(self) -> bool:
        """A LoadTestShape says how many users there are."""
        return self.plan.load is None and bool(self.described and self.described.shapes)


def dry_run(plan: RunPlan, out: tuple[str, ...], now: float, summary: str | None) -> int:
    """Print it, and write it as JSON to `summary`, if that is given. The exit code: 2 if the run would be refused.

    out: where its figures go, as `outputs.kinds` has it. now: Unix time. Raises PlimsollError for a locustfile that
    cannot be imported.
    """
    described = None
    if plan.scenario is None:
        from plimsoll.locust.script.form import described as describe

        described = describe(plan)
    refusal = ""
    dry = DryRun(plan, described, "")
    try:
        plan = guarded(plan, now)
        check_places(plan.rails, dry.places)
        ensure_open_files(plan.most_users, plan.processes)
    except PlimsollError as error:
        refusal = str(error)
    dry = DryRun(plan, described, refusal, _names(out))
    if summary is not None:
        _write(summary, dumps(document(dry), indent=2))
    if summary != STDOUT:
        click.echo("\n".join(lines(dry)))
    return REFUSED if refusal else 0


def _names(out: tuple[str, ...]) -> tuple[str, ...]:
    if not out:
        return ()
    # Only here: most runs have no outputs.
    from plimsoll.outputs.kinds import parse_target

    return tuple(parse_target(text).name.removeprefix("output ") for text in out)


def document(dry: DryRun) -> dict[str, Any]:
    """All of it as plain values. Rates per second, times in seconds; null where it is not known."""
    plan, arrivals = dry.plan, dry.plan.load.arrivals if dry.plan.is_open and dry.plan.load else None
    each = requests_each(plan.scenario) if plan.scenario else None
    peak = plan.load.peak if plan.is_open and plan.load else None
    return {
        "targets": [{"url": place.url, "proxy": place.shown_proxy, **_resolved(place)} for place in dry.places],
        "model": "open" if plan.is_open else "closed",
        "load": _load(dry),
        "users": None if dry.is_shaped else plan.most_users,
        "spawn_rate": None if plan.load else plan.spawn_rate,
        "seconds": None if dry.is_shaped else plan.seconds,
        "processes": plan.processes,
        "arrivals": arrivals,
        "peak_rate": peak if each is None or peak is None else peak * each,
        "requests": None if each is None or arrivals is None else round(arrivals * each),
        "stops_after": {
            "requests": plan.load.requests if plan.load else None,
            "iterations": plan.load.iterations if plan.load else None,
        },
        "classes": [
            {"name": one.name, "weight": one.weight, "fixed_count": one.fixed_count, "host": plan.host or one.host}
            for one in dry.classes
        ],
        "flows": list(_flows(plan)),
        "reflection": _reflection(plan),
        "auths": plain_auths((plan.scenario or {}).get("auths", ())),
        "rails": plan.rails.to_dict(),
        "outputs": list(dry.outputs),
        "header": None if plan.header is None else {HEADER: plan.header},
        "refused": dry.refusal or None,
    }


def lines(dry: DryRun) -> list[str]:
    """The same for people."""
    found, plan = document(dry), dry.plan
    text = ["Dry run: nothing is sent.", ""]
    text += _part("Target", [_place_line(place) for place in dry.places] or ["as the users' code says"])
    text += _part(
        "Load",
        [
            found["load"],
            *load_at_length(dry.plan.described(users=dry.plan.users, shaped=dry.is_shaped), 0),
            *_numbers(found),
        ],
    )
    names = [f"{one.name}  {_share(one, dry.classes)}" for one in dry.classes]
    text += _part("Users", names or ["native"])
    text += _part("Requests", [line for flow in found["flows"] for line in _flow_lines(flow)])
    text += _part(
        "Schema", [f"asked of {each} by server reflection when the run begins" for each in found["reflection"]]
    )
    text += _part("Auth", [scheme_line(auth) for auth in found["auths"]])
    text += _part("Outputs", list(dry.outputs))
    text += _part("Header", [] if plan.header is None else [f"{HEADER}: {plan.header}"])
    text += _part("Guard rails", plan.rails.lines() or ["none: --allow-hosts, --max-rate, --max-run-time set some"])
    end = f"This run would be refused: {dry.refusal}" if dry.refusal else "This run would begin."
    return [*text, "", end]


def _part(title: str, lines: list[str]) -> list[str]:
    return [f"{title if number == 0 else '':<{COLUMN}} {line}".rstrip() for number, line in enumerate(lines)]


def _numbers(found: Mapping[str, Any]) -> Iterator[str]:
    """What the load comes to."""
    seconds = found["seconds"]
    ends = [f"until {many:,} {what} have begun" for what, many in found["stops_after"].items() if many is not None]
    times = [f"for {duration_text(seconds)}"] if seconds is not None else []
    yield " or ".join([*times, *ends]) or "until it is stopped"
    if found["model"] == "open":
        yield f"at most {found['users']:,} users at a time"
        if found["requests"] is not None:
            yield f"about {found['requests']:,} requests, at most {found['peak_rate']:.6g}/s"
        elif found["arrivals"] is not None:
            yield f"about {found['arrivals']:,.0f} arrivals, at most {found['peak_rate']:.6g}/s; each runs one task"
    elif found["spawn_rate"] is not None:
        yield f"users start at {found['spawn_rate']:.6g} per second"
        yield "how many requests that makes depends on the target"
    if found["processes"] > 1:
        yield f"from {found['processes']} processes"


def _load(dry: DryRun) -> str:
    text = load_in_short(dry.plan.described(users=dry.plan.users, shaped=dry.is_shaped))
    return text if dry.plan.is_open else f"closed model, {text}"


def _share(one: OwnClass, classes: list[OwnClass]) -> str:
    if one.fixed_count:
        return f"{one.fixed_count} of them"
    weights = sum(each.weight for each in classes if not each.fixed_count)
    return f"weight {one.weight:g}, {100 * one.weight / weights:.0f} %" if weights else ""


def _resolved(place: Place) -> dict[str, Any]:
    try:
        found = place.addresses()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return {"addresses": [], "public": None, "error": f"cannot be resolved: {reason}"}
    return {"addresses": found, "public": place.is_public(found), "error": None}


def _place_line(place: Place) -> str:
    known = _resolved(place)
    where = known["error"] or ", ".join(known["addresses"])
    kind = {True: "public", False: "not public", None: ""}[known["public"]]
    notes = [part for part in (where, kind, place.proxy and f"by way of {place.shown_proxy}") if part]
    return f"{place.url}  ({'; '.join(notes)})" if notes else place.url


def _reflection(plan: RunPlan) -> list[str]:
    """The targets that are to be asked for the schema of their calls."""
    if plan.scenario is None or not calls.needs_schema(plan.scenario):
        return []
    return [grpc_url(plan.scenario["targets"][index]["url"]) for index in calls.calls_by_target(plan.scenario)]


def scheme_line(auth: AuthFields) -> str:
    """What is done for a way to say who sends requests."""
    ((kind, fields),) = auth.items()
    match kind:
        case "oauth2" if fields["issuer"] is not None:
            return f"tokens of the service that {fields['name']} names; it is asked when the run begins"
        case "oauth2":
            return f"tokens of {fields['name']}"
        case "aws_sigv4":
            return f"AWS Signature 4 for {fields['service']} in {fields['region']}"
        case _:
            return "answers to digest challenges"


def _flows(plan: RunPlan) -> Iterator[dict[str, Any]]:
    if plan.scenario is None:
        return
    for flow, share in shares(plan.scenario):
        steps = [_step(step, plan.scenario) for step in flow["steps"]]
        yield {"name": flow["name"], "share": share, "steps": steps}


def _step(step: Mapping[str, Any], scenario: Mapping[str, Any]) -> dict[str, Any]:
    target = scenario["targets"][step.get("target") or 0]
    method, url = step.get("method"), target["url"] + step.get("path", "")
    headers = [*(target.get("headers") or ()), *(step.get("headers") or ())]
    if websocket := step.get("websocket"):
        ((method, _),) = websocket.items()
        if method == "connect":
            url = url.replace("http", "ws", 1)
        else:
            url, headers = None, []
    if grpc := step.get("grpc"):
        method, url = "gRPC", f"{grpc_url(target['url'])}/{grpc['method']}"
    return {
        "method": method,
        "url": None if url is None else redact(url),
        "auth": step.get("auth"),
        "headers": masked_headers(headers, scenario.get("credentials", ())),
        "body": _body(step.get("body")),
        "if": step.get("if"),
        "repeat": None if step.get("repeat") is None else _repeated(**step["repeat"]),
    }


def _repeated(most: int, **conditions: object) -> str:
    """How often a step is done."""
    condition = "".join(f"{name} {text}, at most " for name, text in conditions.items() if name in ("while", "until"))
    return f"{condition}{most:,} times"


def _body(body: Mapping[str, Any] | None) -> str | None:
    if body is None:
        return None
    ((kind, value),) = body.items()
    text = one_line(redact(value if isinstance(value, str) else dumps(value)))
    text = text if len(text) <= LONGEST_BODY else f"{text[:LONGEST_BODY]}… ({len(text):,} characters)"
    return text if kind == "text" else f"{kind}: {text}"


def _flow_lines(flow: Mapping[str, Any]) -> Iterator[str]:
    several = len(flow["steps"]) > 1 or flow["share"] < 1
    if several:
        yield f"{one_line(flow['name'])}  {100 * flow['share']:.0f} %"
    for step in flow["steps"]:
        yield f"{'  ' * several}{step['method']} {one_line(step['url'] or '')}".rstrip()
        if step["if"] is not None:
            yield f"{'  ' * several}  if {one_line(step['if'])}"
        if step["repeat"] is not None:
            yield f"{'  ' * several}  repeat {one_line(step['repeat'])}"
        yield from (f"{'  ' * several}  {name}: {one_line(value)}" for name, value in step["headers"])
        if step["body"] is not None:
            yield f"{'  ' * several}  body {step['body']}"


def _write(path: str, text: str) -> None:
    if path == STDOUT:
        click.echo(text)
        return
    try:
        Path(path).write_text(f"{text}\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
