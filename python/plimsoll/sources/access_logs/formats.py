"""The formats of access logs. Each is a function from a line to a request; None for a line of another format.

combined and common   Apache, nginx, Traefik; also with further fields before and after, as Envoy, HAProxy and ALB have
W3C extended          IIS and CloudFront: the line #Fields names the columns
JSON lines            Caddy, Traefik, Envoy, nginx and others: fields are found by their common names; others: see
                      `json_columns`
a format string       $variables of nginx's log_format, or %directives of Apache's LogFormat
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from plimsoll.errors import UsageError
from plimsoll.sources.access_logs.json_columns import EXAMPLE
from plimsoll.sources.access_logs.line import AccessLine, line_of

LineReader = Callable[[str], AccessLine | None]

_REQUEST = re.compile(
    r'"(?P<method>[A-Z]{3,20}) (?P<target>(?:\\.|[^"\\ ])+)(?: (?:HTTP|QUIC)/[0-9.]+)?"'
    r'(?:\s+"?(?P<status>[1-5][0-9]{2})\b)?'
)
_STATUS_BEFORE = re.compile(r"(?<=\s)([1-5][0-9]{2})(?=\s)")
_TIME = re.compile(
    r"\[([^\]\s]{8,40}(?: [+-][0-9]{4})?)\]|(?<!\S)([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]{4,6})?)"
)
_CLIENT = re.compile(
    r"(?<![0-9A-Fa-f.:])((?:[0-9]{1,3}\.){3}[0-9]{1,3}"
    r"|(?=[0-9A-Fa-f:]{0,36}::|(?:[0-9A-Fa-f]{1,4}:){7})[0-9A-Fa-f:]{2,39})(?![0-9A-Fa-f.])"
)
"""An address of IPv4 or IPv6."""

_METHODS = ("method", "request_method", "requestmethod", "http_method", "cs-method", "verb")
_TARGETS = (
    "uri", "request_uri", "requesturi", "requestpath", "path", "url", "x-envoy-original-path", "target", "cs-uri-stem",
)  # fmt: skip
_STATUSES = ("status", "response_code", "status_code", "downstreamstatus", "sc-status", "code", "http_status")
_TIMES = ("ts", "time", "startutc", "start_time", "timestamp", "@timestamp", "time_iso8601", "time_local", "msec")
_CLIENTS = (
    "remote_ip", "client_ip", "remote_addr", "clienthost", "remote_host", "c-ip", "x_forwarded_for", "client",
    "downstream_remote_address",
)  # fmt: skip
_REQUEST_LINE = re.compile(r"([A-Z]{3,20}) (\S+)(?: HTTP/[0-9.]+)?")
_DIRECTIVES = {
    "h": "remote_addr", "a": "remote_addr", "t": "time_local", "r": "request", "s": "status", "m": "request_method",
    "U": "path", "q": "query",
}  # fmt: skip
"""Those of Apache that a scenario needs, as nginx names them."""
_DIRECTIVE = re.compile(r"%[!,0-9]*[<>]?(?:\{(?P<argument>[^}]*)\})?(?P<letter>[A-Za-z%])|\$\{?(?P<name>[a-z_0-9]+)\}?")
_NEEDED = "$request, or $request_method and $request_uri; of Apache %r, or %m and %U"
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|([\"\\]))")


def _unescaped(target: str) -> str:
    """As it was sent: nginx and Apache write a quote as \\x22 or \\"."""
    return _ESCAPED.sub(lambda found: f"%{found[1] or format(ord(found[2]), '02X')}", target)


def text_line(line: str) -> AccessLine | None:
    """A line with the quoted request line of HTTP: "GET /path HTTP/1.1"."""
    request = _REQUEST.search(line)
    if request is None:
        return None
    before = line[: request.start()]
    time, earlier = _TIME.search(line), _STATUS_BEFORE.search(before)
    status = request["status"] or (earlier[1] if earlier else None)
    client = _CLIENT.search(before) or _CLIENT.search(line, request.end())
    return line_of(
        request["method"], _unescaped(request["target"]), status, (time[1] or time[2]) if time else None,
        client[1] if client else before.partition(" ")[0],
    )  # fmt: skip


def json_line(line: str) -> AccessLine | None:
    """A line with a JSON object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _of_fields(_flat(value)) if isinstance(value, dict) else None


def column_reader(fields: str) -> LineReader:
    """Of lines in W3C extended format. fields: the names of the columns, as the line #Fields has them."""
    names, has_tabs = fields.lower().split(), "\t" in fields

    def read(line: str) -> AccessLine | None:
        values = line.split("\t" if has_tabs or "\t" in line else None)
        if len(values) != len(names):
            return None
        row: dict[str, Any] = {name: value for name, value in zip(names, values, strict=True) if value != "-"}
        if "date" in row and "time" in row:
            row["time"] = f"{row['date']}T{row['time']}"
        if query := row.get("cs-uri-query"):
            row["cs-uri-stem"] = f"{row.get('cs-uri-stem', '')}?{query}"
        return _of_fields(row)

    return read


def format_reader(text: str) -> LineReader:
    """Of lines in this format of nginx or Apache. Raises UsageError for one that does not have the request."""
    # Quotes are as in a configuration file, or as in the log.
    text = text.replace('\\"', '"')
    pattern, names = "", set()
    end = 0
    for found in _DIRECTIVE.finditer(text):
        pattern += re.escape(text[end : found.start()])
        end = found.end()
        name = found["name"] or _DIRECTIVES.get(found["letter"] or "", "")
        following = text[end : end + 1]
        # The beginning of a format is enough: the line may go on after the status.
        last = r"\S*" if name == "status" else ".*"
        value = rf"[^{re.escape(following)}]*" if following else last
        if found["letter"] == "t":
            value = r"\[[^\]]*\]"
        pattern += f"(?P<{name}>{value})" if name.isidentifier() and name not in names else value
        names.add(name)
    pattern += re.escape(text[end:])
    if "request" not in names and not (names & set(_METHODS) and names & {"path", "uri", "request_uri"}):
        raise UsageError(f"--log-format {text!r}: has no request; needed are {_NEEDED}; of JSON lines {EXAMPLE}")
    compiled = re.compile(pattern)

    def read(line: str) -> AccessLine | None:
        found = compiled.match(line)
        return _of_fields(found.groupdict()) if found else None

    return read


def _of_fields(row: dict[str, Any]) -> AccessLine | None:
    """The request of named values."""
    method, target = _first(row, _METHODS), _first(row, _TARGETS)
    if not (method and target) and (request := _REQUEST_LINE.fullmatch(str(row.get("request", "")))):
        method, target = request.groups()
    if not (isinstance(method, str) and isinstance(target, str)):
        return None
    if (query := str(row.get("query") or "")) and "?" not in target:
        target = f"{target}?{query.removeprefix('?')}"
    client = str(_first(row, _CLIENTS) or "")
    return line_of(method.upper(), target, _first(row, _STATUSES), _first(row, _TIMES), client)


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    """Its fields and those of the objects in it, by their names in small letters. Outer fields come first."""
    row: dict[str, Any] = {}
    inner = []
    for name, field in value.items():
        if isinstance(field, dict):
            inner.append(field)
        else:
            row.setdefault(str(name).lower(), field)
    for fields in inner:
        for name, field in fields.items():
            row.setdefault(str(name).lower(), field)
    return row


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "", "-")), None)
