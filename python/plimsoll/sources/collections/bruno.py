"""Collections of Bruno: its export in JSON, one .bru file, or the folder of a collection. Read as those of Postman.

https://docs.usebruno.com/bru-lang/overview
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.sources.collections.postman import DEEPEST_FOLDER, collection_recording
from plimsoll.sources.json_values import JsonObject, object_of, objects_of
from plimsoll.sources.source_input import SourceInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.sources.exchange import Recording

MOST_FILES = 20_000
LONGEST_FILE = 4 << 20
"""Bytes."""
_BLOCK = re.compile(r"([a-z][a-z0-9:-]{0,50}) *[{\[][ \t]*")
_METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace", "connect")
_MODES = {
    "json": "json", "text": "text", "xml": "xml", "form-urlencoded": "formUrlEncoded",
    "multipart-form": "multipartForm", "graphql": "graphql",
}  # fmt: skip
"""Names of bodies in the export, by those in .bru files."""
_ITEM = re.compile(r'"type"\s*:\s*"(?:http|graphql|folder)')
_SET = re.compile(r"""bru\.set(?:Env|GlobalEnv|Collection)?Var\(\s*(["'][\w.-]+["'])\s*,\s*([^;\n]+?)\s*\)\s*;?\s*$""")
_REPLY = re.compile(r"^res(?:\.body|\.getBody\(\)|\(\))")
_HEADER = re.compile(r"""^res\.(?:getHeader\(["']([\w-]+)["']\)|headers\[["']([\w-]+)["']\])$""")


def is_bruno(source: SourceInput) -> bool:
    """Whether a text is a collection of Bruno, or a request of one."""
    start = source.beginning
    if start.lstrip().startswith("{"):
        # Schemes of OpenAPI have the same type.
        is_api = '"openapi"' in start or '"swagger"' in start
        return not is_api and all(word in start for word in ('"items"', '"version"')) and bool(_ITEM.search(start))
    return source.name.lower().endswith(".bru") or re.match(r"\s*meta \{\n", start) is not None


def read_bruno(source: SourceInput) -> Recording:
    """Its requests in order, folder by folder. Raises UsageError, which names the item."""
    if source.beginning.lstrip().startswith("{"):
        document = source.json
    else:
        document = {"items": [bru_item(source.name, source.text)]}
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise UsageError(f"{source.name}: items is no list; is this a collection of Bruno?")
    root = object_of(object_of(document.get("root")).get("request"))
    environments = objects_of(document.get("environments"))
    pairs = [*objects_of(object_of(root.get("vars")).get("req"))]
    pairs += objects_of(environments[0].get("variables")) if environments else []
    collection = {
        "item": _items(document["items"], source.name, 0),
        "auth": _auth(root.get("auth")),
        "variable": [
            {"key": pair.get("name"), "value": pair.get("value")} for pair in pairs
            if pair.get("enabled", True) and not pair.get("secret")
        ],
    }  # fmt: skip
    return collection_recording(source, collection)


def collection_folder(word: str, variables: Mapping[str, str]) -> SourceInput | None:
    """The folder of a collection as its export; None if the word names none. Raises UsageError."""
    folder = Path(word)
    if not (folder / "bruno.json").is_file():
        return None
    files = [0]
    root = folder / "collection.bru"
    document = {
        "version": "1",
        "items": _folder_items(folder, 0, files),
        "root": bru_item(str(root), _read(root)) if root.is_file() else {},
        "environments": [
            {"variables": _pairs(block)}
            for path in sorted((folder / "environments").glob("*.bru"))[:1]
            for name, block in _blocks(_read(path)) if name == "vars"
        ],
    }  # fmt: skip
    return SourceInput(word, json.dumps(document), folder / "bruno.json", variables)


def _folder_items(folder: Path, depth: int, files: list[int]) -> list[JsonObject]:
    """files: how many are read, the only element."""
    if depth > DEEPEST_FOLDER:
        raise UsageError(f"{folder}: more than {DEEPEST_FOLDER} folders within each other")
    items: list[JsonObject] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and (depth or entry.name != "environments"):
                if not entry.name.startswith(".") and entry.name != "node_modules":
                    own = path / "folder.bru"
                    meta = bru_item(str(own), _read(own)) if own.is_file() else {}
                    items.append({**meta, "type": "folder", "name": entry.name,
                                  "items": _folder_items(path, depth + 1, files)})  # fmt: skip
            elif entry.name.endswith(".bru") and entry.name not in ("folder.bru", "collection.bru"):
                files[0] += 1
                if files[0] > MOST_FILES:
                    raise UsageError(f"{folder}: more than {MOST_FILES:,} requests")
                items.append(bru_item(str(path), _read(path)))
    # As Bruno shows them: by seq, and files without one last.
    return sorted(items, key=lambda item: item.get("seq") or float("inf"))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if len(content) > LONGEST_FILE:
        raise UsageError(f"{path}: longer than {LONGEST_FILE >> 20} MiB")
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def bru_item(name: str, text: str) -> JsonObject:
    """A .bru file as an item of the export. Raises UsageError for one that is no request."""
    request: JsonObject = {"headers": [], "body": {}, "auth": {}, "script": {}, "vars": {}, "params": []}
    item: JsonObject = {"type": "http", "name": Path(name).stem, "request": request}
    for block, content in _blocks(text.replace("\r\n", "\n")):
        kind, _, rest = block.partition(":")
        pairs = _pairs(content)
        values = {pair["name"]: pair["value"] for pair in pairs if pair["enabled"]}
        if block in _METHODS:
            request |= {"method": block.upper(), "url": values.get("url", "")}
            request["body"]["mode"] = _MODES.get(values.get("body", ""), "none")
            request["auth"]["mode"] = values.get("auth", "inherit")
        elif block == "meta":
            item |= {"name": values.get("name", item["name"])}
            item["seq"] = float(values["seq"]) if re.fullmatch(r"\d{1,9}", values.get("seq", "")) else None
        elif block == "headers":
            request["headers"] = pairs
        elif kind == "params":
            request["params"] += [{**pair, "type": rest} for pair in pairs]
        elif kind == "auth":
            request["auth"] |= {rest: values} if rest else {"mode": values.get("mode", "none")}
        elif block == "body:graphql:vars":
            request["body"].setdefault("graphql", {})["variables"] = _dedented(content)
        elif kind == "body":
            mode = _MODES.get(rest or "json", "text")
            listed = mode in ("formUrlEncoded", "multipartForm")
            said: Any = pairs if listed else _dedented(content)
            request["body"][mode] = {"query": said} if mode == "graphql" else said
        elif kind == "vars":
            request["vars"]["res" if rest == "post-response" else "req"] = pairs
        elif kind == "script":
            request["script"]["res" if rest == "post-response" else "req"] = _dedented(content)
    return item


def _blocks(text: str) -> list[tuple[str, str]]:
    """Names and contents. A block begins and ends with a line of its own at the left margin."""
    blocks: list[tuple[str, str]] = []
    name, lines = "", list[str]()
    for line in text.split("\n"):
        if name and line[:1] in ("}", "]"):
            blocks.append((name, "\n".join(lines)))
            name, lines = "", []
        elif name:
            lines.append(line)
        elif (begin := _BLOCK.fullmatch(line)) is not None:
            name = begin[1]
    return blocks


def _pairs(content: str) -> list[JsonObject]:
    """A line for each pair; ~ before its name turns it off."""
    pairs = (line.strip().partition(":") for line in content.split("\n"))
    return [
        {"name": name.removeprefix("~").strip().strip('"'), "value": value.strip(), "enabled": not name.startswith("~")}
        for name, colon, value in pairs if colon and name.strip("~ ")
    ]  # fmt: skip


def _dedented(content: str) -> str:
    return re.sub(r"^  ", "", content, flags=re.MULTILINE).rstrip("\n")


def _items(items: list[Any], where: str, depth: int) -> list[JsonObject]:
    if depth > DEEPEST_FOLDER:
        raise UsageError(f"{where}: more than {DEEPEST_FOLDER} folders within each other")
    made: list[JsonObject] = []
    for item in objects_of(items):
        name = str(item.get("name") or "request")
        request = object_of(item.get("request"))
        if isinstance(item.get("items"), list):
            auth = _auth(request.get("auth"))
            made.append({"name": name, "auth": auth, "item": _items(item["items"], f"{where} / {name}", depth + 1)})
        elif request.get("url"):
            made.append({"name": name, "request": _request(request), "event": _events(request)})
    return made


def _request(request: JsonObject) -> JsonObject:
    params = objects_of(request.get("params"))
    return {
        "url": {
            "raw": request["url"],
            "variable": [
                {"key": pair.get("name"), "value": pair.get("value")} for pair in params if pair.get("type") == "path"
            ],
        },
        "method": request.get("method") or "GET", "header": _enabled(request.get("headers")),
        "auth": _auth(request.get("auth")), "body": _body(object_of(request.get("body"))),
    }  # fmt: skip


def _enabled(pairs: Any) -> list[JsonObject]:
    return [
        {"key": pair["name"], "value": pair.get("value")}
        for pair in objects_of(pairs) if pair.get("name") and pair.get("enabled", True)
    ]  # fmt: skip


def _body(body: JsonObject) -> JsonObject:
    mode = str(body.get("mode") or "none")
    own = body.get(mode)
    if mode in ("json", "xml", "text") and isinstance(own, str):
        return {"mode": "raw", "raw": own, "options": {"raw": {"language": mode}}}
    if mode == "formUrlEncoded":
        return {"mode": "urlencoded", "urlencoded": _enabled(own)}
    if mode == "multipartForm":
        return {"mode": "formdata", "formdata": [_part(pair) for pair in _enabled(own)]}
    if mode == "graphql" and isinstance(own, dict):
        return {"mode": "graphql", "graphql": own}
    return {}


def _part(pair: JsonObject) -> JsonObject:
    """@file(a.png) is a file."""
    file = re.fullmatch(r"@file\((.*)\)", str(pair.get("value") or ""))
    return {"key": pair["key"], "type": "file", "src": file[1].split("|")} if file else pair


def _auth(given: Any) -> JsonObject | None:
    auth = object_of(given)
    mode = str(auth.get("mode") or "inherit")
    if mode == "inherit":
        return None
    own = dict(object_of(auth.get(mode)))
    if mode == "apikey":
        own["in"] = "query" if str(own.get("placement")).startswith("query") else "header"
    return {"type": "noauth" if mode == "none" else mode, mode: own}


def _events(request: JsonObject) -> list[JsonObject]:
    """Its scripts, and the variables that it takes from the reply, in the words of Postman."""
    scripts, variables = object_of(request.get("script")), object_of(request.get("vars"))
    lines = [
        f'pm.environment.set("{pair.get("name")}", {_expression(str(pair.get("value")))});'
        for pair in objects_of(variables.get("res")) if pair.get("enabled", True)
    ]  # fmt: skip
    lines += [_line(line) for line in str(scripts.get("res") or "").split("\n") if line.strip()]
    before = [line for line in str(scripts.get("req") or "").split("\n") if line.strip()]
    return [
        {"listen": "test", "script": {"exec": lines}}, {"listen": "prerequest", "script": {"exec": before}},
    ]  # fmt: skip


def _line(line: str) -> str:
    if (match := _SET.search(line)) is None:
        return line
    return f"pm.environment.set({match[1]}, {_expression(match[2])});"


def _expression(text: str) -> str:
    if header := _HEADER.fullmatch(text):
        return f'pm.response.headers.get("{header[1] or header[2]}")'
    return _REPLY.sub("pm.response.json()", text)
