"""Writes a scenario as a locustfile, as a person would have written it. It runs under Locust as well."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from plimsoll.sources.draft import Variable, csv_of, unused
from plimsoll.sources.exchange import METHODS, percent_encoded
from plimsoll.sources.json_values import pointer_key
from plimsoll.sources.request_values import flat, variable_of
from plimsoll.sources.source_input import path_from

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.load.step_model import Decoding
    from plimsoll.sources.draft import DraftStep, ReplyValue, ScenarioDraft, Text

_LONG = 110
"""Characters of a line; a longer call has a line for each argument."""
_BARE = "\uf8ff"
"""Stands before a variable of JSON that has no quotes around it."""
_DATA = "people"


class LocustfileText:
    """The locustfile of a draft, and the files beside it."""

    def __init__(self, draft: ScenarioDraft, stem: str, folder: Path) -> None:
        """stem: of the locustfile, from which the files beside it have their names. folder: where it will be."""
        self.files: dict[str, bytes] = {}
        """Contents of the files that it reads, by name."""
        self.notes: list[str] = []
        """What a locustfile cannot say."""
        self.environment: list[str] = []
        """Names of the environment variables with credentials."""
        self._draft, self._folder = draft, folder
        self._basic = _basic_users(draft)
        self._imports: set[str] = set()
        self._from: set[str] = set()
        tasks = self._tasks()
        head = [f'"""Made by plimsoll scenario from {", ".join(draft.sources)}."""', ""]
        constants = self._constants(stem)
        lines = ["class RecordedUser(HttpUser):", f"    host = {_string(draft.targets[0].url)}", *tasks]
        imports = [f"import {name}" for name in sorted(self._imports)]
        froms = ["from locust import HttpUser, task"]
        own = [f"from {name}" for name in sorted(self._from)]
        head += [*imports, *own, *([""] if imports or own else []), *froms, *constants, "", "", *lines]
        self.text = "\n".join(head) + "\n"
        if any(target.connection.http2 for target in draft.targets):
            self.notes.append("HTTP/2 is an option of the run: plimsoll run --http2")
        kinds = {step.exchange.auth.kind for step in draft.steps if step.exchange.auth is not None}
        self.notes += [f"authorization {kind} is not in the locustfile; a plan has it" for kind in sorted(kinds)]

    def _tasks(self) -> list[str]:
        """A method for each flow."""
        lines: list[str] = []
        names: list[str] = []
        for name, steps in self._draft.flows:
            method = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII).strip("_")
            names.append(unused(f"flow_{method}" if method else "flow", names))
            weight = f"({self._draft.weights[name]:.0f})" if name else ""
            lines += ["", f"    @task{weight}", f"    def {names[-1]}(self):"]
            lines += ["        person = random.choice(PEOPLE)"] if self._draft.data else []
            lines += [f"        {line}" if line else "" for step in steps for line in self._step(step)]
        return lines

    def _constants(self, stem: str) -> list[str]:
        lines: list[str] = []
        if self._draft.secrets:
            self._imports.add("os")
            constants = [part for name in self._draft.secrets for part in self._constants_of(name)]
            # A shell has PWD and USER of its own.
            self.environment = [f"SCENARIO_{constant}" for constant in constants]
            lines += ["", *(f'{constant} = os.environ["SCENARIO_{constant}"]' for constant in constants)]
        if self._draft.data:
            self._imports |= {"csv", "random"}
            self._from.add("pathlib import Path")
            file = f"{stem}.{_DATA}.csv"
            self.files[file] = csv_of(self._draft.data)
            lines += [
                "",
                f'with Path(__file__).with_name({_string(file)}).open(newline="") as file:',
                "    PEOPLE = list(csv.DictReader(file))",
            ]
        return lines

    def _constants_of(self, secret: str) -> tuple[str, ...]:
        name = secret.upper()
        return (f"{name}_USER", f"{name}_PASSWORD") if secret in self._basic else (name,)

    def _step(self, step: DraftStep) -> list[str]:
        method = step.exchange.method
        base = "" if step.target == 0 else self._draft.targets[step.target].url
        arguments = [self._said((base, *step.path) if base else step.path, in_url=True)]
        if step.name != "".join(piece for piece in step.path if isinstance(piece, str)) or base:
            arguments.append(f"name={_string(step.name)}")
        basic = next((user for _, text in step.headers if (user := _basic_user(text)) in self._basic), None)
        headers = {name: self._said(text) for name, text in step.headers if basic is None or _basic_user(text) != basic}
        if basic is not None:
            arguments.append(f"auth=({', '.join(self._constants_of(basic))})")
        if headers:
            arguments.append(f"headers={{{', '.join(f'{_string(n)}: {value}' for n, value in headers.items())}}}")
        arguments += self._body(step)
        arguments += self._settings(step)
        call = f"client.{method.lower()}" if method in METHODS else "client.request"
        if method not in METHODS:
            arguments.insert(0, _string(method))
        status = step.status
        if status is not None and status >= 400:
            arguments.append("catch_response=True")
            lines = [
                *_call(f"with self.{call}", arguments, " as response:"),
                f"    if response.status_code == {status}:",
            ]
            lines.append("        response.success()")
        elif step.lacks:
            lines = _call(f"with self.{call}", [*arguments, "catch_response=True"], " as response:")
            for text in step.lacks:
                lines += [f"    if {_literal_text(text)} in response.text:", '        response.failure("errors")']
        else:
            lines = _call(f"{'response = ' if step.extracts else ''}self.{call}", arguments, "")
        lines += [self._extract(extract) for extract in step.extracts]
        if step.think is not None:
            self._imports.add("time")
            lines.append(f"time.sleep({step.think:g})")
        return lines

    def _settings(self, step: DraftStep) -> list[str]:
        own = step.exchange.connection
        arguments = []
        if step.status is not None and 300 <= step.status < 400:
            arguments.append("allow_redirects=False")
        if step.exchange.timeout is not None:
            arguments.append(f"timeout={step.exchange.timeout:g}")
        if own.verify is not True:
            arguments.append(f"verify={_string(own.verify) if isinstance(own.verify, str) else own.verify}")
        if own.certificate:
            pair = f"({_string(own.certificate)}, {_string(own.key)})" if own.key else _string(own.certificate)
            arguments.append(f"cert={pair}")
        if own.proxy:
            arguments.append(f'proxies={{"http": {_string(own.proxy)}, "https": {_string(own.proxy)}}}')
        return arguments

    def _body(self, step: DraftStep) -> list[str]:
        if step.kind == "json":
            return [f"json={self._json(step.body)}"]
        if step.kind == "form":
            return [f"data={self._form(step.body)}"]
        if step.kind == "text":
            return [f"data={self._said(step.body)}.encode()"]
        if step.kind == "file":
            self._from.add("pathlib import Path")
            file = _string(path_from(str(step.exchange.body_file), self._folder))
            return [f"data=(Path(__file__).parent / {file}).read_bytes()"]
        if step.kind == "bytes":
            return [f"data={step.exchange.body!r}"]
        if step.kind == "parts":
            parts = []
            for part in step.parts:
                content = repr(part.content) if part.content is not None else self._said(part.text)
                values = [_string(part.filename) if part.filename is not None else "None", content]
                values += [_string(part.content_type)] if part.content_type else []
                parts.append(f"({_string(part.name)}, ({', '.join(values)}))")
            return [f"files=[{', '.join(parts)}]"]
        return []

    def _form(self, text: Text) -> str:
        pairs = [(name, self._marked(value, text)) for name, value in parse_qsl(flat(text), keep_blank_values=True)]
        if len({name for name, _ in pairs}) == len(pairs):
            return f"{{{', '.join(f'{_string(name)}: {value}' for name, value in pairs)}}}"
        return f"[{', '.join(f'({_string(name)}, {value})' for name, value in pairs)}]"

    def _json(self, text: Text) -> str:
        """A Python literal in which variables are expressions."""
        whole, said, inside = flat(text), "", False
        for index, character in enumerate(whole):
            if character == '"' and not _is_escaped(whole, index):
                inside = not inside
            bare = not inside and variable_of(character, text) is not None
            said += f'"{_BARE}{character}"' if bare else character
        return self._literal(json.loads(said), text)

    def _literal(self, value: Any, text: Text) -> str:
        if isinstance(value, dict):
            said = (f"{self._marked(key, text)}: {self._literal(item, text)}" for key, item in value.items())
            return f"{{{', '.join(said)}}}"
        if isinstance(value, list):
            return f"[{', '.join(self._literal(item, text) for item in value)}]"
        if isinstance(value, str):
            if value.startswith(_BARE) and (variable := variable_of(value[1:], text)) is not None:
                return f"json.loads({self._name(variable)})" if self._is_text(variable) else self._name(variable)
            return self._marked(value, text)
        return repr(value)

    def _is_text(self, variable: Variable) -> bool:
        """The variable is a text in the locustfile, although it stands for a number."""
        kinds = {extract.name: extract.kind for step in self._draft.steps for extract in step.extracts}
        is_text = kinds.get(variable.name) != "json"
        if is_text:
            self._imports.add("json")
        return is_text

    def _marked(self, value: str, text: Text) -> str:
        """A text that was read from a flat one."""
        return self._said(tuple(variable_of(character, text) or character for character in value))

    def _extract(self, extract: ReplyValue) -> str:
        match extract.kind:
            case "json":
                keys = [pointer_key(part) for part in extract.what.split("/")[1:]]
                value = "response.json()" + "".join(f"[{key if key.isdigit() else _string(key)}]" for key in keys)
            case "header":
                value = self._within(extract.part, f"response.headers[{_string(extract.what)}]")
            case "cookie":
                value = f"self.client.cookies[{_string(extract.what)}]"
            case "regex":
                value = self._within(extract.what, "response.text")
        for decoding in extract.decode:
            value = self._decoded(decoding, value)
        return f"{extract.name} = {self._within(extract.within, value)}  # {extract.comment}"

    def _within(self, pattern: str, text: str) -> str:
        """The expression of what a regular expression finds in that of a text; without one the text."""
        self._imports |= {"re"} if pattern else set()
        return f"re.search({_raw(pattern)}, {text})[1]" if pattern else text

    def _decoded(self, decoding: Decoding, text: str) -> str:
        match decoding:
            case "html":
                self._imports.add("html")
                return f"html.unescape({text})"
            case "url":
                self._from.add("urllib.parse import unquote")
                return f"unquote({text})"
            case "json":
                self._imports.add("json")
                return f"json.loads('\"' + {text} + '\"')"
            case "lower" | "upper":
                return f"{text}.{decoding}()"
            case "jwt":
                text = f'{text}.split(".")[1]'
        self._imports.add("base64")
        return f'base64.b64decode({text} + "===", "-_" if "-" in {text} or "_" in {text} else None).decode()'

    def _said(self, text: Text, *, in_url: bool = False) -> str:
        """A Python expression of a text."""
        if not any(isinstance(piece, Variable) for piece in text):
            return _string("".join(map(str, text)))
        if len(text) == 1 and isinstance(text[0], Variable) and not in_url:
            return self._name(text[0])
        said = ""
        for piece in text:
            if isinstance(piece, str):
                said += _string(piece)[1:-1].replace("{", "{{").replace("}", "}}")
            else:
                said += f"{{{self._name(piece, in_url=in_url)}}}"
        return f'f"{said}"'

    def _made(self, name: str) -> str:
        """The expression of a value that is a new one each time."""
        if name == "now":
            self._from.add("datetime import UTC, datetime")
            return "datetime.now(UTC).isoformat(timespec='milliseconds').replace('+00:00', 'Z')"
        module, expression = {
            "uuid": ("uuid", "str(uuid.uuid4())"), "random": ("random", "random.randrange(2**31)"),
            "unix": ("time", "int(time.time())"), "unix_ms": ("time", "int(time.time() * 1000)"),
        }[name]  # fmt: skip
        self._imports.add(module)
        return expression

    def _name(self, variable: Variable, *, in_url: bool = False) -> str:
        match variable.origin:
            case "secret":
                name = variable.name.upper()
            case "data":
                name = f"person['{variable.name}']"
            case "made":
                return self._made(variable.name)
            case _:
                name = variable.name
        sample = self._draft.samples.get(variable.name, "")
        if in_url and percent_encoded(sample) != sample:
            self._from.add("urllib.parse import quote")
            return f"quote({name}, safe='')"
        return name


def _basic_user(text: Text) -> str | None:
    """The name of the secret of "Basic …"; None if it is another text."""
    is_basic = len(text) == 2 and isinstance(text[0], str) and text[0].lower() == "basic "
    return text[1].name if is_basic and isinstance(text[1], Variable) and text[1].origin == "secret" else None


def _basic_users(draft: ScenarioDraft) -> frozenset[str]:
    """The secrets that are only sent as "Basic …", and are the base64 of user:password."""
    sent = [(_basic_user(text), text) for step in draft.steps for text in step.texts()]
    others = {
        piece.name for user, text in sent if user is None for piece in text if isinstance(piece, Variable)
    }  # fmt: skip
    return frozenset(user for user, _ in sent if user and user not in others and _is_basic(draft.secrets[user]))


def _is_basic(secret: str) -> bool:
    try:
        # A client encodes other letters in several ways.
        return b":" in (user := base64.b64decode(secret, validate=True)) and user.isascii()
    except ValueError:
        return False


def _call(function: str, arguments: list[str], end: str) -> list[str]:
    line = f"{function}({', '.join(arguments)}){end}"
    if len(line) <= _LONG:
        return [line]
    return [f"{function}(", *(f"    {argument}," for argument in arguments), f"){end}"]


def _is_escaped(text: str, index: int) -> bool:
    """Whether an odd number of backslashes stands before a character."""
    slashes = re.compile(r"\\*$").search(text, 0, index)
    return slashes is not None and len(slashes[0]) % 2 == 1


def _string(text: str) -> str:
    said = json.dumps(text, ensure_ascii=False)
    return said if text.isprintable() else said.encode("ascii", "backslashreplace").decode()


def _literal_text(text: str) -> str:
    """A text in the quotes that need no escapes."""
    return f"'{text}'" if "'" not in text and text.isprintable() else _string(text)


def _raw(pattern: str) -> str:
    """A regular expression as a raw string, if it can be one."""
    for quotes in ('"', "'"):
        if quotes not in pattern and pattern.isprintable() and not pattern.endswith("\\"):
            return f"r{quotes}{pattern}{quotes}"
    return repr(pattern)
