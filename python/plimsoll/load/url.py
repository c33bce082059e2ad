"""A single URL as a scenario: a repeated request, a repeated call of gRPC, or a WebSocket with a repeated message."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Recorder
from plimsoll.errors import UsageError
from plimsoll.load import origins
from plimsoll.load.bodies import encoded, fixed_text, is_method, json_template, parse_header
from plimsoll.load.durations import parse_length
from plimsoll.load.engine_check import refusal
from plimsoll.load.file_access import checked, read_text
from plimsoll.load.mistakes import BadValueError, named, shown
from plimsoll.load.protocols import grpc
from plimsoll.load.spec import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OPTIONS = {
    "method": "--method", "path": "URL", "headers": "--header", "body": "--body", "slo": "--slo",
    "websocket": "--subprotocol",
}  # fmt: skip


def url_scenario(
    url: str,
    *,
    method: str = "GET",
    headers: Sequence[str] = (),
    body: str | None = None,
    body_file: str | None = None,
    stream: str | None = None,
    objectives: Sequence[str] = (),
) -> dict[str, Any]:
    """One repeated request. headers: "Name: value" lines. URL, headers and body may contain ${uuid} and the like; a
    body file is sent unchanged, and replaces a body. stream: as in a step of a plan. objectives: "name=time" texts.
    Raises UsageError with the name of the option."""
    if not is_method(method):
        raise UsageError(f"--method: {shown(method)} cannot be a method")
    address = origins.split_url(url)
    with named("--header"):
        lines = [parse_header(line) for line in headers]
    step: dict[str, Any] = {
        "name": address.path, "method": method, "path": address.path, "headers": lines, "body": _body(body, body_file),
    }  # fmt: skip
    if stream is not None:
        step["stream"] = stream
    if stream == "llm" and not any(name.lower() == "content-type" for name, _ in lines):
        lines.append(["Content-Type", "application/json"])
    if objectives:
        if stream != "llm":
            raise UsageError("--slo: goes with --stream llm")
        step["slo"] = parse_objectives(objectives)
    return check(_definition(address, [step]))


def socket_scenario(
    url: str, *, message: str | None, headers: Sequence[str] = (), protocols: Sequence[str] = ()
) -> dict[str, Any]:
    """Each user opens a WebSocket, and sends the message and waits for the next one again and again. headers,
    message: as in `url_scenario`. Raises UsageError with the name of the option."""
    address = origins.split_socket_url(url)
    if message is None:
        raise UsageError("a WebSocket needs a message to send: --message TEXT")
    with named("--header"):
        lines = [parse_header(line) for line in headers]
    with named("--subprotocol"):
        offered = [fixed_text(protocol) for protocol in protocols]
    name = address.path
    steps: list[dict[str, Any]] = [
        {"name": name, "path": name, "headers": lines, "websocket": {"connect": {"protocols": offered}}},
        {"name": name, "body": {"text": message}, "websocket": {"send": {}}},
        {"name": name, "websocket": {"receive": {"reply": True}}},
    ]
    return check(_definition(address, steps), _OPTIONS | {"body": "--message"})


def grpc_scenario(
    url: str,
    *,
    protos: Sequence[str] = (),
    roots: Sequence[str] = (),
    message: str | None = None,
    message_file: str | None = None,
    headers: Sequence[str] = (),
) -> dict[str, Any]:
    """One repeated call. protos: .proto files or descriptor sets; without any, the target has to be asked for its
    schema. roots: folders in which their imports begin. message: JSON that may contain ${uuid} and the like, also in a
    file. headers: as in `url_scenario`. Raises UsageError with the name of the option."""
    address = origins.split_grpc_url(url)
    method = address.path.removeprefix("/")
    if roots and not protos:
        raise UsageError("--proto-path goes with --proto FILE")
    with named("--header"):
        lines = [parse_header(line) for line in headers]
    step: dict[str, Any] = {"name": method, "grpc": grpc.definition(method, gzip=False), "headers": lines}
    with named("--body"):
        text = message if message_file is None else read_text(Path(message_file))
        if text is not None:
            step["body"] = {"json": json_template(text)}
    definition = _definition(address, [step], http2=True)
    if protos:
        with named("--proto"):
            definition["schema"] = grpc.schema_of(map(Path, protos), map(Path, roots), definition["flows"])
    return check(definition)


def _definition(address: origins.Address, steps: list[dict[str, Any]], *, http2: bool = False) -> dict[str, Any]:
    target = origins.target(address.origin, http2=http2)
    return {"targets": [target], "flows": [{"name": steps[0]["name"], "steps": steps}]}


def check(definition: dict[str, Any], options: Mapping[str, str] = _OPTIONS) -> dict[str, Any]:
    """The scenario of a URL, as it is. options: by field of a step. Raises UsageError with the name of the option."""
    if refused := refusal(definition):
        place, reason = refused
        field = re.split(r"[.\[]", re.sub(r"^flows\[0\]\.steps\[\d+\]\.", "", place))[0]
        raise UsageError(f"{options.get(field, 'URL')}: {reason}")
    return definition


def parse_objectives(texts: Sequence[str]) -> dict[str, float]:
    """{objective: seconds} of "name=time" texts. Raises UsageError."""
    found = {}
    with named("--slo"):
        for text in texts:
            name, sign, time = text.partition("=")
            if not sign or name not in OBJECTIVES:
                valid = ", ".join(f"{each}=TIME" for each in OBJECTIVES)
                raise BadValueError(f"{shown(text)} is no objective; valid are {valid}")
            found[name] = parse_length(time)
        try:
            Recorder(0).set_objectives(**found)
        except ValueError as error:
            raise BadValueError(str(error)) from error
    return found


def _body(text: str | None, file: str | None) -> dict[str, str] | None:
    if file is None:
        return None if text is None else {"text": text}
    try:
        return encoded(checked(Path(file)).read_bytes())
    except OSError as error:
        raise UsageError(f"--body: cannot read {file}: {error.strerror}") from error
