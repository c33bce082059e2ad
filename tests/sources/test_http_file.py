from __future__ import annotations

import pytest
from tests.sources.recording_target import Answer, Received, target
from tests.sources.test_reading import FILES

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import DeclaredValue, FormPart
from plimsoll.sources.http_file import is_http_file, read_http_file
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.passes import one_pass
from plimsoll.sources.source_input import SourceInput


def read(text: str, **variables: str):
    return read_http_file(SourceInput("x.http", text, None, variables))


def only(text: str, **variables: str):
    (exchange,) = read(text, **variables).exchanges
    return exchange


@pytest.mark.parametrize(
    ("text", "method", "url"),
    [
        ("GET http://h/a", "GET", "http://h/a"),
        ("http://h/a", "GET", "http://h/a"),
        ("POST h.test/a HTTP/1.1", "POST", "http://h.test/a"),
        ("# x\n// y\nGET http://h/a\n  ?b=1\n  &c=2", "GET", "http://h/a?b=1&c=2"),
        ("GET /a\nHost: h.test:81", "GET", "http://h.test:81/a"),
        ("@b = http://h\n@c={{b}}/c\nGET {{c}}/d", "GET", "http://h/c/d"),
        ("GET {{set}}/d", "GET", "http://set/d"),
    ],
)
def test_request_lines(text, method, url):
    exchange = only(text, set="http://set")
    assert (exchange.method, exchange.url) == (method, url)


def test_requests_are_separated_and_named():
    names = [
        (exchange.name, exchange.where)
        for exchange in read("GET http://h/\n\n### Two\nGET http://h/\n###\n\n").exchanges
    ]
    assert names == [("", "x.http:1"), ("Two", "x.http:4")]


def test_bodies(tmp_path):
    exchange = only("POST http://h/\nContent-Type: text/plain\n\na\n\nb\n\n<> old.json\n>> new.json\n")
    assert exchange.body == b"a\n\nb"
    (tmp_path / "a.json").touch()
    source = SourceInput("x.http", "POST http://h/\n\n< ./a.json\n", tmp_path / "x.http")
    (exchange,) = read_http_file(source).exchanges
    assert (exchange.body, exchange.body_file) == (None, str(tmp_path / "a.json"))
    exchange = only(
        "POST http://h/\nContent-Type: multipart/form-data; boundary=x\n\n--x\nContent-Disposition: form-data; "
        'name="a"\n\n1\n--x--\n'
    )
    assert exchange.parts == (FormPart("a", b"1"),)


def test_scripts_and_references_become_values_of_replies():
    recording = read(
        "# @name login\nPOST http://h/\n\n{}\n\n> {%\n client.global.set('t', response.body.a[0]['b c']);\n"
        ' client.global.set("x", response.headers.valueOf("X-Id"));\n'
        ' client.global.set("n", response.body.a.map(f));\n%}\n'
        "###\nGET http://h/{{t}}?x={{login.response.headers.X-Trace}}&y={{login.response.body.$.z}}\n> other.js\n"
    )
    assert recording.exchanges[0].extracts == (
        DeclaredValue("t", "json", "/a/0/b c"), DeclaredValue("x", "header", "X-Id"),
        DeclaredValue("login_X_Trace", "header", "X-Trace"), DeclaredValue("login_z", "json", "/z"),
    )  # fmt: skip
    assert recording.notes == (
        "x.http:2: its script is not translated: n = response.body.a.map(f)",
        "x.http:12: the script in line 13 is not translated",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GET http://h/\nnonsense here\n\n", "x.http:2: 'nonsense here' is no header; an empty line ends the headers"),
        ("\nFETCH the thing\n", "x.http:2: 'FETCH the thing' is no request; valid is GET http://"),
        ("GET {{base}}/", "x.http:1: {{base}} has no value; give it with --set 'base=VALUE'"),
        ("@a = {{b}}\n@b = {{a}}\nGET {{a}}/", "x.http:3: variables are within each other without end"),
        ("GET /a", "x.http:1: '/a' names no host; write the whole URL, or a header Host"),
    ],
)
def test_mistakes_are_named_by_line(text, message):
    with pytest.raises(UsageError) as raised:
        read(text)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [("a.http", "x", True), ("a.rest", "x", True), ("a.txt", "GET http://h/", True), ("a", "POST {{x}}/", True),
     ("a", "GET some text", False), ("a", '{"a": "\nGET http://h/"}', False)],
)  # fmt: skip
def test_is_http_file(name, text, expected):
    assert is_http_file(SourceInput(name, text)) is expected


def test_the_time_of_each_request_is_a_variable(tmp_path):
    (tmp_path / "a.http").write_text('POST http://h/?t={{$timestamp}}\n\n{"at": "{{$isoTimestamp}}"}\n')
    draft = make_draft([str(tmp_path / "a.http")])
    plan, locustfile = (written(draft, "x", as_locustfile=is_code).text for is_code in (False, True))
    assert "t=${unix}" in plan
    assert "${now}" in plan
    assert "t={int(time.time())}" in locustfile
    assert "datetime.now(UTC).isoformat(" in locustfile
    compile(locustfile, "x", "exec")
    assert {"import time", "from datetime import UTC, datetime"} <= {*locustfile.splitlines()}


def todos(request: Received) -> Answer:
    """A service that wants what its replies said."""
    if request.route.endswith("/login"):
        return Answer(200, {"session": {"token": "t0k"}}, (("X-Trace", "t-1"),))
    if request.headers.get("authorization") != "Bearer t0k":
        return Answer(401)
    if request.method == "POST" and request.route.endswith("/todos/"):
        return Answer(201, {"id": 7, "items": [{"id": 7}]}) if b"milk" in request.body else Answer(400)
    if request.route.endswith("/graphql"):
        return Answer(200, {"data": {"todos": []}})
    return Answer(200 if request.route.endswith(("/todos/", "/todos/7")) else 404)


@pytest.mark.parametrize(
    ("body", "plan"),
    [
        ('{"user":"bob","password":"{{pw}}","n":{{$randomInt}}}', '"password":"${secrets.password}","n":${random}}'),
        ('{"pin" : 1234567, "n":{{$randomInt}}}', '{"pin" : ${secrets.pin}, "n":${random}}'),
        ("<w:Password T='x'>{{pw}}</w:Password>", "<w:Password T='x'>${secrets.password}</w:Password>"),
        ("<Password><![CDATA[{{pw}}]]></Password>", "<Password><![CDATA[${secrets.password}]]></Password>"),
        ('<login name="bob" password="{{pw}}">x</login>', '<login name="bob" password="${secrets.password}">x</login>'),
        ("user=bob&pass={{pw}}&x=1", "user=bob&pass=${secrets.value_pass}&x=1"),
        (
            r'{"a": "{\"password\": \"{{pw}}\"}", "n":{{$randomInt}}}',
            '{"a": "{"password": "${secrets.password}"}", "n":${random}}',
        ),
        (
            r'{"query": "mutation { login(password: \"{{pw}}\") { id } }", "token": "{\"password\": \"{{pw}}\"}"}',
            '{"query": "mutation { login(password: "${secrets.password}") { id } }", "token": "${secrets.token}"}',
        ),
        ('{"password": "{{$guid}}", "n":{{$randomInt}}}', '{"password": "${uuid}", "n":${random}}'),
    ],
)
def test_credentials_of_a_body_that_is_no_document_are_not_written(body, plan, tmp_path):
    (tmp_path / "a.http").write_text(f"@pw = S3cretpw\nPOST http://h/\n\n{body}\n")
    text = written(make_draft([str(tmp_path / "a.http")]), "plan", as_locustfile=False).text
    assert plan in text.replace('\\"', '"')
    assert "S3cretpw" not in text
    assert "1234567" not in text


@pytest.mark.parametrize("name", ["todos.http", "todos.postman_collection.json"])
def test_a_flow_that_declares_its_values_is_accepted(name, tmp_path):
    with target(todos) as service:
        (tmp_path / name).write_text((FILES / name).read_text().replace("http://127.0.0.1:8000", service.url))
        draft = make_draft([str(tmp_path / name)])
        assert [proof.state for proof in one_pass(draft)] == ["proven"] * 4
        text = written(draft, "x", as_locustfile=True).text
    compile(text, "x.py", "exec")
