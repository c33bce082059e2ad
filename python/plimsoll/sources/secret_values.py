"""Finds what must not be written into a scenario: credentials in headers, in URLs, in forms and in JSON."""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import TYPE_CHECKING
from urllib.parse import unquote

from plimsoll.redact import is_secret_field, is_secret_header
from plimsoll.sources.draft import Variable
from plimsoll.sources.request_values import RequestValue, flat, request_values, variable_of, with_variables

if TYPE_CHECKING:
    from plimsoll.sources.draft import DraftStep, ScenarioDraft, Text

_IN_TEXTS = (
    re.compile(r'"([^"\\]{1,100})"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(-?[\d.]+))', re.DOTALL),
    re.compile(r"<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[(.*?)\]\]>|([^<]*[^<\s]))\s*</", re.DOTALL),
    re.compile(r"""([\w.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')"""),
    re.compile(r"(?:^|[&?])([^=&?\s\"'<>]+)=(?:([^&\s\"'<>]+))", re.MULTILINE),
)
"""A name and its value in a body that is read as plain text: JSON, elements and attributes of XML, fields of a form."""
_IN_STRINGS = re.compile(r"""([\w-]+)(?:\\+")?\s*[:=]\s*\\+"([^"\\]+)\\+\"""")
"""The same within a string of JSON: another document, or a query of GraphQL."""
_SECRETS_OF_AUTH = frozenset((
    "client_secret", "username", "password", "refresh_token", "access_key", "secret_key", "session_token",
))  # fmt: skip
"""Fields of `auth` whose values are not written into a scenario."""
_SCHEME = re.compile(r"(Bearer|Basic|Token|ApiKey|Digest) (.+)", re.IGNORECASE | re.DOTALL)


def hide_secrets(draft: ScenarioDraft) -> None:
    """Put a variable in place of each credential, and keep the values beside the draft."""
    names: dict[str, str] = {}
    """Names of variables by value."""
    for step in draft.steps:
        credentials = step.exchange.credentials
        step.headers = [
            (name, _hidden_header(name, text, draft, names))
            if is_secret_header(name) or name in credentials else (name, text)
            for name, text in step.headers
        ]  # fmt: skip
        step.auth = [
            (name, _hidden_field(name, text, draft, names) if name in _SECRETS_OF_AUTH else text)
            for name, text in step.auth
        ]
        hidden = [
            value for value in request_values(step)
            if (is_secret_field(value.label) or (value.field == "path" and value.label in credentials))
            and not value.field.startswith("header ")
            and not value.place.startswith("path segment")
        ]  # fmt: skip
        hidden += _text_values(step, [value for value in hidden if value.field == "body"])
        with_variables(step, [(value, _variable(value.label, value.value, draft, names)) for value in hidden])


def _text_values(step: DraftStep, known: list[RequestValue]) -> list[RequestValue]:
    """Credentials within the strings of a body, and of one that is no document, because variables are in it or its
    type is not said. known: those that are found already."""
    patterns = {"text": (*_IN_TEXTS, _IN_STRINGS), "json": (_IN_STRINGS,)}.get(step.kind, ())
    whole = flat(step.body)
    values: list[RequestValue] = []
    for match in (match for pattern in patterns for match in pattern.finditer(whole)):
        number, label = match.lastindex or 0, unquote(match[1])
        start, end = match.span(number)
        is_free = all(end <= value.start or value.end <= start for value in (*known, *values))
        # A value that is a variable already is no credential of the recording.
        is_sent = bool(match[number]) and not any(variable_of(character, step.body) for character in match[number])
        if is_sent and is_free and is_secret_field(label):
            values.append(RequestValue("body", start, end, match[number], label, "text"))
    return values


def _hidden_header(name: str, text: Text, draft: ScenarioDraft, names: dict[str, str]) -> Text:
    if not text or any(isinstance(piece, Variable) for piece in text):
        return text
    value = "".join(map(str, text))
    scheme = _SCHEME.fullmatch(value)
    if scheme is None:
        return (_variable(name, value, draft, names),)
    return (f"{scheme[1]} ", _variable("token" if scheme[1].lower() == "bearer" else name, scheme[2], draft, names))


def _hidden_field(name: str, text: Text, draft: ScenarioDraft, names: dict[str, str]) -> Text:
    if not text or any(isinstance(piece, Variable) for piece in text):
        return text
    return (_variable(name, "".join(map(str, text)), draft, names),)


def _variable(label: str, value: str, draft: ScenarioDraft, names: dict[str, str]) -> Variable:
    if value not in names:
        name = names[value] = free_name(label, draft)
        draft.secrets[name] = draft.samples[name] = value
    return Variable(names[value], "secret")


def free_name(label: str, draft: ScenarioDraft) -> str:
    """A name for a variable that no other one has: `X-CSRF-Token` becomes x_csrf_token."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unquote(label).rpartition(".")[2])
    name = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "value"
    if not name[0].isalpha() or name in _TAKEN or iskeyword(name):
        name = f"value_{name}"
    number, free = 1, name
    while free in draft.samples:
        number += 1
        free = f"{name}_{number}"
    return free


_TAKEN = frozenset((
    "uuid", "iteration", "user", "random", "self", "response", "os", "re", "json", "csv", "time", "quote", "task",
    "person", "id", "type", "data", "text", "now", "unix", "unix_ms", "datetime",
))  # fmt: skip
"""Variables of every plan, and names that a locustfile uses."""
