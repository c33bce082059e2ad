"""Collections of Bruno become flows: the folder, its export, one file."""

from __future__ import annotations

import json

import pytest
from tests.sources.recording_target import Answer, target

from plimsoll.errors import UsageError
from plimsoll.sources.making import make_draft
from plimsoll.sources.proof.passes import one_pass

LOGIN = """meta {
  name: Log in
  type: http
  seq: 1
}

post {
  url: {{base}}/login?from=app
  body: json
  auth: none
}

headers {
  Accept: application/json
  ~X-Off: 1
}

body:json {
  {
    "user": "ann"
  }
}

vars:post-response {
  token: res.body.access.token
}
"""
READ = """meta {
  name: Read
  seq: 2
}

get {
  url: {{base}}/orders/:id
  body: none
  auth: bearer
}

params:path {
  id: {{order}}
}

auth:bearer {
  token: {{token}}
}

script:post-response {
  bru.setVar("etag", res.getHeader("etag"));
  console.log("read");
}
"""
EXPORT = {
    "name": "Shop", "version": "1",
    "items": [
        {
            "type": "http", "name": "Log in",
            "request": {
                "url": "{{base}}/login?from=app", "method": "POST",
                "headers": [{"name": "Accept", "value": "application/json", "enabled": True}],
                "body": {"mode": "json", "json": '{"user": "ann"}'}, "auth": {"mode": "none"},
                "vars": {"res": [{"name": "token", "value": "res.body.access.token", "enabled": True}]},
            },
        },
        {
            "type": "folder", "name": "Orders",
            "items": [{
                "type": "http", "name": "Read",
                "request": {
                    "url": "{{base}}/orders/:id", "method": "GET",
                    "params": [{"name": "id", "value": "{{order}}", "type": "path", "enabled": True}],
                    "auth": {"mode": "bearer", "bearer": {"token": "{{token}}"}},
                },
            }],
        },
    ],
    "environments": [{"name": "local", "variables": [{"name": "order", "value": "17", "enabled": True}]}],
}  # fmt: skip


def rules(request):
    if request.route == "/login":
        is_right = (json.loads(request.body), request.query) == ({"user": "ann"}, {"from": "app"})
        return Answer(200 if is_right and "x-off" not in request.headers else 400, {"access": {"token": "t1"}})
    is_right = request.route == "/orders/17" and request.headers.get("authorization") == "Bearer t1"
    return Answer(200 if is_right else 401, "", (("ETag", "a"),))


@pytest.fixture(params=["folder", "export"])
def source(request, tmp_path):
    if request.param == "export":
        (tmp_path / "export.json").write_text(json.dumps(EXPORT))
        return str(tmp_path / "export.json")
    folder = tmp_path / "shop"
    for name, text in {
        "bruno.json": "{}", "b-login.bru": LOGIN, "Orders/a-read.bru": READ,
        "environments/local.bru": "vars {\n  order: 17\n}\n",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def test_a_collection_is_a_flow_that_the_target_accepts(source):
    with target(rules) as service:
        draft = make_draft([source], variables={"base": service.url})
        assert [step.name for step in draft.steps] == ["Log in", "Read"]
        assert [proof.state for proof in one_pass(draft)] == ["proven"] * 2


def test_one_file_is_one_request(tmp_path):
    (tmp_path / "login.bru").write_text(LOGIN)
    draft = make_draft([str(tmp_path / "login.bru")], variables={"base": "http://shop.test"})
    assert [(step.exchange.url, step.kind) for step in draft.steps] == [("http://shop.test/login?from=app", "json")]


def test_lines_of_scripts_that_do_something_else_are_named(tmp_path):
    (tmp_path / "read.bru").write_text(READ.replace('console.log("read");', "bru.sleep(3);"))
    draft = make_draft([str(tmp_path / "read.bru")], variables={"base": "http://a.test", "order": "1", "token": "x"})
    assert [note.partition(": ")[2] for note in draft.notes] == [
        "Read: line 2 of its test script is not translated: bru.sleep(3);"
    ]
    assert [extract.kind for extract in draft.steps[0].extracts] == ["header"]


def test_what_is_no_request_is_refused(tmp_path):
    (tmp_path / "x.bru").write_text("vars {\n  a: 1\n}\n")
    with pytest.raises(UsageError, match="has no requests"):
        make_draft([str(tmp_path / "x.bru")])


def test_a_folder_that_is_no_collection_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is a folder; name the files in it"):
        make_draft([str(tmp_path)])


@pytest.mark.parametrize(
    "text",
    ["get {\n" * 100_000, "get {\n" + "\n" * 500_000, "get {\n a" + " " * 2_000_000 + "\n}\n"],
    ids=["blocks", "empty-lines", "long-line"],
)
def test_hostile_files_are_refused_at_once(tmp_path, text):
    (tmp_path / "x.bru").write_text(text)
    with pytest.raises(UsageError, match="has no requests"):
        make_draft([str(tmp_path / "x.bru")])
