from __future__ import annotations

import json
from typing import Any

import pytest
from tests.sources.recording_target import Answer, Received, target
from tests.sources.test_reading import FILES

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import DeclaredValue, FormPart
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.openapi import is_openapi, read_openapi
from plimsoll.sources.proof.passes import one_pass
from plimsoll.sources.source_input import SourceInput


def read(paths: dict[str, Any], given: dict[str, str] | None = None, **more: Any):
    document = {"openapi": "3.0.0", "servers": [{"url": "http://h"}], "paths": paths, **more}
    return read_openapi(SourceInput("x.json", json.dumps(document), None, given or {}))


def only(operation: dict[str, Any], path: str = "/a", given: dict[str, str] | None = None, **more: Any):
    (exchange,) = read({path: {"post": operation}}, given, **more).exchanges
    return exchange


def body_of(schema: dict[str, Any], **more: Any) -> Any:
    content = {"application/json": {"schema": schema}}
    return json.loads(only({"requestBody": {"content": content}}, **more).body)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"), ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"), ({"type": "string", "format": "uuid"}, "{{$uuid}}"),
        ({"type": "integer"}, 1), ({"type": "integer", "minimum": 5}, 5), ({"type": "number", "minimum": 0}, 0),
        ({"type": "integer", "exclusiveMinimum": 5}, 6), ({"type": "boolean"}, True), ({"enum": ["b", "a"]}, "b"),
        ({"const": 7}, 7), ({"type": "string", "default": "d"}, "d"), ({"example": {"x": None}}, {"x": None}),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, 1),
        ({"allOf": [{"properties": {"a": {"type": "integer"}}}], "properties": {"b": {"default": 2}}}, {"b": 2}),
        ({"properties": {"a": {"type": "integer", "readOnly": True}, "b": {"$ref": "#/x/y"}}}, {"b": "z"}),
    ],
)  # fmt: skip
def test_a_body_is_the_simplest_that_a_schema_allows(schema, value):
    assert body_of(schema, x={"y": {"default": "z"}}) == value


def test_a_schema_within_itself_ends():
    tree = {"type": "object", "required": ["child"], "properties": {"child": {"$ref": "#/tree"}}}
    assert json.dumps(body_of({"$ref": "#/tree"}, tree=tree)).count("child") < 20


def test_other_kinds_of_bodies():
    schema = {"type": "object", "properties": {"a": {"default": "b c"}, "n": {"type": "integer"}}}
    form = only({"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}})
    assert (form.body, form.header("content-type")) == (b"a=b+c&n=1", "application/x-www-form-urlencoded")
    parts = only({"requestBody": {"content": {"multipart/form-data": {"schema": schema}}}}).parts
    assert parts == (FormPart("a", b"b c"), FormPart("n", b"1"))
    recording = read({"/a": {"put": {"requestBody": {"content": {"image/png": {}}}}}})
    assert recording.notes == ("x.json: PUT /a: a body of image/png is not made; the request is sent without one",)


def test_swagger_2():
    document = {
        "swagger": "2.0", "host": "h:1", "basePath": "/v1", "schemes": ["https"],
        "paths": {"/a": {"post": {"parameters": [
            {"in": "body", "name": "b", "schema": {"type": "object", "properties": {"x": {"type": "integer"}}}}
        ]}, "put": {"parameters": [{"in": "formData", "name": "f", "type": "string"}]}}},
        "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}, "security": [{"key": []}],
    }  # fmt: skip
    recording = read_openapi(SourceInput("x.json", json.dumps(document), None, {"key": "k"}))
    first, second = recording.exchanges
    assert (first.url, first.body, second.body) == ("https://h:1/v1/a", b'{"x": 1}', b"f=text")
    assert first.headers == (("X-Key", "k"), ("Content-Type", "application/json"))


@pytest.mark.parametrize(
    ("scheme", "headers", "url"),
    [
        ({"type": "http", "scheme": "basic"}, (("Authorization", "Basic t"),), "http://h/a"),
        ({"type": "oauth2"}, (("Authorization", "Bearer t"),), "http://h/a"),
        ({"type": "apiKey", "in": "query", "name": "k"}, (), "http://h/a?k=t"),
        ({"type": "apiKey", "in": "cookie", "name": "k"}, (("Cookie", "k=t"),), "http://h/a"),
    ],
)
def test_authorization(scheme, headers, url):
    components = {"securitySchemes": {"s": scheme}}
    exchange = only({"security": [{"s": []}]}, given={"s": "t"}, components=components)
    assert (exchange.headers, exchange.url) == (headers, url)
    recording = read({"/a": {"get": {"security": [{"s": []}]}}}, components=components)
    assert recording.notes == (f"x.json: s ({scheme['type']}) has no value; give it with --set 's=VALUE'",)


@pytest.mark.parametrize("place", ["header", "query"])
def test_an_api_key_is_a_credential_whatever_its_name(place, tmp_path):
    scheme = {"type": "apiKey", "name": "X-Shop", "in": place}
    document = {"openapi": "3.0.0", "servers": [{"url": "http://h"}], "paths": {"/": {"get": {}}},
                "security": [{"s": []}], "components": {"securitySchemes": {"s": scheme}}}  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(document))
    files = written(make_draft([str(tmp_path / "a.json")], variables={"s": "k3y"}), "plan", as_locustfile=False)
    assert "k3y" not in files.text
    assert files.files == {"plan.secrets.csv": b"x_shop\nk3y\n"}


def test_parameters():
    schema = {"type": "integer", "minimum": 3}
    operation = {"parameters": [
        {"name": "a", "in": "path", "required": True, "schema": schema}, {"name": "q", "in": "query", "schema": schema},
        {"name": "r", "in": "query", "required": True, "example": "x y"},
        {"name": "H", "in": "header", "required": True, "schema": {"type": "boolean"}},
    ]}  # fmt: skip
    exchange = only(operation, "/a/{a}")
    assert (exchange.url, exchange.headers) == ("http://h/a/3?r=x+y", (("H", "true"),))
    assert only(operation, "/a/{a}", {"a": "9", "r": "z"}).url == "http://h/a/9?r=z"


def test_a_parameter_that_no_operation_has_is_a_mistake(tmp_path):
    operation = {"parameters": [{"name": "limit", "in": "query", "required": True}]}
    document = {"openapi": "3.0.0", "servers": [{"url": "http://h"}], "paths": {"/": {"get": operation}}}
    (tmp_path / "a.json").write_text(json.dumps(document))
    make_draft([str(tmp_path / "a.json")], variables={"limit": "9", "base": "http://i"})
    with pytest.raises(UsageError, match=r"--set limt: nothing uses a variable of this name; did you mean limit\?"):
        make_draft([str(tmp_path / "a.json")], variables={"limt": "9"})


def test_what_a_post_makes_is_read_changed_and_deleted_in_this_order():
    reply = {"201": {"content": {"application/json": {"schema": {"properties": {"id": {"type": "integer"}}}}}}}
    recording = read({
        "/todos/{id}": {"delete": {}, "put": {}, "get": {}, "parameters": [{"name": "id", "in": "path"}]},
        "/users": {"get": {}},
        "/todos": {"get": {}, "post": {"responses": reply}},
    })  # fmt: skip
    assert [f"{exchange.method} {exchange.url}" for exchange in recording.exchanges] == [
        "POST http://h/todos", "GET http://h/todos", "GET http://h/todos/{{todo_id}}", "PUT http://h/todos/{{todo_id}}",
        "DELETE http://h/todos/{{todo_id}}", "GET http://h/users",
    ]  # fmt: skip
    assert recording.exchanges[0].extracts == (DeclaredValue("todo_id", "json", "/id"),)


def _referring(reference: str, **more: Any) -> dict[str, Any]:
    return {"paths": {"/a": {"get": {"parameters": [{"$ref": reference}]}}}, **more}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"openapi": "3.0.0"}, "x.json: paths is no object"),
        ({"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}, "x.json: names no host; give it with --set base="),
        (_referring("http://x/y"), "GET /a: http://x/y is in another document"),
        (_referring("#/none"), "GET /a: #/none leads nowhere"),
        (_referring("#/r", r={"$ref": "#/r"}), "GET /a: its references lead in a circle"),
    ],
)  # fmt: skip
def test_mistakes(document, message):
    text = json.dumps({"servers": [{"url": "http://h"}], **document} if "openapi" not in document else document)
    with pytest.raises(UsageError) as raised:
        read_openapi(SourceInput("x.json", text))
    assert message in str(raised.value)


def test_is_openapi():
    assert is_openapi(SourceInput("x", ' {"info": {}, "openapi": "3.1.0"}'))
    assert is_openapi(SourceInput("x", '{"swagger": "2.0"}'))
    assert is_openapi(SourceInput("x", "# An API\nopenapi: 3.1.0\n"))
    assert is_openapi(SourceInput("x", "info: {}\nswagger: '2.0'\n"))
    assert not is_openapi(SourceInput("x", "openapi: 4.0\n"))
    assert not is_openapi(SourceInput("x", "a:\n  openapi: 3.1.0\n"))


def test_yaml_is_read_as_json_is(tmp_path):
    import yaml

    whole = json.loads((FILES / "todos.openapi.json").read_text())
    (tmp_path / "todos.openapi.json").write_text(yaml.safe_dump(whole, sort_keys=False))
    given = {"base": "http://127.0.0.1:8000", "token": "t0k"}
    drafts = [make_draft([str(folder / "todos.openapi.json")], variables=given) for folder in (tmp_path, FILES)]
    first, second = (written(draft, "x", as_locustfile=False).text for draft in drafts)
    assert first == second


def test_a_service_accepts_what_its_description_says(tmp_path):
    def rules(request: Received) -> Answer:
        if request.route == "/v1/feedback":
            return Answer(200) if len(request.form["text"]) >= 6 else Answer(422)
        if request.headers.get("authorization") != "Bearer t0k":
            return Answer(401)
        if request.method == "POST":
            made = json.loads(request.body)
            return Answer(201, {"id": 41}) if made["tags"][0]["name"] == "home" and made["n"] >= 3 else Answer(422)
        return Answer(200 if request.route in ("/v1/todos", "/v1/todos/41") else 404)

    with target(rules) as service:
        draft = make_draft([str(FILES / "todos.openapi.json")], variables={"base": service.url, "token": "t0k"})
        assert [proof.state for proof in one_pass(draft)] == ["proven"] * 5
    compile(written(draft, "x", as_locustfile=True).text, "x.py", "exec")
