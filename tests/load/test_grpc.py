"""Steps of plans that call methods of gRPC."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from tests.grpc_server import PROTO

from plimsoll._engine import GrpcSchema
from plimsoll.errors import UsageError
from plimsoll.load.origins import target_urls
from plimsoll.load.plan_file import read_plan
from plimsoll.load.url import grpc_scenario

SAY = "echo.v1.Echo/Say"


def plan_of(tmp_path: Path, text: str, **options: Any) -> dict[str, Any]:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    scenario = read_plan(str(path), **options).scenario
    assert scenario is not None
    return scenario


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        plan_of(tmp_path, text)
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_a_call_is_a_step_with_its_method_its_codes_and_the_plans_schema(tmp_path: Path) -> None:
    scenario = plan_of(
        tmp_path,
        f"""
        target = "grpc://127.0.0.1:50051"
        proto = "{PROTO}"
        [[request]]
        grpc = "{SAY}"
        message = {{ text = "${{user}}" }}
        compression = true
        expect = {{ status = ["OK", "NOT_FOUND"], max_time = "1s" }}
        """,
    )
    (flow,) = scenario["flows"]
    (step,) = flow["steps"]
    assert flow["name"] == step["name"] == SAY
    assert step["grpc"] == {"method": SAY, "gzip": True, "codes": [0, 5]}
    assert (step["body"], step["expect"]) == ({"json": '{"text": "${user}"}'}, {"max_time": 1.0})
    (target,) = scenario["targets"]
    assert (target["url"], target["http2"]) == ("http://127.0.0.1:50051", True)
    assert SAY in GrpcSchema(base64.b64decode(scenario["schema"])).methods()


def test_calls_have_a_target_with_http2_whatever_the_plans_is(tmp_path: Path) -> None:
    scenario = plan_of(
        tmp_path,
        f"""
        target = {{ url = "https://h:1/base", verify = false, headers = {{ A = "b" }} }}
        proto = "{PROTO}"
        [[flow]]
        [[flow.step]]
        get = "/page"
        [[flow.step]]
        grpc = "{SAY}"
        [[flow.step]]
        grpc = "grpcs://other:2/{SAY}"
        [[flow.step]]
        grpc = "grpcs://other:2/{SAY}"
        [[flow.step]]
        get = "https://other:2/page"
        """,
    )
    targets = [(each["url"], each["verify"], each["headers"], each.get("http2", False)) for each in scenario["targets"]]
    assert targets == [
        ("https://h:1", False, [["A", "b"]], False), ("https://h:1", False, [["A", "b"]], True),
        ("https://other:2", True, [], True), ("https://other:2", True, [], False),
    ]  # fmt: skip
    assert [step["target"] for step in scenario["flows"][0]["steps"]] == [0, 1, 2, 2, 3]


def test_a_deadline_of_the_servers_own_may_be_expected(tmp_path: Path) -> None:
    text = f'{HEAD}[[request]]\ngrpc = "{SAY}"\nidle_timeout = "1s"\nexpect.status = "DEADLINE_EXCEEDED"'
    assert plan_of(tmp_path, text)["flows"][0]["steps"][0]["grpc"]["codes"] == [4]


def test_a_plan_without_a_schema_is_checked_as_far_as_that_goes(tmp_path: Path) -> None:
    text = f'target = "grpc://h"\n[[request]]\ngrpc = "{SAY}"\nmessage = {{ any = ["${{user}}"] }}'
    scenario = plan_of(tmp_path, text)
    assert "schema" not in scenario
    assert scenario["flows"][0]["steps"][0]["grpc"]["method"] == SAY


def test_a_target_that_has_nothing_but_calls_is_shown_as_one_of_grpc(tmp_path: Path) -> None:
    scenario = plan_of(
        tmp_path,
        f"""
        target = "https://h:1"
        proto = "{PROTO}"
        [[flow]]
        [[flow.step]]
        get = "/page"
        [[flow.step]]
        grpc = "{SAY}"
        [[flow.step]]
        grpc = "grpc://other:2/{SAY}"
        """,
    )
    assert target_urls(scenario) == ["https://h:1", "grpcs://h:1", "grpc://other:2"]


def test_another_host_may_be_one_of_grpc(tmp_path: Path) -> None:
    text = f'proto = "{PROTO}"\n[[request]]\ngrpc = "{SAY}"\n'
    scenario = plan_of(tmp_path, text, host="grpcs://h:3")
    assert [(each["url"], each["http2"]) for each in scenario["targets"]] == [("https://h:3", True)]


def test_a_url_is_called_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "message.json").write_text('{"text": "${uuid}"}')
    options: dict[str, Any] = {"protos": [str(PROTO)], "headers": ["x-a: b"]}
    scenario = grpc_scenario(f"grpc://h:1/{SAY}", message_file=str(tmp_path / "message.json"), **options)
    assert scenario["flows"] == [{"name": SAY, "steps": [{
        "name": SAY, "grpc": {"method": SAY, "gzip": False, "codes": []}, "headers": [["x-a", "b"]],
        "body": {"json": '{"text": "${uuid}"}'},
    }]}]  # fmt: skip
    assert "body" not in grpc_scenario(f"grpc://h:1/{SAY}", **options)["flows"][0]["steps"][0]


HEAD = f'target = "grpc://h"\nproto = "{PROTO}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('target = "grpc://h"\nrequest.grpc = "Say"', 'plan.toml:2: request.grpc: "Say" is not a method; valid is'),
        (
            f'target = "grpc://h"\n[[request]]\ngrpc = "{SAY}"\nmessage = "{{"',
            "plan.toml:4: request[0].message: ",
        ),
        (
            f'target = "grpc://h"\n[[request]]\ngrpc = "{SAY}"\nmessage = {{ text = "${{x}}" }}',
            "plan.toml:4: request[0].message: unknown variable ${x}",
        ),
        (
            f'target = "grpc://h"\nproto_path = "."\nrequest.grpc = "{SAY}"',
            "plan.toml:2: proto_path: belongs with proto",
        ),
        (f'proto = "none.proto"\nrequest.grpc = "{SAY}"', "plan.toml:1: proto: cannot read "),
        (f'proto = "{PROTO}"\nrequest.grpc = "{SAY}"', "plan.toml:2: request.grpc: has no target; write target ="),
        (f'{HEAD}proto_path = "none"\nrequest.grpc = "{SAY}"', "plan.toml:3: proto_path: "),
        (f'{HEAD}request.grpc = "Say"', 'plan.toml:3: request.grpc: "Say" is not a method; valid is "package.Serv'),
        (
            f'{HEAD}request.grpc = "echo.v1.Echo/Sya"',
            'plan.toml:3: request.grpc: echo.v1.Echo has no method "Sya"; did',
        ),
        (
            f'{HEAD}[[request]]\ngrpc = "{SAY}"\nmessage = {{ txt = "" }}',
            "plan.toml:5: request[0].message: echo.v1.Request",
        ),
        (
            f'{HEAD}[[request]]\ngrpc = "{SAY}"\njson = {{}}',
            "plan.toml:5: request[0].json: does not go with grpc; the mess",
        ),
        (f'{HEAD}[[request]]\ngrpc = "{SAY}"\nget = "/"', "plan.toml:5: request[0].get: does not go with grpc"),
        (f'{HEAD}[[request]]\ngrpc = "{SAY}"\nstream = "sse"', "plan.toml:5: request[0].stream: does not go with grpc"),
        (
            f'{HEAD}[[request]]\ngrpc = "{SAY}"\nexpect.status = 200',
            "plan.toml:5: request[0].expect.status: must be names",
        ),
        (
            f'{HEAD}[[request]]\ngrpc = "{SAY}"\nexpect.status = "FOUND"',
            'request[0].expect.status: "FOUND" is not a status',
        ),
        (
            f'{HEAD}timeout = "1s"\n[[request]]\ngrpc = "{SAY}"\nexpect.status = ["OK", "DEADLINE_EXCEEDED"]',
            "plan.toml:6: request[0].expect.status: DEADLINE_EXCEEDED cannot be met with a timeout: this client ends",
        ),
        (
            f'{HEAD}[[request]]\ngrpc = "{SAY}"\nheaders.te = "x"',
            "plan.toml:5: request[0].headers.te: te is set by the step",
        ),
        (f'{HEAD}[[request]]\ngrpc = "grpc://u@h/{SAY}"', "plan.toml:4: request[0].grpc: "),
        (f'{HEAD}[[request]]\nget = "/"\nmessage = {{}}', "plan.toml:5: request[0].message: belongs with grpc"),
        (
            f'{HEAD}[[request]]\nget = "/"\nexpect.status = "OK"',
            "plan.toml:5: request[0].expect.status: OK is a status of",
        ),
        (f'{HEAD}[[request]]\nget = "grpc://h/{SAY}"', "plan.toml:4: request[0].get: "),
        (f'target = "grpc://h?x"\nrequest.grpc = "{SAY}"', "plan.toml:1: target.url: "),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_a_mistake_in_a_proto_file_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.proto").write_text('syntax = "proto3";\nmessage A {\n  string a 1;\n}\n')
    found = refused(tmp_path, f'target = "grpc://h"\nproto = "bad.proto"\nrequest.grpc = "{SAY}"')
    assert found.startswith("plan.toml:2: proto: bad.proto:3:12: expected '='"), found
