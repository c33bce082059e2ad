"""`tests/sources/test_http_file.py` has a collection accepted by a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.collections.postman import is_postman, read_postman
from plimsoll.sources.exchange import DeclaredValue, FormPart
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.source_input import SourceInput

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


KEY = [{"key": "key", "value": "K"}, {"key": "value", "value": "v"}]


def read(*items: Any, **more: Any):
    collection = {"info": {"schema": SCHEMA}, "item": list(items), **more}
    return read_postman(SourceInput("x.json", json.dumps(collection), None, {"base": "http://h"}))


def only(request: Any, **more: Any):
    (exchange,) = read({"name": "A", "request": request}, **more).exchanges
    return exchange


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("{{base}}/a", "http://h/a"),
        ({"raw": "h.test/a#b"}, "http://h.test/a"),
        ({"raw": "{{base}}/:a/:b", "variable": [{"key": "a", "value": "1 2"}]}, "http://h/1%202/:b"),
        ({"raw": "{{base}}/?a=1", "query": [{"key": "a", "value": "1", "disabled": True}]}, "http://h/"),
    ],
)
def test_urls(url, expected):
    assert only({"method": "get", "url": url}).url == expected
    assert only("{{base}}/x").method == "GET"


@pytest.mark.parametrize(
    ("auth", "headers", "url"),
    [
        ({"type": "noauth"}, (), "http://h"),
        ({"type": "bearer", "bearer": [{"key": "token", "value": "t"}]}, (("Authorization", "Bearer t"),), "http://h"),
        (
            {"type": "basic", "basic": {"username": "ann", "password": "pw"}},
            (("Authorization", "Basic YW5uOnB3"),), "http://h",
        ),
        ({"type": "apikey", "apikey": KEY}, (("K", "v"),), "http://h"),
        ({"type": "apikey", "apikey": [*KEY, {"key": "in", "value": "query"}]}, (), "http://h?K=v"),
    ],
)  # fmt: skip
def test_authorization_is_that_of_the_request_or_of_what_is_around_it(auth, headers, url):
    exchange = only({"url": "{{base}}", "auth": auth}, auth={"type": "bearer", "bearer": []})
    assert (exchange.headers, exchange.url) == (headers, url)
    assert only({"url": "{{base}}"}, auth=auth).headers == headers


@pytest.mark.parametrize("place", ["header", "query"])
def test_an_api_key_is_a_credential_whatever_its_name(place, tmp_path):
    auth = {"type": "apikey", "apikey": {"key": "X-Shop", "value": "k3y", "in": place}}
    collection = {"info": {"schema": SCHEMA}, "item": [{"request": "http://h/"}], "auth": auth}
    (tmp_path / "a.json").write_text(json.dumps(collection))
    files = written(make_draft([str(tmp_path / "a.json")]), "plan", as_locustfile=False)
    assert "k3y" not in files.text
    assert files.files == {"plan.secrets.csv": b"x_shop\nk3y\n"}


def test_what_cannot_be_done_is_said():
    recording = read(
        {"name": "A", "request": {"url": "{{base}}", "auth": {"type": "hawk", "hawk": []}},
         "event": [{"listen": "prerequest", "script": {"exec": ["sign()"]}},
                   {"listen": "test", "script": {"exec": ["// a comment", "pm.environment.set('a', compute());"]}}]},
        event=[{"listen": "prerequest", "script": {"exec": "x = 1"}}],
    )  # fmt: skip
    assert recording.notes == (
        "x.json: its prerequest script is not translated",
        "x.json: A: authorization hawk is not done; the request is sent without it",
        "x.json: A: its prerequest script is not translated",
        "x.json: A: line 2 of its test script is not translated: pm.environment.set('a', compute());",
    )


@pytest.mark.parametrize(
    ("body", "content", "kind"),
    [
        ({"mode": "raw", "raw": "{}", "options": {"raw": {"language": "json"}}}, b"{}", "application/json"),
        ({"mode": "raw", "raw": "x"}, b"x", ""),
        (
            {"mode": "urlencoded", "urlencoded": [{"key": "a", "value": "b c"}, {"key": "d", "disabled": True}]},
            b"a=b+c", "application/x-www-form-urlencoded",
        ),
        ({"mode": "graphql", "graphql": {"query": "{ a }", "variables": ""}}, b'{"query": "{ a }", "variables": {}}',
         "application/json"),
        ({"mode": "raw", "raw": "x", "disabled": True}, None, ""),
        (None, None, ""),
    ],
)  # fmt: skip
def test_bodies(body, content, kind):
    exchange = only({"method": "POST", "url": "{{base}}", "body": body})
    assert (exchange.body, exchange.header("content-type")) == (content, kind)


def test_forms_with_files(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    form = [{"key": "a", "value": "1"}, {"key": "f", "type": "file", "src": "a.txt"}, {"key": "g", "type": "file"}]
    item = {
        "name": "A",
        "request": {"method": "POST", "url": "http://h", "body": {"mode": "formdata", "formdata": form}},
    }
    text = json.dumps({"info": {"schema": SCHEMA}, "item": [item]})
    recording = read_postman(SourceInput("x.json", text, tmp_path / "x.json"))
    assert recording.exchanges[0].parts == (
        FormPart("a", b"1"), FormPart("f", b"hello", "a.txt", "application/octet-stream"),
    )  # fmt: skip
    assert recording.notes == ("x.json: A: field g names no file",)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pm.environment.set('a', pm.response.json().b.c[0]['d e']);", DeclaredValue("a", "json", "/b/c/0/d e")),
        ("postman.setEnvironmentVariable('a', JSON.parse(responseBody).b)", DeclaredValue("a", "json", "/b")),
        ("pm.globals.set(\"a\", pm.response.headers.get('X-B'))", DeclaredValue("a", "header", "X-B")),
        ("pm.variables.set('a', pm.cookies.get('b'))", DeclaredValue("a", "cookie", "b")),
    ],
)
def test_simple_scripts_become_values_of_replies(line, expected):
    item = {"name": "A", "request": "{{base}}", "event": [{"listen": "test", "script": {"exec": [line]}}]}
    later = {"name": "B", "request": "{{base}}/{{a}}"}
    first, second = read(item, later).exchanges
    assert first.extracts == (expected,)
    assert second.url == "http://h/{{a}}"


def test_folders_and_mistakes():
    deep: dict[str, Any] = {"name": "A", "request": "{{base}}"}
    for _ in range(60):
        deep = {"name": "F", "item": [deep]}
    for items, message in (
        ([deep], "more than 50 folders within each other"),
        ([7], r"x.json: item\[0\] is no object"),
        ([{"name": "A", "request": 7}], "x.json: A: request is no object"),
        ([{"name": "A", "request": "{{none}}"}], r"x.json: A: {{none}} has no value; give it with --set 'none=VALUE'"),
    ):
        with pytest.raises(UsageError, match=message):
            read(*items)
    assert read({"name": "F", "item": [{"name": "A", "request": "{{base}}"}]}).exchanges[0].where == "x.json: F / A"


def test_is_postman():
    assert is_postman(SourceInput("x", '{"info": {"schema": "' + SCHEMA + '"}}'))
    assert not is_postman(SourceInput("x", '{"info": {}, "item": []}'))
