"""Plans that are made here, read by the reader of plans."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from plimsoll.load.plan_file import read_plan
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.secret_values import free_name


@pytest.fixture
def plan_of(tmp_path):
    """The text of the plan of some commands, and its scenario for native users; it has been read without a mistake."""

    def make(text: str) -> tuple[str, dict[str, Any]]:
        files = written(make_draft([text]), "plan", as_locustfile=False)
        (tmp_path / "plan.toml").write_text(files.text)
        for name, content in files.files.items():
            (tmp_path / name).write_bytes(content)
        scenario = read_plan(str(tmp_path / "plan.toml")).scenario
        assert scenario is not None
        return files.text, scenario

    return make


def test_one_request_is_a_request(plan_of):
    text, scenario = plan_of("curl http://127.0.0.1:8000/todos/ -H 'Accept: application/json'")
    assert text == (
        "# Made by plimsoll scenario from <command>.\n"
        'target = "http://127.0.0.1:8000"\n\n[[request]]\nget = "/todos/"\nheaders = { Accept = "application/json" }\n'
    )
    assert scenario["flows"][0]["steps"][0]["headers"] == [["Accept", "application/json"]]


def test_several_requests_are_a_flow_with_their_common_headers(plan_of):
    text, _ = plan_of("curl http://h.test/a -H 'X: 1' -H 'Y: 1'\ncurl http://h.test/b -H 'X: 1' -H 'Y: 2'")
    plan = tomllib.loads(text)
    assert plan["headers"] == {"X": "1"}
    assert [step["headers"] for step in plan["flow"][0]["step"]] == [{"Y": "1"}, {"Y": "2"}]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ('{"a": {"b": [1, "x", true]}, "c d": 1.5}', 'json = { a = { b = [1, "x", true] }, "c d" = 1.5 }'),
        ('{"a": null}', """json = '{"a": null}'"""),
        ("[1]", 'json = "[1]"'),
        ("""{"a": "it's"}""", """json = { a = "it's" }"""),
        ('{"a": "${x}"}', 'json = { a = "$${x}" }'),
    ],
)
def test_json_is_a_table_where_toml_has_one(plan_of, body, written):
    import json as codec
    import shlex

    text, scenario = plan_of(f"curl http://h.test/ --json {shlex.quote(body)}")
    assert written in text.splitlines()
    sent = scenario["flows"][0]["steps"][0]["body"]["json"].replace("$${", "${")
    assert codec.loads(sent) == codec.loads(body)


def test_credentials_are_beside_the_plan(plan_of, tmp_path):
    text, scenario = plan_of(
        "curl -u ann:s3cret -b 'sid=c00kie' 'http://h.test/?api_key=k3y&page=2'\n"
        "curl http://h.test/ -H 'Authorization: Bearer t0ken' -d 'user=ann&password=p4ss'\n"
        """curl http://h.test/ --json '{"a": {"client_secret": "deep"}}' -H 'X-Api-Key: k3y'"""
    )
    for secret in ("s3cret", "YW5uOnMzY3JldA", "c00kie", "k3y", "t0ken", "p4ss", "deep"):
        assert secret not in text
    rows = (tmp_path / "plan.secrets.csv").read_text().splitlines()
    assert rows == [
        "api_key,authorization,cookie,password,token,client_secret", "k3y,YW5uOnMzY3JldA==,sid=c00kie,p4ss,t0ken,deep",
    ]  # fmt: skip
    assert 'Authorization = "Bearer ${secrets.token}"' in text
    assert 'form = { user = "ann", password = "${secrets.password}" }' in text
    (feeder,) = scenario["feeders"]
    assert feeder["rows"] == [rows[1].split(",")]


@pytest.mark.parametrize(
    "name",
    ["X-Functions-Key", "X-Auth", "X-Access-Key", "X-API_Key", "X-JWT", "Ocp-Apim-Subscription-Key", "X-Session-Token"],
)
def test_a_header_that_is_masked_elsewhere_is_not_written_either(plan_of, tmp_path, name):
    text, _scenario = plan_of(f"curl http://h.test/ -H '{name}: zz9secret'")
    assert "zz9secret" not in text
    assert "zz9secret" in (tmp_path / "plan.secrets.csv").read_text()


def test_multipart_bodies(plan_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("hello\n")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\xff")
    text, scenario = plan_of(
        "curl -F a=1 -F 'a=${x}' -F f=@note.txt http://h.test/\n"
        "curl -F password=p4ss -F f=@a.png -F g=@a.png http://h.test/\ncurl -F f=@a.png http://h.test/"
    )
    first, second, third = (step["multipart"] for step in tomllib.loads(text)["flow"][0]["step"])
    kind = "application/octet-stream"
    assert first == {"a": ["1", "$${x}"], "f": {"text": "hello\n", "name": "note.txt", "type": kind}}
    assert second == {
        "password": "${secrets.password}",
        "f": {"file": "plan.step-2-1.bin", "name": "a.png", "type": kind},
        "g": {"file": "plan.step-2-2.bin", "name": "a.png", "type": kind},
    }
    assert third == {"f": {"file": "plan.step-3.bin", "name": "a.png", "type": kind}}
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.bin")} == dict.fromkeys(
        ("plan.step-2-1.bin", "plan.step-2-2.bin", "plan.step-3.bin"), b"\x89PNG\xff"
    )
    parts = scenario["flows"][0]["steps"][1]["body"]["parts"]
    assert [*map(list, parts)] == [["text"], ["base64"], ["text"], ["base64"], ["text"]]
    assert "${secrets.password}" in parts[0]["text"]


@pytest.mark.parametrize(
    ("body", "expected", "name"),
    [
        ({"query": "{ a }"}, {"graphql": "{ a }"}, "/graphql"),
        (
            {"query": "query Q($x: ID) {\n  a(x: $x)\n}\n", "variables": {"x": "${1}"}, "operationName": "Q"},
            {"graphql": "query Q($x: ID) {\n  a(x: $x)\n}\n", "variables": {"x": "$${1}"}, "operation_name": "Q"},
            "Q",
        ),
        ({"query": "{ a }", "variables": {"x": None}}, {"graphql": "{ a }", "variables": '{"x": null}'}, "/graphql"),
        ({"query": "{ a }", "extensions": {"b": 1}}, {"json": {"query": "{ a }", "extensions": {"b": 1}}}, "/graphql"),
    ],
)
def test_operations_of_graphql(plan_of, body, expected, name):
    import json as codec
    import shlex

    text, scenario = plan_of(f"curl http://h.test/graphql --json {shlex.quote(codec.dumps(body))}")
    request = {"post": "/graphql", "headers": {"Accept": "application/json"}}
    assert tomllib.loads(text)["request"] == [request | expected]
    (step,) = scenario["flows"][0]["steps"]
    assert step["name"] == name
    assert codec.loads(step["body"]["json"].replace("$${", "${")) == body


@pytest.mark.parametrize("name", ["text", "now", "unix", "unix_ms"])
def test_a_variable_has_no_name_of_the_plan_s_own(name):
    assert free_name(name, make_draft(["curl http://h.test/"])) == f"value_{name}"


def test_targets_say_how_they_are_reached(plan_of):
    text, scenario = plan_of("curl -k https://a.test/x\ncurl --http2 https://b.test/y -m 3\ncurl -k https://a.test/z")
    assert [(target["url"], target["verify"], target.get("http2")) for target in scenario["targets"]] == [
        ("https://a.test", False, None), ("https://b.test", True, True),
    ]  # fmt: skip
    assert [step["target"] for step in scenario["flows"][0]["steps"]] == [0, 1, 0]
    assert scenario["flows"][0]["steps"][1]["timeout"] == 3
    assert 'target = "b.test"\n' in text


def test_other_methods_and_names(plan_of):
    _, scenario = plan_of("curl -X PURGE 'http://h.test/a?b=1'")
    (step,) = scenario["flows"][0]["steps"]
    assert (step["method"], step["path"], step["name"]) == ("PURGE", "/a?b=1", "/a")


def test_headers_of_a_browser_are_left_out(plan_of):
    _, scenario = plan_of(
        "curl 'http://h.test/' -H 'User-Agent: Mozilla/5.0 (X11)' -H 'sec-ch-ua: x' -H 'Accept-Language: de' "
        "-H 'Upgrade-Insecure-Requests: 1' -H 'X-Requested-With: XMLHttpRequest' -H 'Accept: */*' --compressed"
    )
    assert scenario["flows"][0]["steps"][0]["headers"] == [["X-Requested-With", "XMLHttpRequest"]]


def test_the_same_input_gives_the_same_bytes(plan_of):
    text = "curl http://h.test/ -u a:b -F x=y\ncurl http://h.test/ -d q=1"
    assert plan_of(text) == plan_of(text)


def test_forms_are_tables(plan_of):
    text, scenario = plan_of("curl http://h.test/ -d 'a=1' -d 'a=b%26c' -d 'd=' -d '${x}=y'")
    assert 'form = { a = ["1", "b&c"], d = "", "$${x}" = "y" }' in text
    step = scenario["flows"][0]["steps"][0]
    assert (step["body"], step["headers"]) == ({"form": "a=1&a=b%26c&d=&%24%7Bx%7D=y"}, [])
