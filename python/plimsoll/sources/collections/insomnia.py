"""Exports of Insomnia: version 4 (JSON) and version 5 (YAML), read as a collection of Postman.

https://developer.konghq.com/insomnia/import-export/
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from plimsoll.errors import UsageError
from plimsoll.sources.collections.postman import DEEPEST_FOLDER, collection_recording
from plimsoll.sources.json_values import JsonObject, object_of, objects_of

if TYPE_CHECKING:
    from plimsoll.sources.exchange import Recording
    from plimsoll.sources.source_input import SourceInput

_VARIABLE = re.compile(r"""\{\{\s*_(?:\.([^\s{}|]+)|\[["']([^"']+)["']\])\s*\}\}""")
_TAG = re.compile(r"\{%\s*(\w+)([^%]*)%\}")
_ARGUMENT = re.compile(r"'((?:[^'\\]|\\.)*)'")
_VERSION_5 = re.compile(r"^type: [\"']?collection\.insomnia\.rest/5", re.MULTILINE)
_KINDS = {"application/x-www-form-urlencoded": "urlencoded", "multipart/form-data": "formdata"}


def is_insomnia(source: SourceInput) -> bool:
    """Whether a text is an export of Insomnia."""
    start = source.beginning
    return '"__export_format"' in start or _VERSION_5.search(start) is not None


def read_insomnia(source: SourceInput) -> Recording:
    """Its requests in order, folder by folder. Raises UsageError, which names the item."""
    document = source.json if source.beginning.lstrip().startswith("{") else source.yaml
    if not isinstance(document, dict):
        raise UsageError(f"{source.name}: is no object; is this an export of Insomnia?")
    is_list = isinstance(document.get("resources"), list)
    tree = _tree(source.name, document) if is_list else _children(document.get("collection"), source.name)
    return collection_recording(source, _Export(source.name, tree).collection(_variables(document)))


def _tree(name: str, document: JsonObject) -> list[JsonObject]:
    """The items of version 4, which name their folders, as version 5 has them: in each other."""
    resources = objects_of(document["resources"])
    children: dict[str, list[JsonObject]] = {}
    for resource in resources:
        if resource.get("_type") in ("request", "request_group"):
            children.setdefault(str(resource.get("parentId")), []).append(resource)

    def below(parent: str, depth: int) -> list[JsonObject]:
        if depth > DEEPEST_FOLDER:
            raise UsageError(f"{name}: more than {DEEPEST_FOLDER} folders within each other")
        items = sorted(children.pop(parent, []), key=lambda item: _number(item.get("metaSortKey")))
        return [
            {**item, "children": below(str(item.get("_id")), depth + 1)}
            if item["_type"] == "request_group" else {**item, "meta": {"id": item.get("_id")}}
            for item in items
        ]  # fmt: skip

    known = {str(resource.get("_id")) for resource in resources if resource.get("_type") == "request_group"}
    roots = [parent for parent in children if parent not in known]
    return [item for root in roots for item in below(root, 0)]


def _children(items: Any, where: str) -> list[JsonObject]:
    if not isinstance(items, list):
        raise UsageError(f"{where}: collection is no list; is this an export of Insomnia?")
    return sorted(objects_of(items), key=lambda item: _number(object_of(item.get("meta")).get("sortKey")))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _variables(document: JsonObject) -> dict[str, str]:
    """Of the base environment, and of the first one below it, by their names with dots."""
    environments = [
        object_of(resource.get("data"))
        for resource in objects_of(document.get("resources")) if resource.get("_type") == "environment"
    ]  # fmt: skip
    base = object_of(document.get("environments"))
    environments += [object_of(base.get("data"))]
    environments += [object_of(below.get("data")) for below in objects_of(base.get("subEnvironments"))]
    values: dict[str, str] = {}
    for environment in [data for data in environments if data][:2]:
        stack: list[tuple[str, Any, int]] = [("", environment, 0)]
        while stack:
            name, value, depth = stack.pop()
            if isinstance(value, dict) and depth < DEEPEST_FOLDER:
                stack += [(f"{name}.{key}" if name else str(key), item, depth + 1) for key, item in value.items()]
            elif not isinstance(value, dict | list):
                values[name] = "" if value is None else str(value)
    return {name: _VARIABLE.sub(_braces, value) for name, value in values.items()}


def _braces(match: re.Match[str]) -> str:
    return f"{{{{{match[1] or match[2]}}}}}"


class _Export:
    """The work on one export."""

    def __init__(self, name: str, tree: list[JsonObject]) -> None:
        self._name, self._tree = name, tree
        self._taken: dict[tuple[str, str], str] = {}
        """Names of variables, by the id of a request and the JSONPath in its reply that other requests send."""
        self._tests: dict[str, list[str]] = {}
        """Lines of the test scripts by the ids of requests."""

    def collection(self, variables: dict[str, str]) -> JsonObject:
        items = self._items(self._tree, self._name, 0)
        for (request, path), name in self._taken.items():
            if (lines := self._tests.get(request)) is not None:
                lines.append(f'pm.environment.set("{name}", pm.response.json(){path.removeprefix("$")});')
        return {
            "item": items,
            "variable": [{"key": key, "value": value} for key, value in variables.items()],
        }

    def _items(self, items: list[JsonObject], where: str, depth: int) -> list[JsonObject]:
        if depth > DEEPEST_FOLDER:
            raise UsageError(f"{where}: more than {DEEPEST_FOLDER} folders within each other")
        made = []
        for item in items:
            name = str(item.get("name") or "request")
            folder: JsonObject = {"name": name, "auth": self._auth(item.get("authentication"))}
            if isinstance(item.get("children"), list):
                children = _children(item["children"], where)
                made.append(folder | {"item": self._items(children, f"{where} / {name}", depth + 1)})
            elif item.get("url"):
                scripts = _scripts(item)
                self._tests[str(object_of(item.get("meta")).get("id"))] = scripts["test"]
                events = [{"listen": kind, "script": {"exec": lines}} for kind, lines in scripts.items()]
                made.append(folder | {"request": self._request(item), "event": events})
        return made

    def _request(self, item: JsonObject) -> JsonObject:
        query = "&".join(
            "=".join(quote_plus(self._said(pair.get(field)), safe="{}$") for field in ("name", "value"))
            for pair in objects_of(item.get("parameters")) if not pair.get("disabled") and pair.get("name")
        )  # fmt: skip
        url = self._said(item["url"])
        paths = [
            {"key": pair.get("name"), "value": self._said(pair.get("value"))}
            for pair in objects_of(item.get("pathParameters"))
        ]
        return {
            "url": {"raw": f"{url}{'&' if '?' in url else '?'}{query}" if query else url, "variable": paths},
            "method": item.get("method") or "GET",
            "header": self._pairs(item.get("headers")),
            "auth": self._auth(item.get("authentication")),
            "body": self._body(object_of(item.get("body"))),
        }

    def _body(self, body: JsonObject) -> JsonObject:
        kind = str(body.get("mimeType") or "")
        if mode := _KINDS.get(kind):
            return {"mode": mode, mode: self._pairs(body.get("params"))}
        if body.get("fileName"):
            return {"mode": "file", "file": {"src": self._said(body["fileName"])}}
        if body.get("text"):
            language = next((word for word in ("json", "xml", "html") if word in kind or kind.endswith("graphql")), "")
            return {"mode": "raw", "raw": self._said(body["text"]), "options": {"raw": {"language": language}}}
        return {}

    def _pairs(self, pairs: Any) -> list[JsonObject]:
        return [
            {
                "key": self._said(pair.get("name")), "value": self._said(pair.get("value")),
                "disabled": bool(pair.get("disabled")),
                **({"type": "file", "src": pair.get("fileName")} if pair.get("type") == "file" else {}),
            }
            for pair in objects_of(pairs) if pair.get("name")
        ]  # fmt: skip

    def _auth(self, given: Any) -> JsonObject | None:
        auth = object_of(given)
        kind = str(auth.get("type") or "")
        if not kind or auth.get("disabled"):
            return None
        said = {key: self._said(value) for key, value in auth.items() if isinstance(value, str)}
        if auth.get("credentialsInBody"):
            said["credentialsInBody"] = "true"
        if kind == "apikey":
            said["in"] = "query" if auth.get("addTo") == "queryParams" else "header"
        return {"type": "noauth" if kind == "none" else kind, kind: said}

    def _said(self, text: Any) -> str:
        return _TAG.sub(self._tag, _VARIABLE.sub(_braces, "" if text is None else str(text)))

    def _tag(self, match: re.Match[str]) -> str:
        arguments = _ARGUMENT.findall(match[2])
        if match[1] == "uuid":
            return "{{$guid}}"
        if match[1] == "response" and len(arguments) > 2 and arguments[0] == "body":
            place = (arguments[1], _decoded(arguments[2]))
            return f"{{{{{self._taken.setdefault(place, f'response_{len(self._taken) + 1}')}}}}}"
        # The person gives it a value: --set prompt=VALUE.
        return f"{{{{{match[1]}}}}}"


def _scripts(item: JsonObject) -> dict[str, list[str]]:
    """Lines by the names that Postman has for its scripts."""
    scripts = object_of(item.get("scripts"))
    texts = {
        "prerequest": scripts.get("preRequest") or item.get("preRequestScript"),
        "test": scripts.get("afterResponse") or item.get("afterResponseScript"),
    }
    return {kind: str(text).replace("insomnia.", "pm.").split("\n") if text else [] for kind, text in texts.items()}


def _decoded(text: str) -> str:
    """b64::JC5h::46b is $.a."""
    if (match := re.fullmatch(r"b64::(.*)::46b", text)) is None:
        return text
    try:
        return base64.b64decode(match[1]).decode()
    except (binascii.Error, ValueError):
        return text
