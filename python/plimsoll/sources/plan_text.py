"""Writes a scenario as a plan, as a person would have written it."""

from __future__ import annotations

import base64
import json
import re
from itertools import chain, count
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from plimsoll.say.numbers import percent
from plimsoll.sources.content.operations import ERRORS, graphql_operation
from plimsoll.sources.draft import Variable, csv_of, merged
from plimsoll.sources.exchange import METHODS
from plimsoll.sources.request_values import flat, variable_of
from plimsoll.sources.source_input import path_from

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.sources.draft import DraftPart, DraftStep, DraftTarget, ReplyValue, ScenarioDraft, Text
    from plimsoll.sources.exchange import SocketAction

SECRETS, DATA = "secrets", "people"
"""The feeders of a plan: what is secret, and what the recorded person chose."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONG = 100
"""Characters of a line; a longer table is written as several lines."""


class PlanText:
    """The plan of a draft, and the files beside it."""

    def __init__(self, draft: ScenarioDraft, stem: str, folder: Path | None) -> None:
        """stem: of the plan's file, from which the files beside it have their names. folder: where the plan will be;
        None: it names other files by absolute paths."""
        self.files: dict[str, bytes] = {}
        """Contents of the files that the plan reads, by name."""
        self.notes: list[str] = []
        """What the plan cannot say."""
        self.environment: tuple[str, ...] = ()
        """A plan reads credentials from a file."""
        self._draft, self._stem, self._folder = draft, stem, folder
        self._names = _target_names(draft.targets)
        # The messages of a WebSocket have no headers.
        self._common = _common_headers([step for step in draft.steps if step.exchange.socket in (None, "connect")])
        self._auth = _common_auth([step for step in draft.steps if step.exchange.socket is None])
        """Of the plan."""
        self._columns: dict[str, dict[str, list[str]]] = {SECRETS: {}, DATA: {}}
        """Values of the feeders by column, as the steps use them."""
        several = len(draft.steps) > 1
        table = "[[flow.step]]" if several else "[[request]]"
        common = {name: self._said(text) for name, text in self._common.items()}
        steps: list[str] = []
        numbers = count(1)
        for name, own in draft.flows:
            steps += self._flow(name) if several else []
            steps += [line for step in own for line in ("", table, *self._step(step, next(numbers)))]
        lines = [f"# Made by plimsoll scenario from {', '.join(draft.sources)}."]
        is_plain = len(draft.targets) == 1 and not _settings(draft.targets[0])
        lines += [f"target = {toml_string(draft.targets[0].url)}"] if is_plain else []
        lines += ["cookies = true"] if draft.cookies else []
        lines += [f"headers = {_inline(common)}"] if common else []
        lines += self._auth_of(self._auth) if self._auth else []
        lines += [] if is_plain else self._targets()
        lines += [line for name, columns in self._columns.items() for line in self._feeder(name, columns)]
        self.text = "\n".join([*lines, *steps]) + "\n"

    def _flow(self, name: str) -> list[str]:
        weights = self._draft.weights
        lines = ["", "[[flow]]", f"name = {toml_string(name or _flow_name(self._draft))}"]
        if name:
            lines.append(f"weight = {weights[name]:g}  # {percent(weights[name] / sum(weights.values()))}")
        return lines

    def _targets(self) -> list[str]:
        lines = []
        for target, name in zip(self._draft.targets, self._names, strict=True):
            lines += ["", "[[target]]", f"name = {toml_string(name)}", f"url = {toml_string(target.url)}"]
            lines += [f"{field} = {_value(value)}" for field, value in _settings(target).items()]
        return lines

    def _feeder(self, name: str, columns: dict[str, list[str]]) -> list[str]:
        if not columns:
            return []
        file = f"{self._stem}.{name}.csv"
        self.files[file] = csv_of(columns)
        comment = "  # a row for each iteration" if name == DATA else "  # keep it out of version control"
        if name == DATA and self._draft.credentials_in(file):
            comment += "; keep it out of version control"
        return ["", f"[feeder.{name}]", f"file = {toml_string(file)}{comment}", 'share = "all"']

    def _step(self, step: DraftStep, number: int) -> list[str]:
        lines = []
        path = self._said(step.path)
        if step.exchange.socket is not None:
            return self._socket_step(step, step.exchange.socket, path)
        operation = graphql_operation(step.exchange) if (graphql := self._graphql(step)) else None
        if step.name != (path if operation is None else operation.name or path):
            lines.append(f"name = {toml_string(step.name)}")
        if step.exchange.method in METHODS:
            lines.append(f"{step.exchange.method.lower()} = {toml_string(path)}")
        else:
            lines += [f"method = {toml_string(step.exchange.method)}", f"path = {toml_string(path)}"]
        if step.target:
            lines.append(f"target = {toml_string(self._names[step.target])}")
        body = graphql or self._body(step, number)
        headers = dict(_by_name(step.headers).items())
        own = {name: values for name, values in headers.items() if self._common.get(name) not in values}
        if own:
            said = {name: [self._said(text) for text in values] for name, values in own.items()}
            lines += _table(
                "headers", {name: values[0] if len(values) == 1 else values for name, values in said.items()}
            )
        lines += self._auth_of(step) if step.auth and self._auth is None else []
        lines += body
        if step.exchange.timeout is not None:
            lines.append(f"timeout = {toml_string(f'{step.exchange.timeout:g}s')}")
        if operation is not None and step.exchange.reply is not None and ERRORS in step.exchange.reply.text:
            lines.append("expect.absent = []")
        return [*lines, *self._after(step, has_errors_checked=operation is not None)]

    def _auth_of(self, step: DraftStep) -> list[str]:
        """The lines of the `auth` that a step declares."""
        kind = step.exchange.auth.kind if step.exchange.auth else ""
        fields = {name: self._said(text) for name, text in step.auth}
        if kind == "digest":
            return [f"auth.digest = {_value([*fields.values()])}"]
        return _table(f"auth.{kind}", fields)

    def _socket_step(self, step: DraftStep, action: SocketAction, path: str) -> list[str]:
        """A step that does something with the WebSocket of the user."""
        lines = [f"name = {toml_string(step.title)}"] if step.title else []
        match action:
            case "connect":
                lines.append(f"connect = {toml_string(path)}")
                lines += [f"target = {toml_string(self._names[step.target])}"] if step.target else []
                lines += [f"protocols = {_value([*step.exchange.protocols])}"] if step.exchange.protocols else []
                headers = {name: self._said(text) for name, text in step.headers if self._common.get(name) != text}
                lines += _table("headers", headers) if headers else []
            case "send" if step.kind == "bytes":
                lines.append(f'send = {{ base64 = "{base64.b64encode(step.exchange.body or b"").decode()}" }}')
            case "send" if step.kind == "json":
                lines.append(f"send = {{ json = {self._json(step.body)} }}")
            case "send":
                lines.append(f"send = {toml_string(self._said(step.body))}")
            case "receive":
                lines.append(f"receive = {toml_string(step.exchange.receives)}")
            case "close":
                lines.append("close = 1000")
        return [*lines, *self._after(step)]

    def _after(self, step: DraftStep, *, has_errors_checked: bool = False) -> list[str]:
        """What is done with the reply, and the pause after it."""
        lines = [self._extract(extract) for extract in step.extracts]
        if step.status is not None:
            lines.append(f"expect.status = {step.status}")
        lacks = [text for text in step.lacks if not (has_errors_checked and text == ERRORS)]
        for name, texts in (("contains", step.contains), ("lacks", lacks)):
            if texts:
                lines.append(f"expect.{name} = {_value([text.replace('${', '$${') for text in texts])}")
        if step.equals:
            lines.append(f"expect.json = {_inline(step.equals)}".replace("${", "$${"))
        if step.think is not None:
            lines.append(f"think = {toml_string(f'{step.think:g}s')}")
        return lines

    def _extract(self, extract: ReplyValue) -> str:
        decode = extract.decode[0] if len(extract.decode) == 1 else [*extract.decode]
        rest = {"regex": extract.part, "decode": decode, "within": extract.within}
        source = {
            name: value.replace("${", "$${") if isinstance(value, str) else value
            for name, value in ((extract.kind, extract.what), *((name, value) for name, value in rest.items() if value))
        }
        return f"extract.{extract.name} = {_inline(source)}  # {extract.comment}"

    def _body(self, step: DraftStep, number: int) -> list[str]:
        match step.kind:
            case "json":
                return [f"json = {self._json(step.body)}"]
            case "text":
                return [f"body = {toml_string(self._said(step.body))}"]
            case "form":
                return _table("form", self._form(step.body))
            case "file":
                return [f"body_file = {toml_string(path_from(str(step.exchange.body_file), self._folder))}"]
            case "bytes":
                return [f"body_file = {toml_string(self._file(step.exchange.body or b'', str(number)))}"]
            case "parts":
                return _table("multipart", self._parts(step.parts, number))
        return []

    def _graphql(self, step: DraftStep) -> list[str]:
        """The lines of an operation of GraphQL; none if the body has more than that, or the plan cannot say it."""
        if step.kind != "json" or graphql_operation(step.exchange) is None:
            return []
        try:
            said = json.loads(self._said(step.body))
        except ValueError:
            return []
        document, variables, name = said["query"], said.pop("variables", None), said.pop("operationName", None)
        if len(said) > 1 or not isinstance(variables, dict | None) or not isinstance(name, str | None):
            return []
        lines = [f"graphql = {_text_block(document)}"]
        if variables is not None and _is_toml(variables):
            lines += _table("variables", variables)
        elif variables is not None:
            lines.append(f"variables = {toml_string(json.dumps(variables, ensure_ascii=False))}")
        lines += [] if name is None else [f"operation_name = {toml_string(name)}"]
        return lines

    def _parts(self, parts: list[DraftPart], number: int) -> dict[str, Any]:
        """The fields of a form with files; a list for a name that is sent several times."""
        fields: dict[str, list[Any]] = {}
        binary = [part for part in parts if part.content is not None]
        for part in parts:
            said = {"name": part.filename, "type": part.content_type}
            value: dict[str, str] = {key: text.replace("${", "$${") for key, text in said.items() if text is not None}
            if part.content is not None:
                suffix = f"{number}-{binary.index(part) + 1}" if len(binary) > 1 else str(number)
                value = {"file": self._file(part.content, suffix), **value}
            text = self._said(part.text)
            own: Any = value if part.content is not None else {"text": text, **value} if value else text
            fields.setdefault(part.name.replace("${", "$${"), []).append(own)
        return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}

    def _form(self, text: Text) -> dict[str, Any]:
        """Its fields; a list for a name that is sent several times."""
        fields: dict[str, list[str]] = {}
        for name, value in parse_qsl(flat(text), keep_blank_values=True):
            said = tuple(variable_of(character, text) or character for character in value)
            fields.setdefault(name.replace("${", "$${"), []).append(self._said(merged(list(said))))
        return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}

    def _file(self, content: bytes, step: str) -> str:
        """The name of a new file beside the plan."""
        name = f"{self._stem}.step-{step}.bin"
        self.files[name] = content
        return name

    def _json(self, text: Text) -> str:
        """A table if TOML has one for it, else JSON in a string."""
        said = self._said(text)
        try:
            value = json.loads(said)
        except ValueError:
            return toml_string(said)
        return _inline(value) if isinstance(value, dict) and _is_toml(value) else toml_string(said)

    def _said(self, text: Text) -> str:
        """The text in the notation of plans."""
        return "".join(
            piece.replace("${", "$${") if isinstance(piece, str) else self._variable(piece) for piece in text
        )

    def _variable(self, variable: Variable) -> str:
        name = variable.name
        match variable.origin:
            case "secret":
                self._columns[SECRETS][name] = [self._draft.secrets[name]]
                return f"${{{SECRETS}.{name}}}"
            case "data":
                self._columns[DATA][name] = self._draft.data[name]
                return f"${{{DATA}.{name}}}"
        return f"${{{name}}}"


def _settings(target: DraftTarget) -> dict[str, Any]:
    """What a target says besides its URL."""
    own = target.connection
    certificate = own.certificate if own.key is None else [own.certificate, own.key]
    values = {
        "verify": None if own.verify is True else own.verify, "cert": certificate, "proxy": own.proxy,
        "http2": own.http2 or None,
    }  # fmt: skip
    return {name: value for name, value in values.items() if value is not None}


def _target_names(targets: list[DraftTarget]) -> list[str]:
    """Their hosts; with a number where a host is reached in several ways."""
    names: list[str] = []
    for target in targets:
        host = target.url.partition("://")[2]
        names.append(next(name for name in chain([host], (f"{host} {n}" for n in count(2))) if name not in names))
    return names


def _flow_name(draft: ScenarioDraft) -> str:
    first = draft.sources[0]
    stem = re.split(r"[/\\]", first)[-1].rpartition(".")[0] or "flow"
    return "flow" if first.startswith("<") else stem


def _common_auth(steps: list[DraftStep]) -> DraftStep | None:
    """A step whose `auth` is that of all steps, if there are several."""
    if len(steps) < 2 or not steps[0].auth:
        return None
    first, *others = steps
    kinds = {step.exchange.auth.kind if step.exchange.auth else "" for step in steps}
    return first if len(kinds) == 1 and all(step.auth == first.auth for step in others) else None


def _by_name(headers: list[tuple[str, Text]]) -> dict[str, list[Text]]:
    grouped: dict[str, list[Text]] = {}
    for name, text in headers:
        grouped.setdefault(next((key for key in grouped if key.lower() == name.lower()), name), []).append(text)
    return grouped


def _common_headers(steps: list[DraftStep]) -> dict[str, Text]:
    """Headers that every step sends with the same value, none of it from a reply."""
    if len(steps) < 2:
        return {}
    first, *others = (_by_name(step.headers) for step in steps)
    return {
        name: values[0]
        for name, values in first.items()
        if len(values) == 1
        and name.lower() not in ("content-type", "host")
        and all(other.get(name) == values for other in others)
        and not any(isinstance(piece, Variable) and piece.origin == "reply" for piece in values[0])
    }


def _is_toml(value: Any) -> bool:
    """TOML has no null, and integers of 64 bits."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif item is None or (isinstance(item, int) and not -(2**63) <= item < 2**63):
            return False
    return True


def _table(field: str, values: dict[str, Any]) -> list[str]:
    """A short table on one line, a long one with a line for each key."""
    line = f"{field} = {_inline(values)}"
    if len(line) <= _LONG:
        return [line]
    return [f"{field}.{_key(name)} = {_value(value)}" for name, value in values.items()]


def _inline(values: dict[str, Any]) -> str:
    said = ", ".join(f"{_key(name)} = {_value(value)}" for name, value in values.items())
    return f"{{ {said} }}" if said else "{}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else toml_string(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, dict):
        return _inline(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _text_block(text: str) -> str:
    """A text of several lines is written in several lines, if that needs no escapes."""
    if "\n" in text and "'''" not in text and text.replace("\n", "").replace("\t", "").isprintable():
        return f"'''\n{text}'''"
    return toml_string(text)


def toml_string(text: str) -> str:
    """A TOML string; a literal one if that needs no escapes."""
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
