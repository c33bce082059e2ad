"""Exports of Insomnia become flows."""

from __future__ import annotations

import base64
import json

import pytest
from tests.sources.recording_target import Answer, target

from plimsoll.errors import UsageError
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.passes import one_pass

TOKEN = f"{{% response 'body', 'req_1', 'b64::{base64.b64encode(b'$.access.token').decode()}::46b', 'never', 60 %}}"
VERSION_4 = {
    "_type": "export", "__export_format": 4,
    "resources": [
        {"_id": "wrk_1", "_type": "workspace", "name": "Shop"},
        {"_id": "env_1", "_type": "environment", "parentId": "wrk_1", "data": {"base": "http://shop.test"}},
        {"_id": "fld_1", "_type": "request_group", "parentId": "wrk_1", "name": "Orders", "metaSortKey": 2},
        {
            "_id": "req_2", "_type": "request", "parentId": "fld_1", "name": "Make", "method": "POST",
            "url": "{{ _.base }}/orders", "body": {"mimeType": "application/json", "text": '{"n": 1}'},
            "parameters": [{"name": "dry", "value": "a b"}, {"name": "off", "value": "1", "disabled": True}],
            "authentication": {"type": "bearer", "token": TOKEN},
        },
        {
            "_id": "req_1", "_type": "request", "parentId": "wrk_1", "name": "Log in", "method": "POST",
            "url": "{{ _['base'] }}/login", "metaSortKey": 1,
            "body": {
                "mimeType": "application/x-www-form-urlencoded",
                "params": [{"name": "user", "value": "ann"}, {"name": "password", "value": "tr0ub4dor"}],
            },
        },
    ],
}  # fmt: skip
VERSION_5 = f"""type: collection.insomnia.rest/5.0
name: Shop
collection:
  - name: Orders
    meta: {{id: fld_1, sortKey: 2}}
    children:
      - name: Make
        url: "{{{{ _.base }}}}/orders"
        method: POST
        meta: {{id: req_2}}
        body: {{mimeType: application/json, text: '{{"n": 1}}'}}
        parameters:
          - {{name: dry, value: a b}}
        authentication: {{type: bearer, token: "{TOKEN}"}}
  - name: Log in
    url: "{{{{ _.base }}}}/login"
    method: POST
    meta: {{id: req_1, sortKey: 1}}
    body:
      mimeType: application/x-www-form-urlencoded
      params:
        - {{name: user, value: ann}}
        - {{name: password, value: tr0ub4dor}}
environments:
  name: Base
  data: {{base: http://shop.test}}
"""


def rules(request):
    if request.route == "/login":
        return Answer(
            200 if request.form == {"user": "ann", "password": "tr0ub4dor"} else 403, {"access": {"token": "t1"}}
        )
    is_right = request.query == {"dry": "a b"} and request.headers.get("authorization") == "Bearer t1"
    return Answer(201 if is_right else 401)


@pytest.mark.parametrize("text", [json.dumps(VERSION_4), VERSION_5], ids=["version-4", "version-5"])
def test_an_export_is_a_flow_that_the_target_accepts(tmp_path, text):
    (tmp_path / "insomnia").write_text(text)
    with target(rules) as service:
        draft = make_draft([str(tmp_path / "insomnia")], variables={"base": service.url})
        assert [step.name for step in draft.steps] == ["Log in", "Make"]
        assert [proof.state for proof in one_pass(draft)] == ["proven"] * 2
    plan = written(draft, "plan", as_locustfile=False).text
    assert 'extract.response_1 = { json = "/access/token" }' in plan
    assert "tr0ub4dor" not in plan


def test_a_value_that_a_person_is_asked_for_is_given(tmp_path):
    (tmp_path / "x.yaml").write_text(VERSION_5.replace(TOKEN, "{% prompt 'Token' %}"))
    with pytest.raises(UsageError, match=r"\{\{prompt\}\} has no value; give it with --set 'prompt=VALUE'"):
        make_draft([str(tmp_path / "x.yaml")])


@pytest.mark.parametrize(
    "text",
    ['{"__export_format": 4, "resources": 3}', '{"__export_format": 4}', "type: collection.insomnia.rest/5.0\n"],
    ids=["resources", "nothing", "version-5"],
)
def test_what_is_no_export_is_refused(tmp_path, text):
    (tmp_path / "x").write_text(text)
    with pytest.raises(UsageError, match="is this an export of Insomnia"):
        make_draft([str(tmp_path / "x")])


def test_folders_without_end_are_refused(tmp_path):
    resources = [
        {"_id": f"f{number + 1}", "_type": "request_group", "parentId": f"f{number}", "name": "x"}
        for number in range(99)
    ]
    (tmp_path / "x").write_text(json.dumps({"__export_format": 4, "resources": resources}))
    with pytest.raises(UsageError, match="more than 50 folders within each other"):
        make_draft([str(tmp_path / "x")])
