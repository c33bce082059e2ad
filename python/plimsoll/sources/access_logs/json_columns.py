"""Columns of JSON lines as a person names them: `method=http.method,path=url.path,status=code,time=@timestamp`.

A key of an object in the object is written with dots. A key that has dots itself is written as it is.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.plain_text import printable
from plimsoll.sources.access_logs.line import AccessLine, line_of, unix_time
from plimsoll.sources.json_values import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMNS = {
    "method": "GET, POST, …",
    "path": "with or without its query, or the whole URL",
    "query": "if the path is without it",
    "request": "method and path in one: GET /todos/ HTTP/1.1",
    "status": "200, 404, …",
    "time": "Unix time in s, ms, µs or ns, ISO 8601, or as Apache writes it",
    "duration": "how long the request took; with a unit: took:ms",
    "client": "the address of the client",
    "session": "what tells visitors apart better than their address",
}
"""What a request may have, with its form."""
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
"""Of a duration, in seconds."""
EXAMPLE = "method=http.method,path=url.path,status=status,time=@timestamp"
_PAIR = re.compile(r"\s*([A-Za-z_]+)\s*=\s*([^\s,=][^,]*?)\s*")
_VARIABLES = re.compile(r"\$\{?[A-Za-z_]|%[!,0-9]*[<>]?(?:\{[^}]*\})?[A-Za-z]")
"""Of a format of nginx or Apache."""
_REQUEST_LINE = re.compile(r"([A-Za-z]{3,20}) (\S+)(?: HTTP/[0-9.]+)?")
_METHOD = re.compile(r"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)", re.IGNORECASE)
_PATH = re.compile(r"/\S*|https?://\S+")
_TIME_KEY = re.compile(r"time|date|ts$", re.IGNORECASE)
_MOST_KEYS = 40
_LONGEST_KEY = 60
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class JsonColumn:
    """One column: which key has it."""

    name: str
    """One of `COLUMNS`."""
    key: str
    unit_s: float = 1.0
    """Of a duration."""

    def __str__(self) -> str:
        return f"{self.key} ({self.name})"


class JsonColumns:
    """Reads lines with a JSON object. It keeps which columns no line has had."""

    def __init__(self, columns: Sequence[JsonColumn]) -> None:
        self.unseen = {column.name: column for column in columns}
        self._columns = {column.name: column for column in columns}

    def __call__(self, line: str) -> AccessLine | None:
        row = _object_in(line)
        return None if row is None else self._request(self._values(row))

    def complaint(self, line: str) -> str:
        """Why a line is no request; "" if it is one."""
        row = _object_in(line)
        if row is None:
            return "is no JSON object"
        values = self._values(row)
        needed = self._columns.keys() & {"method", "path", "request"}
        always = needed | (self._columns.keys() & {"status", "time"})
        if missing := [column for name, column in self._columns.items() if name in always and name not in values]:
            return f"has no key {', '.join(map(str, missing))}; its keys are {', '.join(_keys(row))}"
        if self._request(values) is None:
            said = ", ".join(
                f"{column} is {json.dumps(values[name], ensure_ascii=False)[:_LONGEST_KEY]}"
                for name, column in self._columns.items()
                if name in needed
            )
            return f"is no request: {said}; needed are a method such as GET, and a path that begins with /, or a URL"
        for name, column in self._columns.items():
            value = values.get(name)
            if value is not None and not _is_of(column, value):
                shown = json.dumps(value, ensure_ascii=False)[:_LONGEST_KEY]
                return f"{column} is {shown}; needed is {_form(name)}"
        return ""

    def known_in(self, line: str) -> int:
        """How many of the columns a line has."""
        return len(self._values(_object_in(line) or {}))

    def unseen_in(self, line: str) -> str:
        """Which columns no line has had so far, with the keys of this line; "" if there is none."""
        if not self.unseen:
            return ""
        row = _object_in(line) or {}
        column = next(iter(self.unseen.values()))
        return f"no line has the key {column}; leave it out of --log-format, or name one of {', '.join(_keys(row))}"

    def _values(self, row: JsonObject) -> JsonObject:
        """The values of the columns, by name; none for those that the line does not have."""
        values: JsonObject = {}
        for name, column in self._columns.items():
            has_key, value = value_at(row, column.key)
            if has_key:
                self.unseen.pop(name, None)
                values[name] = value
        return values

    def _request(self, values: JsonObject) -> AccessLine | None:
        method, target = values.get("method"), values.get("path")
        if (line := values.get("request")) is not None and (match := _REQUEST_LINE.fullmatch(str(line))):
            method, target = method or match[1], target or match[2]
        if not (isinstance(method, str) and isinstance(target, str)):
            return None
        query = values.get("query")
        if query and isinstance(query, str) and "?" not in target:
            target = f"{target}?{query.removeprefix('?')}"
        client = values.get("session") or values.get("client") or ""
        return line_of(method.upper(), target, values.get("status"), self._start(values), str(client))

    def _start(self, values: JsonObject) -> Any:
        """When the request began: a line with its duration is written at its end."""
        time = values.get("time")
        if "duration" not in self._columns:
            return time
        end, duration = unix_time(time), _number(values.get("duration"))
        if end is None or duration is None:
            return time
        return end - duration * self._columns["duration"].unit_s


def json_columns(text: str) -> JsonColumns | None:
    """The reader of a --log-format that names keys; None for a format of nginx or Apache. Raises UsageError."""
    if _VARIABLES.search(text) or "=" not in text:
        return None
    columns: dict[str, JsonColumn] = {}
    for part in text.split(","):
        column = _column(part, text)
        if column.name in columns:
            raise UsageError(f"--log-format {text!r}: {column.name} is given twice")
        columns[column.name] = column
    if "request" not in columns and not {"method", "path"} <= columns.keys():
        missing = ", ".join(name for name in ("method", "path") if name not in columns)
        raise UsageError(f"--log-format {text!r}: has no {missing}; write for example {EXAMPLE}")
    return JsonColumns([*columns.values()])


def _column(part: str, text: str) -> JsonColumn:
    pair = _PAIR.fullmatch(part)
    if pair is None:
        raise UsageError(f"--log-format {text!r}: {part.strip()!r} is not NAME=KEY; write for example {EXAMPLE}")
    name, key = pair[1].lower(), pair[2]
    if name not in COLUMNS:
        near = difflib.get_close_matches(name, COLUMNS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"--log-format {text!r}: unknown name {pair[1]}; {hint}names are {', '.join(COLUMNS)}")
    unit = 1.0
    if name == "duration" and ":" in key:
        key, _, word = key.rpartition(":")
        if word not in UNITS:
            raise UsageError(f"--log-format {text!r}: unknown unit {word}; units of a duration are {', '.join(UNITS)}")
        unit = UNITS[word]
    # As in expressions of JSONPath and of jq.
    key = key.removeprefix("$").removeprefix(".") if key.startswith(("$.", ".")) else key
    return JsonColumn(name, key, unit)


def value_at(row: Any, key: str) -> tuple[bool, Any]:
    """Whether the object has this key, and its value. A part of the key may be that of an object in it."""
    if not isinstance(row, dict):
        return False, None
    if key in row:
        return True, row[key]
    end = key.find(".")
    while end > 0:
        if (head := key[:end]) in row:
            has_key, value = value_at(row[head], key[end + 1 :])
            if has_key:
                return True, value
        end = key.find(".", end + 1)
    return False, None


def suggestion(line: str) -> str:
    """A --log-format for lines like this one, by the forms of its values; "" if it has no request."""
    row = _object_in(line) or {}
    columns: dict[str, str] = {}
    for key, value in _leaves(row):
        if isinstance(value, str) and _REQUEST_LINE.fullmatch(value) and "request" not in columns:
            columns["request"] = key
        elif isinstance(value, str) and _METHOD.fullmatch(value):
            columns.setdefault("method", key)
        elif isinstance(value, str) and _PATH.fullmatch(value):
            columns.setdefault("path", key)
        elif re.fullmatch(r"[1-5][0-9]{2}", str(value)) and re.search(r"status|code", key, re.IGNORECASE):
            columns.setdefault("status", key)
        elif unix_time(value) is not None and (_TIME_KEY.search(key) or ":" in str(value)):
            columns.setdefault("time", key)
    if not ({"method", "path"} <= columns.keys() or "request" in columns):
        return ""
    if "request" in columns:
        columns = {name: key for name, key in columns.items() if name not in ("method", "path")}
    return ",".join(f"{name}={columns[name]}" for name in COLUMNS if name in columns)


def _object_in(line: str) -> JsonObject | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _keys(row: JsonObject) -> list[str]:
    """The keys of a line, those of objects in it with dots."""
    keys = [key for key, _ in islice(_leaves(row), _MOST_KEYS + 1)]
    return [*(printable(key)[:_LONGEST_KEY] for key in keys[:_MOST_KEYS]), *(["…"] if len(keys) > _MOST_KEYS else [])]


def _leaves(row: JsonObject, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict) and value and depth < _DEEPEST:
            yield from _leaves(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", value


def _is_of(column: JsonColumn, value: Any) -> bool:
    """Whether a value has the form of its column."""
    match column.name:
        case "time":
            return unix_time(value) is not None
        case "status":
            return re.fullmatch(r"[1-5][0-9]{2}", str(value)) is not None
        case "duration":
            return _number(value) is not None
    return True


def _form(name: str) -> str:
    return {"duration": "a number, with its unit in --log-format: took:ms"}.get(name, COLUMNS[name])


def _number(value: Any) -> float | None:
    """A number of at most a day in any unit; None for another value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 86_400e9 else None
