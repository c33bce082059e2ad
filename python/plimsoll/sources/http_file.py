"""Files of requests with the suffix .http or .rest, as the clients of JetBrains and of VS Code read them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import (
    DeclaredValue,
    FormPart,
    RecordedExchange,
    Recording,
    first_value,
    media_type,
    parts_of,
)
from plimsoll.sources.json_values import SCRIPT_KEYS, script_pointer
from plimsoll.sources.placeholders import PLACEHOLDER, Placeholders
from plimsoll.sources.source_input import existing_file

if TYPE_CHECKING:
    from plimsoll.sources.source_input import SourceInput

_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|CONNECT|PURGE|QUERY|LINK|UNLINK"
_LINE = re.compile(rf"(?:({_METHODS})\s+)?(\S.*?)(?:\s+HTTP/[\d.]+)?\s*$")
_BEGINS = re.compile(rf"^\s*(?:{_METHODS})\s+(?:https?://|\{{\{{|/|\*)", re.MULTILINE)
_VARIABLE = re.compile(r"^\s*@([\w.-]+)\s*=\s*(.*?)\s*$")
_NAME = re.compile(r"^\s*(?:#|//)\s*@name\s*[= ]\s*(\S+)\s*$")
_COMMENT = re.compile(r"^\s*(?:#|//)")
_HEADER = re.compile(r"^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*$")
_FILE = re.compile(r"^<(@\w*)?\s+(\S.*?)\s*$")
_SET = re.compile(
    r"""client\.global\.set\(\s*["']([\w.-]+)["']\s*,\s*response\.(body|headers)(.*?)\s*\)\s*;?\s*$""", re.MULTILINE
)
_VALUE_OF = re.compile(r"""\.valueOf\(["']([\w-]+)["']\)""")
_REFERENCE = re.compile(r"(\w[\w-]*)\.response\.(body|headers)\.(.+)")


def is_http_file(source: SourceInput) -> bool:
    """Whether a text has a request of this kind at the beginning of a line, and is no document of another kind."""
    if source.name.lower().endswith((".http", ".rest")):
        return True
    start = source.beginning.lstrip()
    return not start.startswith(("{", "[", "<")) and _BEGINS.search(source.beginning) is not None


def read_http_file(source: SourceInput) -> Recording:
    """Its requests in order. Raises UsageError with the line."""
    blocks = _blocks(source)
    values = {name: value for block in blocks for name, value in block.variables.items()}
    placeholders = Placeholders(values, source.variables)
    exchanges: list[RecordedExchange] = []
    notes: list[str] = []
    numbers: dict[str, int] = {}
    """Of the requests that later ones refer to, by their names."""
    for block in blocks:
        if not block.lines:
            continue
        _take_references(block, numbers, exchanges, placeholders)
        if block.name:
            numbers[block.name] = len(exchanges)
        exchanges.append(_request(block, source, placeholders, notes))
        placeholders.taken |= {extract.name for extract in exchanges[-1].extracts}
    return Recording(source.name, tuple(exchanges), tuple(notes), has_placeholders=True)


@dataclass(slots=True)
class _HttpBlock:
    """What stands between two lines that begin with ###."""

    title: str
    name: str = ""
    """By which later requests refer to its reply."""
    variables: dict[str, str] = field(default_factory=dict)
    lines: list[tuple[int, str]] = field(default_factory=list)
    """From the request line on, with their numbers."""


def _blocks(source: SourceInput) -> list[_HttpBlock]:
    blocks = [_HttpBlock("")]
    for number, line in enumerate(source.text.replace("\r\n", "\n").split("\n"), 1):
        block = blocks[-1]
        if line.startswith("###"):
            blocks.append(_HttpBlock(line.strip("# \t")))
        elif not block.lines and (named := _NAME.match(line)):
            block.name = named[1]
        elif not block.lines and (variable := _VARIABLE.match(line)):
            block.variables[variable[1]] = variable[2]
        elif block.lines or (line.strip() and not _COMMENT.match(line)):
            block.lines.append((number, line))
    return blocks


def _request(block: _HttpBlock, source: SourceInput, placeholders: Placeholders, notes: list[str]) -> RecordedExchange:
    (first, line), *rest = block.lines
    where = f"{source.name}:{first}"
    match = _LINE.match(line.strip())
    if match is None or " " in match[2]:
        raise UsageError(f"{where}: {line.strip()[:60]!r} is no request; valid is GET http://127.0.0.1:8000/path")
    method, url = match[1] or "GET", match[2]
    while rest and re.match(r"\s+[?&/]", rest[0][1]):
        url += rest.pop(0)[1].strip()
    headers: list[tuple[str, str]] = []
    while rest and rest[0][1].strip() and not rest[0][1].startswith(("> ", "< ", "<> ")):
        number, line = rest.pop(0)
        if _COMMENT.match(line):
            continue
        header = _HEADER.match(line)
        if header is None:
            raise UsageError(
                f"{source.name}:{number}: {line.strip()[:60]!r} is no header; an empty line ends the headers"
            )
        headers.append((header[1], placeholders.filled(header[2], where)))
    body, file, script = _body(rest, where, notes)
    if file is not None:
        file = existing_file(placeholders.filled(file, where), source.folder, where)
    url = placeholders.filled(url, where)
    if url.startswith("/"):
        host = first_value(headers, "host")
        if not host:
            raise UsageError(f"{where}: {url!r} names no host; write the whole URL, or a header Host")
        url = f"http://{host}{url}"
    if "://" not in url:
        url = f"http://{url}"
    kind = first_value(headers, "content-type")
    content = None if body is None else placeholders.filled(body, where).encode()
    parts: tuple[FormPart, ...] = ()
    if content is not None and media_type(kind) == "multipart/form-data":
        parts = parts_of(content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), kind)
        content = None if parts else content
    return RecordedExchange(
        method=method, url=quote(url.partition("#")[0], safe="%/:?#[]@!$&'()*+,;={}"), headers=tuple(headers),
        body=content, parts=parts, body_file=file, name=block.title or block.name,
        extracts=_declared(script, where, notes), where=where,
    )  # fmt: skip


def _body(rest: list[tuple[int, str]], where: str, notes: list[str]) -> tuple[str | None, str | None, str]:
    """Text, file and the script for the reply."""
    lines: list[str] = []
    script, file, inside = "", None, False
    for number, line in rest:
        if inside or line.startswith("> {%"):
            script += line.removeprefix("> {%").partition("%}")[0] + "\n"
            inside = "%}" not in line
        elif line.startswith(("< {%", "> ", ">> ", ">>! ", "<> ")):
            if not line.startswith(("<> ", ">> ", ">>! ")):
                notes.append(f"{where}: the script in line {number} is not translated")
        elif (named := _FILE.match(line)) and file is None and not any(text.strip() for text in lines):
            file = named[2]
            if named[1]:
                notes.append(f"{where}: variables in {file} are not filled in; a plan has template_file for that")
        else:
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    return (text if text.strip() and file is None else None), file, script


def _declared(script: str, where: str, notes: list[str]) -> tuple[DeclaredValue, ...]:
    """client.global.set("token", response.body.token) becomes a value of the reply."""
    declared = []
    for name, part, rest in _SET.findall(script):
        if part == "headers" and (header := _VALUE_OF.search(rest)):
            declared.append(DeclaredValue(name, "header", header[1]))
        elif part == "body" and rest and not SCRIPT_KEYS.sub("", rest):
            declared.append(DeclaredValue(name, "json", script_pointer(rest)))
        else:
            notes.append(f"{where}: its script is not translated: {name} = response.{part}{rest[:40]}")
    others = _SET.sub("", script).strip()
    if others and "client.global.set" in others:
        notes.append(f"{where}: its script is not translated")
    return tuple(declared)


def _take_references(
    block: _HttpBlock, numbers: dict[str, int], exchanges: list[RecordedExchange], placeholders: Placeholders
) -> None:
    """{{login.response.body.$.token}} of VS Code: the request of that name takes the value from its reply."""
    for number, (line_number, line) in enumerate(block.lines):
        for reference in PLACEHOLDER.findall(line):
            match = _REFERENCE.fullmatch(reference)
            if match is None or (origin := numbers.get(match[1])) is None:
                continue
            keys = match[3].removeprefix("$")
            keys = keys if keys.startswith((".", "[")) else f".{keys}"
            pointer = script_pointer(keys)
            is_header = match[2] == "headers"
            name = re.sub(r"[\W_]+", "_", f"{match[1]}_{match[3]}").strip("_")
            value = DeclaredValue(name, "header" if is_header else "json", match[3] if is_header else pointer)
            if value not in exchanges[origin].extracts:
                exchanges[origin] = replace(exchanges[origin], extracts=(*exchanges[origin].extracts, value))
            placeholders.taken.add(name)
            line = line.replace(f"{{{{{reference}}}}}", f"{{{{{name}}}}}")
        block.lines[number] = (line_number, line)
