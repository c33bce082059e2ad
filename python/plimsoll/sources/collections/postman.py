"""Collections of Postman, versions 2.0 and 2.1.

https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from plimsoll.errors import UsageError
from plimsoll.load.origins import basic_authorization
from plimsoll.sources.collections.auth import declared_auth
from plimsoll.sources.exchange import DeclaredAuth, DeclaredValue, FormPart, RecordedExchange, Recording
from plimsoll.sources.json_values import SCRIPT_KEYS, JsonObject, objects_of, script_pointer
from plimsoll.sources.placeholders import Placeholders
from plimsoll.sources.source_input import existing_file, file_in

if TYPE_CHECKING:
    from plimsoll.sources.source_input import SourceInput

DEEPEST_FOLDER = 50
"""Folders within each other."""
_SET = re.compile(
    r"""(?:pm\.(?:environment|collectionVariables|globals|variables)\.set|postman\.set(?:Environment|Global)Variable)"""
    r"""\(\s*["']([\w.-]+)["']\s*,\s*([^;\n]+?)\s*\)\s*;?\s*$""",
)
_DOCUMENT = re.compile(
    r"(?:var|let|const)\s+(\w+)\s*=\s*(?:pm\.response\.json\(\)|JSON\.parse\(responseBody\))\s*;?\s*$"
)
_HEADER = re.compile(
    r"""pm\.response\.headers\.get\(["']([\w-]+)["']\)|postman\.getResponseHeader\(["']([\w-]+)["']\)"""
)
_COOKIE = re.compile(r"""pm\.cookies\.get\(["']([\w.-]+)["']\)""")
_CHECK = re.compile(
    r"^\s*(?://.*|\}\);?|pm\.test\(.*|pm\.expect\(.*|pm\.response\.to\..*|tests\[.*|console\.log\(.*)?\s*$"
)
"""Lines of a test script that only check or print: the plan has expectations of its own."""
_TYPES = {"json": "application/json", "xml": "application/xml", "html": "text/html", "javascript": "text/javascript"}
"""Content types of raw bodies, by their language."""


def is_postman(source: SourceInput) -> bool:
    """Whether a text is a collection: an object with info and items, and Postman's schema."""
    start = source.beginning
    return start.lstrip().startswith("{") and "getpostman.com/json/collection" in start.replace("\\/", "/")


def read_postman(source: SourceInput) -> Recording:
    """Its requests in order, folder by folder. Raises UsageError, which names the item."""
    collection = source.json
    if not isinstance(collection, dict) or not isinstance(collection.get("item"), list):
        raise UsageError(f"{source.name}: item is no list; is this a collection of Postman?")
    return collection_recording(source, collection)


def collection_recording(source: SourceInput, collection: JsonObject) -> Recording:
    """The requests of a collection in order. Other clients' collections are read as those of Postman. Raises
    UsageError."""
    reader = _Collection(source, Placeholders(_variables(collection), source.variables))
    reader.folder(collection, source.name, collection.get("auth"), 0)
    return Recording(source.name, tuple(reader.exchanges), tuple(reader.notes), has_placeholders=True)


@dataclass(slots=True)
class _Collection:
    """The work on one collection."""

    source: SourceInput
    placeholders: Placeholders
    exchanges: list[RecordedExchange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def folder(self, folder: JsonObject, where: str, auth: Any, depth: int) -> None:
        if depth > DEEPEST_FOLDER:
            raise UsageError(f"{where}: more than {DEEPEST_FOLDER} folders within each other")
        self._not_translated(folder, where, ("prerequest", "test"))
        for number, item in enumerate(folder.get("item") or []):
            if not isinstance(item, dict):
                raise UsageError(f"{where}: item[{number}] is no object")
            name = str(item.get("name") or f"item[{number}]")
            own = f"{where}: {name}" if where == self.source.name else f"{where} / {name}"
            if isinstance(item.get("item"), list):
                self.folder(item, own, item.get("auth") or auth, depth + 1)
            elif "request" in item:
                self.request(item, own, name, auth)

    def request(self, item: JsonObject, where: str, name: str, auth: Any) -> None:
        given = item["request"]
        request = {"url": given, "method": "GET"} if isinstance(given, str) else given
        if not isinstance(request, dict):
            raise UsageError(f"{where}: request is no object")
        say = self.placeholders.filled
        headers = [
            (say(str(header.get("key")), where), say(str(header.get("value") or ""), where))
            for header in objects_of(request.get("header"))
            if header.get("key") and not header.get("disabled")
        ]
        url = say(_url(request.get("url")), where)
        added, query, credentials, own_auth = self._auth(request.get("auth") or auth, where)
        headers += [header for header in added if header[0].lower() not in {key.lower() for key, _ in headers}]
        if query:
            url += ("&" if "?" in url else "?") + query
        if "://" not in url:
            url = f"http://{url}"
        body, parts, file, content_type = self._body(request.get("body"), where)
        if content_type and not any(key.lower() == "content-type" for key, _ in headers):
            headers.append(("Content-Type", content_type))
        self._not_translated(item, where, ("prerequest",))
        extracts = self._extracts(item, where)
        self.exchanges.append(
            RecordedExchange(
                method=str(request.get("method") or "GET").upper(), url=url.partition("#")[0], headers=tuple(headers),
                body=body, parts=parts, body_file=file, name=name, extracts=extracts, credentials=credentials,
                auth=None if any(key.lower() == "authorization" for key, _ in headers) else own_auth, where=where,
            )
        )  # fmt: skip
        self.placeholders.taken |= {extract.name for extract in extracts}

    def _auth(self, auth: Any, where: str) -> tuple[list[tuple[str, str]], str, frozenset[str], DeclaredAuth | None]:
        """The headers and the query of an authorization, the name of its API key, and what plans do themselves."""
        nothing: frozenset[str] = frozenset()
        kind = auth.get("type") if isinstance(auth, dict) else None
        if kind in (None, "noauth"):
            return [], "", nothing, None
        own = auth.get(kind)
        pairs = {str(pair.get("key")): pair.get("value") for pair in objects_of(own)} if isinstance(own, list) else own
        if not isinstance(pairs, dict):
            return [], "", nothing, None
        given = {key: self.placeholders.filled(str(value or ""), where) for key, value in pairs.items()}
        key = given.get("key", "")
        declared = declared_auth(str(kind), given)
        match kind:
            case "bearer":
                return [("Authorization", f"Bearer {given.get('token', '')}")], "", nothing, None
            case "basic":
                value = basic_authorization(f"{given.get('username', '')}:{given.get('password', '')}")
                return [("Authorization", value)], "", nothing, None
            case "apikey" if given.get("in") == "query":
                query = f"{quote_plus(key)}={quote_plus(given.get('value', ''), safe='{}$')}"
                return [], query, frozenset((key,)), None
            case "apikey":
                return [(key, given.get("value", ""))], "", frozenset((key,)), None
            case "oauth2" if given.get("accessToken") and declared is None:
                return [("Authorization", f"Bearer {given['accessToken']}")], "", nothing, None
        if declared is None:
            self.notes.append(f"{where}: authorization {kind} is not done; the request is sent without it")
        return [], "", nothing, declared

    def _body(self, body: Any, where: str) -> tuple[bytes | None, tuple[FormPart, ...], str | None, str]:
        """Body, parts, file and content type."""
        if not isinstance(body, dict) or body.get("disabled"):
            return None, (), None, ""
        say, mode = self.placeholders.filled, body.get("mode")
        pairs = [pair for pair in objects_of(body.get(str(mode))) if not pair.get("disabled")] if mode else []
        if mode == "raw" and body.get("raw"):
            options = body.get("options")
            language = options.get("raw", {}).get("language") if isinstance(options, dict) else ""
            return say(str(body["raw"]), where).encode(), (), None, _TYPES.get(str(language), "")
        if mode == "urlencoded":
            said = ((say(str(pair.get("key")), where), say(str(pair.get("value") or ""), where)) for pair in pairs)
            text = "&".join(f"{quote_plus(key)}={quote_plus(value, safe='{}$')}" for key, value in said)
            return text.encode(), (), None, "application/x-www-form-urlencoded"
        if mode == "formdata":
            return None, tuple(part for pair in pairs for part in self._parts(pair, where)), None, ""
        if mode == "file" and isinstance(body.get("file"), dict) and body["file"].get("src"):
            return None, (), existing_file(say(str(body["file"]["src"]), where), self.source.folder, where), ""
        if mode == "graphql" and isinstance(body.get("graphql"), dict):
            query, variables = body["graphql"].get("query"), body["graphql"].get("variables") or "{}"
            text = say(json.dumps({"query": query})[:-1] + f', "variables": {variables}}}', where)
            return text.encode(), (), None, "application/json"
        return None, (), None, ""

    def _parts(self, pair: JsonObject, where: str) -> list[FormPart]:
        key, content_type = self.placeholders.filled(str(pair.get("key")), where), pair.get("contentType")
        kind = str(content_type) if content_type else None
        if pair.get("type") != "file":
            return [FormPart(key, self.placeholders.filled(str(pair.get("value") or ""), where).encode(), None, kind)]
        src = pair.get("src")
        paths = src if isinstance(src, list) else [src] if src else []
        if not paths:
            self.notes.append(f"{where}: field {key} names no file")
        files = []
        for path in map(str, paths):
            try:
                content = file_in(self.source.folder, path, where).read_bytes()
            except OSError as error:
                raise UsageError(f"{where}: cannot read {path}: {error.strerror}") from error
            files.append(FormPart(key, content, re.split(r"[/\\]", path)[-1], kind or "application/octet-stream"))
        return files

    def _extracts(self, item: JsonObject, where: str) -> tuple[DeclaredValue, ...]:
        """What its test script takes from the reply; lines that do something else are listed."""
        extracts: list[DeclaredValue] = []
        documents = {"pm.response.json()", "JSON.parse(responseBody)"}
        for number, line in enumerate(_script(item, "test"), 1):
            if declared := _DOCUMENT.search(line):
                documents.add(declared[1])
            elif (assigned := _SET.search(line)) and (value := _taken(assigned[1], assigned[2], documents)):
                extracts.append(value)
            elif not _CHECK.match(line):
                self.notes.append(f"{where}: line {number} of its test script is not translated: {line.strip()[:60]}")
        return tuple(extracts)

    def _not_translated(self, item: JsonObject, where: str, kinds: tuple[str, ...]) -> None:
        for kind in kinds:
            if any(line.strip() and not line.strip().startswith("//") for line in _script(item, kind)):
                self.notes.append(f"{where}: its {kind} script is not translated")


def _taken(name: str, expression: str, documents: set[str]) -> DeclaredValue | None:
    """What an expression of a script takes from the reply; None if that is not clear."""
    if header := _HEADER.fullmatch(expression):
        return DeclaredValue(name, "header", header[1] or header[2])
    if cookie := _COOKIE.fullmatch(expression):
        return DeclaredValue(name, "cookie", cookie[1])
    document = next((text for text in sorted(documents, key=len, reverse=True) if expression.startswith(text)), None)
    if document is None:
        return None
    keys = expression[len(document) :]
    if not keys or SCRIPT_KEYS.sub("", keys):
        return None
    return DeclaredValue(name, "json", script_pointer(keys))


def _script(item: JsonObject, kind: str) -> list[str]:
    for event in objects_of(item.get("event")):
        script = event.get("script")
        if event.get("listen") == kind and isinstance(script, dict):
            lines = script.get("exec") or []
            return lines.split("\n") if isinstance(lines, str) else [str(line) for line in lines]
    return []


def _variables(collection: JsonObject) -> dict[str, str]:
    pairs = objects_of(collection.get("variable"))
    return {
        str(pair.get("key") or pair.get("id")): str(pair.get("value") if pair.get("value") is not None else "")
        for pair in pairs
        if not pair.get("disabled")
    }


def _url(url: Any) -> str:
    """A text, or an object with a raw text and the values of :segments."""
    if not isinstance(url, dict):
        return str(url or "")
    raw = str(url.get("raw") or "")
    for pair in objects_of(url.get("variable")):
        if pair.get("key") and pair.get("value") is not None:
            value = quote(str(pair["value"]), safe="{}$")
            raw = re.sub(rf"(?<=/):{re.escape(str(pair['key']))}(?=[/?#]|$)", value.replace("\\", r"\\"), raw)
    for pair in objects_of(url.get("query")):
        if pair.get("disabled"):
            raw = re.sub(rf"(?<=[?&]){re.escape(str(pair.get('key')))}=[^&#]*&?", "", raw)
    return raw.rstrip("?&") if url.get("query") else raw
