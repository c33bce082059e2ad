"""vegeta's target files: requests that are sent in turn.

The first line determines the format: `METHOD URL` followed by header lines and `@bodyfile`, or one JSON object per
line.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.errors import UsageError
from plimsoll.load import origins
from plimsoll.load.bodies import encoded, header_name, header_value, is_method, parse_header
from plimsoll.load.engine_check import refusal
from plimsoll.load.file_access import checked, lines_of, read_text
from plimsoll.load.mistakes import BadValueError, named, nearest, shown
from plimsoll.say.names import listed

MOST_ENDPOINTS = 200
"""Above this, all requests are counted as one endpoint with the name of the file."""

SHORT_BODY = 60
"""Characters of base64 that a message shows in full."""

_SCRIPTS = {".js": "k6", ".ts": "k6", ".jmx": "JMeter", ".scala": "Gatling", ".lua": "wrk", ".yml": "Artillery"}
_REQUEST = re.compile(r"(?P<method>[A-Z]+)\s+(?P<url>\S+)")
_FIELDS = ("method", "url", "body", "header")
_FLOW = re.compile(r"flows\[(\d+)\]")


@dataclass(slots=True)
class Request:
    line: int
    """Its first line."""
    method: str
    address: origins.Address
    headers: list[list[str]] = field(default_factory=list)
    body: dict[str, str] | None = None


def read_targets(path: str, host: str | None = None) -> dict[str, Any]:
    """The scenario of a target file. host: a URL that replaces the origin, which must be the same for all.

    Raises UsageError with file and line.
    """
    file = Path(path)
    if tool := _SCRIPTS.get(file.suffix):
        raise UsageError(
            f"{path}: Plimsoll does not run scripts of {tool}; docs/guides/from-other-tools.md shows the same as a "
            "locustfile or a plan"
        )
    lines = [
        (number, line.strip())
        for number, line in enumerate(lines_of(read_text(file)), 1)
        if not line.lstrip().startswith("#")
    ]
    first = next((text for _, text in lines if text), "")
    if first.startswith("["):
        raise UsageError(
            f"{path} is a list; one JSON object per line is expected: jq -c '.[]' {shlex.quote(path)} > lines.json"
        )
    requests = (_json_lines if first.startswith("{") else _http_lines)(lines, file)
    if not requests:
        raise UsageError(f"{path} has no targets; a line like GET http://127.0.0.1:8000/ is expected")
    definition = _scenario(requests, file, host)
    if refused := refusal(definition):
        place, reason = refused
        flow = _FLOW.match(place)
        raise UsageError(f"{path}:{requests[int(flow[1])].line}: {reason}" if flow else f"{path}: {reason}")
    return definition


def _http_lines(lines: list[tuple[int, str]], file: Path) -> list[Request]:
    requests: list[Request] = []
    open_one: Request | None = None
    for number, text in lines:
        with named(f"{file}:{number}"):
            if not text:
                open_one = None
            elif open_one is None or _REQUEST.fullmatch(text):
                open_one = _first_line(text, number)
                requests.append(open_one)
            elif text.startswith("@"):
                if open_one.body is not None:
                    raise BadValueError("a second body")
                open_one.body = encoded(_body_file(text[1:], file))
            else:
                open_one.headers.append(parse_header(text))
    return requests


def _first_line(text: str, number: int) -> Request:
    match = _REQUEST.fullmatch(text)
    if match is None:
        raise BadValueError(f"{shown(text)} does not begin a target; METHOD URL is expected, with an empty line before")
    return Request(number, match["method"], origins.split_url(match["url"]))


def _body_file(name: str, file: Path) -> bytes:
    """Relative to the target file, or else to the current folder as in vegeta."""
    path = Path(name).expanduser()
    beside = file.parent / path
    try:
        return checked(beside if beside.exists() else path).read_bytes()
    except OSError as error:
        raise BadValueError(f"cannot read {beside}: {error.strerror}") from error


def _json_lines(lines: list[tuple[int, str]], file: Path) -> list[Request]:
    requests = []
    for number, text in lines:
        with named(f"{file}:{number}"):
            if text:
                requests.append(_json_target(text, number))
    return requests


def _json_target(text: str, number: int) -> Request:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadValueError(f"not JSON: {error.msg} (column {error.colno})") from error
    if not isinstance(data, dict):
        raise BadValueError(f"{shown(data)} is not an object")
    for name in data:
        if name not in _FIELDS:
            meant = nearest(name, _FIELDS)
            raise BadValueError(
                f"{name}: is no field; " + (f"did you mean {meant}?" if meant else "see vegeta's format")
            )
    for name in ("method", "url"):
        if not isinstance(data.get(name), str) or not data[name]:
            raise BadValueError(f"{name}: is missing, or no text")
    if not is_method(data["method"]):
        raise BadValueError(f"method: {shown(data['method'])} cannot be a method")
    request = Request(number, data["method"], origins.split_url(data["url"]), _json_headers(data.get("header")))
    if data.get("body"):
        request.body = {"base64": _json_body(data["body"])}
    return request


def _json_body(value: Any) -> str:
    """vegeta's bodies are base64 of their bytes."""
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        meant = base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()
        hint = f": {shown(meant)} is that of this body" if len(meant) <= SHORT_BODY else ""
        raise BadValueError(f"body: {shown(value)} is not base64{hint}") from error
    return str(value)


def _json_headers(headers: Any) -> list[list[str]]:
    """{name: [value, …]}, or a single value."""
    if headers is None:
        return []
    if not isinstance(headers, dict):
        raise BadValueError(f"header: {shown(headers)} is not an object of name: [value]")
    lines = []
    for name, values in headers.items():
        for value in values if isinstance(values, list) else [values]:
            if not isinstance(value, str):
                raise BadValueError(f"header: {name}: {shown(value)} is not text")
            lines.append([header_name(name), header_value(value)])
    return lines


def _scenario(requests: list[Request], file: Path, host: str | None) -> dict[str, Any]:
    places = list(dict.fromkeys(request.address.origin for request in requests))
    if host is not None and len(places) > 1:
        raise UsageError(f"--host cannot replace them all: {file} has {listed(places)}")
    names = {(request.method, _name(request)) for request in requests}
    flows = []
    for request in requests:
        name = _name(request) if len(names) <= MOST_ENDPOINTS else file.name
        step = {
            "name": name, "target": places.index(request.address.origin), "method": request.method,
            "path": origins.escaped(request.address.path), "body": request.body,
            "headers": [[name, origins.escaped(value)] for name, value in request.headers],
        }  # fmt: skip
        flows.append({"name": f"line {request.line}", "steps": [step]})
    targets = [origins.target(place if host is None else origins.split_url(host).origin) for place in places]
    return {"targets": targets, "choice": "in_turn", "flows": flows}


def _name(request: Request) -> str:
    return request.address.path.partition("?")[0]
