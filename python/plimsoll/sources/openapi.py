"""OpenAPI 3 and Swagger 2 in JSON or YAML: a request for each operation, in an order in which ids exist before they are
used.

Values are those of examples and defaults, else the smallest that a schema allows. Nothing outside of the document is
fetched.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

from plimsoll.errors import UsageError
from plimsoll.load.auth.oauth2 import METADATA
from plimsoll.sources.collections.auth import declared_auth, digest_auth
from plimsoll.sources.exchange import (
    DeclaredAuth,
    DeclaredValue,
    FormPart,
    RecordedExchange,
    Recording,
    percent_encoded,
)
from plimsoll.sources.json_values import JsonObject, objects_of, pointer_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.sources.source_input import SourceInput

_METHODS = ("post", "get", "put", "patch", "head", "options", "delete")
"""In the order in which they are called on one resource."""
_YAML = re.compile(r"^[\"']?(?:openapi|swagger)[\"']?[ \t]*:[ \t]*[\"']?[23]\.", re.MULTILINE)
DEEPEST_SCHEMA = 12
"""Schemas within each other of which a value is made; optional parts below are left out."""
_FORMATS = {
    "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "email": "user@example.com", "uuid": "{{$uuid}}",
    "uri": "http://example.com/", "ipv4": "192.0.2.1", "byte": "YQ==", "time": "12:00:00Z", "hostname": "example.com",
}  # fmt: skip


def is_openapi(source: SourceInput) -> bool:
    """Whether a text is a description of an API."""
    return _is_json(source) or _YAML.search(source.beginning) is not None


def _is_json(source: SourceInput) -> bool:
    return re.match(r'\s*\{.*"(?:openapi|swagger)"\s*:\s*"', source.beginning, re.DOTALL) is not None


def read_openapi(source: SourceInput) -> Recording:
    """Its operations as requests. Raises UsageError, which names the operation."""
    document = source.json if _is_json(source) else source.yaml
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise UsageError(f"{source.name}: paths is no object; is this a description of an API?")
    reader = _Api(source.name, document, source.variables)
    exchanges = tuple(reader.exchanges())
    return Recording(source.name, exchanges, tuple(dict.fromkeys(reader.notes)), has_placeholders=True)


@dataclass(slots=True)
class _Api:
    """The work on one description."""

    name: str
    document: JsonObject
    given: Mapping[str, str]
    """Values of parameters that the person gives."""
    notes: list[str] = field(default_factory=list)

    def exchanges(self) -> Iterator[RecordedExchange]:
        base = self._base()
        made: dict[str, str] = {}
        """Names of variables, by the path of the collection in which a POST makes a resource."""
        for path, method, operation, shared in self._operations():
            where = f"{self.name}: {method.upper()} {path}"
            own = (*objects_of(shared), *objects_of(operation.get("parameters")))
            parameters = [self._resolved(parameter, where) for parameter in own]
            exchange = self._exchange(base, path, method, operation, parameters, made, where)
            if method == "post" and (value := self._made(path, operation, where)) is not None:
                made[path.rstrip("/")] = value.name
                exchange = replace(exchange, extracts=(value,))
            yield exchange

    def _base(self) -> str:
        servers = self.document.get("servers")
        if isinstance(servers, list) and servers and isinstance(servers[0], dict):
            url = str(servers[0].get("url") or "/")
            for name, variable in (servers[0].get("variables") or {}).items():
                url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
        elif self.document.get("host"):
            scheme = (self.document.get("schemes") or ["http"])[0]
            url = f"{scheme}://{self.document['host']}{self.document.get('basePath') or ''}"
        else:
            url = str(self.document.get("basePath") or "/")
        if "://" not in url:
            host = self.given.get("base")
            if host is None:
                raise UsageError(f"{self.name}: names no host; give it with --set base=http://127.0.0.1:8000")
            url = host.rstrip("/") + url
        elif "base" in self.given:
            url = self.given["base"].rstrip("/") + urlsplit(url).path
        return url.rstrip("/")

    def _operations(self) -> list[tuple[str, str, JsonObject, Any]]:
        """The operations: collections before the resources in them, and deletion last."""
        operations = []
        for path, item in self.document["paths"].items():
            if isinstance(item, dict):
                for method in _METHODS:
                    if isinstance(item.get(method), dict):
                        operations.append((str(path), method, item[method], item.get("parameters")))
        # Resources are in the order of the document. Operations of one resource are in the order of use.
        resources = list(dict.fromkeys(_resource(path) for path, *_ in operations))
        return sorted(
            operations, key=lambda entry: (
                resources.index(_resource(entry[0])), entry[1] == "delete",
                entry[0].count("{"), _METHODS.index(entry[1]),
            )
        )  # fmt: skip

    def _exchange(
        self, base: str, path: str, method: str, operation: JsonObject, parameters: list[JsonObject],
        made: dict[str, str], where: str,
    ) -> RecordedExchange:  # fmt: skip
        headers, query, auth = self._security(operation)
        credentials = frozenset((*(name for name, _ in headers), *(unquote_plus(q.partition("=")[0]) for q in query)))
        filled = path
        for parameter in parameters:
            name, location = str(parameter.get("name")), parameter.get("in")
            if location == "path":
                before = path.partition(f"/{{{name}}}")[0]
                variable = made.get(before)
                value = f"{{{{{variable}}}}}" if variable else percent_encoded(self._parameter(parameter, where))
                filled = filled.replace(f"{{{name}}}", self.given.get(name, value))
            elif parameter.get("required") and location == "query":
                query.append(f"{quote_plus(name)}={quote_plus(self._parameter(parameter, where), safe='{}$')}")
            elif parameter.get("required") and location == "header":
                headers.append((name, self._parameter(parameter, where)))
        body, parts, content_type = self._body(operation, parameters, where)
        if content_type:
            headers.append(("Content-Type", content_type))
        return RecordedExchange(
            method=method.upper(), url=f"{base}{filled}{'?' if query else ''}{'&'.join(query)}", headers=tuple(headers),
            body=body, parts=parts, name=path, where=where, credentials=credentials, auth=auth,
        )  # fmt: skip

    def _parameter(self, parameter: JsonObject, where: str) -> str:
        name = str(parameter.get("name"))
        if name in self.given:
            return self.given[name]
        schema = parameter.get("schema") if isinstance(parameter.get("schema"), dict) else parameter
        value = _example(parameter)
        value = self.value(schema, where) if value is None else value
        if isinstance(value, list):
            return ",".join(map(str, value))
        return value if isinstance(value, str) else json.dumps(value)

    def _security(self, operation: JsonObject) -> tuple[list[tuple[str, str]], list[str], DeclaredAuth | None]:
        """The first way to authorize that is understood: headers, parameters of the query, or what plans do
        themselves."""
        required = operation.get("security", self.document.get("security")) or []
        schemes = (self.document.get("components") or {}).get("securitySchemes") or {}
        schemes = schemes or self.document.get("securityDefinitions") or {}
        names = [name for requirement in objects_of(required) for name in requirement]
        for name in names:
            scheme = schemes.get(name) if isinstance(schemes, dict) else None
            if not isinstance(scheme, dict):
                continue
            kind = str(scheme.get("type"))
            is_basic = kind == "basic" or str(scheme.get("scheme")).lower() == "basic"
            value = self.given.get(name) or self.given.get("token")
            if value is None:
                auth = self._declared(scheme)
                if auth is None:
                    instead = self._instead(scheme, name)
                    self.notes.append(f"{self.name}: {name} ({kind}) has no value; give it with {instead}")
                return [], [], auth
            if kind == "apiKey":
                key = str(scheme.get("name"))
                if scheme.get("in") == "query":
                    return [], [f"{quote_plus(key)}={quote_plus(value)}"], None
                return [(key, value) if scheme.get("in") == "header" else ("Cookie", f"{key}={value}")], [], None
            return [("Authorization", f"{'Basic' if is_basic else 'Bearer'} {value}")], [], None
        return [], [], None

    def _declared(self, scheme: JsonObject) -> DeclaredAuth | None:
        """What plans do themselves, if its values are given."""
        given = self.given
        if str(scheme.get("scheme")).lower() == "digest" and "username" in given:
            return digest_auth(given["username"], given.get("password", ""))
        service = _token_service(scheme)
        if not service or "client_id" not in given:
            return None
        names = ("client_id", "client_secret", "scope", "username", "password")
        return declared_auth("oauth2", service | {name: given[name] for name in names if name in given})

    def _instead(self, scheme: JsonObject, name: str) -> str:
        """The options with which a value is given."""
        if str(scheme.get("scheme")).lower() == "digest":
            return "--set username=VALUE --set password=VALUE"
        token = f"--set '{name}=VALUE'"
        return f"{token}, or --set client_id=VALUE --set client_secret=VALUE" if _token_service(scheme) else token

    def _body(
        self, operation: JsonObject, parameters: list[JsonObject], where: str
    ) -> tuple[bytes | None, tuple[FormPart, ...], str]:
        """Body, parts and content type."""
        request = self._resolved(operation.get("requestBody"), where)
        given = request.get("content")
        content: JsonObject = given if isinstance(given, dict) else {}
        if not content and (
            own := next((parameter for parameter in parameters if parameter.get("in") == "body"), None)
        ):
            content = {"application/json": own}
        if not content and (fields := [parameter for parameter in parameters if parameter.get("in") == "formData"]):
            properties = {str(field_.get("name")): field_ for field_ in fields}
            schema = {"type": "object", "properties": properties, "required": list(properties)}
            content = {"application/x-www-form-urlencoded": {"schema": schema}}
        for kind, media in content.items():
            if not isinstance(media, dict):
                continue
            value = _example(media)
            value = self.value(media.get("schema"), where) if value is None else value
            if kind == "application/json" or kind.endswith("+json") or kind == "*/*":
                return json.dumps(value, ensure_ascii=False).encode(), (), kind.replace("*/*", "application/json")
            if isinstance(value, dict) and kind == "application/x-www-form-urlencoded":
                pairs = (f"{quote_plus(key)}={quote_plus(_plain(item), safe='{}$')}" for key, item in value.items())
                return "&".join(pairs).encode(), (), kind
            if isinstance(value, dict) and kind == "multipart/form-data":
                return None, tuple(FormPart(key, _plain(item).encode()) for key, item in value.items()), ""
        if content:
            self.notes.append(f"{where}: a body of {', '.join(content)} is not made; the request is sent without one")
        return None, (), ""

    def _made(self, path: str, operation: JsonObject, where: str) -> DeclaredValue | None:
        """The id of what a POST makes, if other paths need it and its reply has it."""
        prefix = f"{path.rstrip('/')}/{{"
        other = next((candidate for candidate in self.document["paths"] if str(candidate).startswith(prefix)), None)
        if other is None:
            return None
        parameter = str(other)[len(prefix) :].partition("}")[0]
        responses = operation.get("responses")
        for status in ("201", "200", "202", "default"):
            reply = self._resolved(responses.get(status) if isinstance(responses, dict) else None, where)
            content = reply.get("content") or {"": reply}
            media = next(iter(content.values()), None) if isinstance(content, dict) else None
            schema = self._resolved(media.get("schema") if isinstance(media, dict) else None, where)
            properties = schema.get("properties") or {}
            for key in (parameter, "id", "uuid", "name"):
                if key in properties:
                    return DeclaredValue(re.sub(r"\W", "_", f"{_resource(path)}_{key}"), "json", f"/{key}")
        self.notes.append(f"{where}: its reply names no id for {other}; give it with --set '{parameter}=VALUE'")
        return None

    def value(self, schema: Any, where: str, depth: int = 0) -> Any:
        """The simplest value that a schema allows."""
        schema = self._resolved(schema, where)
        example = _example(schema)
        if example is not None:
            return example
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return schema["enum"][0]
        if depth > DEEPEST_SCHEMA:
            return None
        for key in ("allOf", "oneOf", "anyOf"):
            members = objects_of(schema.get(key))
            if members:
                values = [self.value(part, where, depth + 1) for part in (members if key == "allOf" else members[:1])]
                if all(isinstance(value, dict) for value in values):
                    own = self._object(schema, where, depth)
                    return {name: item for value in (*values, own) for name, item in value.items()}
                return values[0]
        kind = schema.get("type")
        kind = next((name for name in kind if name != "null"), None) if isinstance(kind, list) else kind
        match kind:
            case "object" | None if "properties" in schema or kind == "object":
                return self._object(schema, where, depth)
            case "array":
                count = max(1 if depth < DEEPEST_SCHEMA // 2 else 0, min(int(schema.get("minItems") or 0), 10))
                return [self.value(schema.get("items"), where, depth + 1) for _ in range(count)]
            case "integer" | "number":
                least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
                least = least if isinstance(least, int | float) and not isinstance(least, bool) else 0
                return least + (1 if "exclusiveMinimum" in schema or (least == 0 and "minimum" not in schema) else 0)
            case "boolean":
                return True
        text = str(_FORMATS.get(str(schema.get("format")), "text"))
        return text.ljust(min(int(schema.get("minLength") or 0), 1000), "x")[: schema.get("maxLength") or None]

    def _object(self, schema: JsonObject, where: str, depth: int) -> JsonObject:
        required = schema.get("required") if isinstance(schema.get("required"), list) else []
        properties = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
        return {
            str(name): self.value(item, where, depth + 1)
            for name, item in (properties or {}).items()
            if name in (required or ()) or (depth == 0 and not _is_read_only(item))
        }

    def _resolved(self, value: Any, where: str) -> JsonObject:
        """What a reference within the document leads to. Raises UsageError for a circle, or for one to elsewhere."""
        for _ in range(DEEPEST_SCHEMA):
            if not isinstance(value, dict):
                return {}
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return value
            if not reference.startswith("#/"):
                raise UsageError(
                    f"{where}: {reference} is in another document, which is not fetched; bundle them first"
                )
            value = self.document
            for part in reference[2:].split("/"):
                value = value.get(pointer_key(part)) if isinstance(value, dict) else None
            if value is None:
                raise UsageError(f"{where}: {reference} leads nowhere")
        raise UsageError(f"{where}: its references lead in a circle")


def _example(holder: JsonObject) -> Any:
    if "example" in holder:
        return holder["example"]
    examples = holder.get("examples")
    if isinstance(examples, dict) and examples:
        first = next(iter(examples.values()))
        return first.get("value") if isinstance(first, dict) else None
    return examples[0] if isinstance(examples, list) and examples else None


def _is_read_only(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(schema.get("readOnly"))


def _resource(path: str) -> str:
    """The last word of a path before its first variable: the name of the resource."""
    words = [part for part in path.partition("{")[0].split("/") if part]
    return words[-1].removesuffix("s") if words else ""


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _token_service(scheme: JsonObject) -> dict[str, str]:
    """The token service of a scheme: its URL and the grant, or the issuer whose metadata have the URL. Nothing for a
    grant that needs a person in front of a browser."""
    metadata = scheme.get("openIdConnectUrl")
    if isinstance(metadata, str) and metadata.endswith(METADATA):
        return {"issuer": metadata.removesuffix(METADATA)}
    flows = scheme.get("flows")
    # Swagger 2 has one flow, and calls that of clients "application".
    known: JsonObject = flows if isinstance(flows, dict) else {str(scheme.get("flow")): scheme}
    for name, grant in (("clientCredentials", ""), ("application", ""), ("password", "password")):
        flow = known.get(name)
        if isinstance(flow, dict) and isinstance(flow.get("tokenUrl"), str):
            return {"access_token_url": flow["tokenUrl"], "grant_type": grant}
    return {}
