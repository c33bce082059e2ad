"""`auth = { oauth2 = … }`, `aws_sigv4` and `digest` in plans: what native users are given, and mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.auth.definition import plain_auths
from plimsoll.load.plan_file import read_plan

if TYPE_CHECKING:
    from pathlib import Path

TOP = 'target = "http://127.0.0.1:8000/base"\n'
URL = 'token_url = "https://id.example.org/realm/token"'
REQUEST = '[[request]]\nget = "/a"\n'


def scenario(folder: Path, text: str) -> dict[str, Any]:
    (folder / "plan.toml").write_text(text)
    found = read_plan(str(folder / "plan.toml")).scenario
    assert found is not None
    return found


def token(folder: Path, oauth2: str, more: str = "") -> dict[str, Any]:
    made = scenario(folder, f"{TOP}auth.oauth2 = {{ {oauth2} }}\n{more}{REQUEST}")
    fields: dict[str, Any] = made["auths"][0]["oauth2"]
    return fields


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as raised:
        scenario(folder, text)
    return str(raised.value).removeprefix(f"{folder}/")


def test_a_client_says_who_it_is_in_a_header(tmp_path: Path) -> None:
    found = token(tmp_path, f'{URL}, client_id = "a b", client_secret = "c:d", scope = "x y", audience = "api"')
    assert found["authorization"] == "Basic YStiOmMlM0Fk", "a+b:c%3Ad"
    assert found["body"] == "grant_type=client_credentials&scope=x+y&audience=api"
    assert found["refresh"] == "grant_type=refresh_token"
    assert (found["name"], found["path"]) == ("https://id.example.org/realm/token", "/realm/token")
    assert (found["refresh_before"], found["timeout"], found["issuer"]) == (30.0, 30.0, None)


def test_or_in_the_form(tmp_path: Path) -> None:
    keys = 'client_id = "a", client_secret = "b&c", client_authentication = "body"'
    found = token(
        tmp_path, f'{URL}, {keys}, parameters = {{ resource = "urn:x" }}, refresh_before = "5s"', "timeout = 2\n"
    )
    assert found["authorization"] is None
    assert parse_qs(found["body"]) == {
        "grant_type": ["client_credentials"], "client_id": ["a"], "client_secret": ["b&c"], "resource": ["urn:x"],
    }  # fmt: skip
    assert found["refresh"] == "grant_type=refresh_token&client_id=a&client_secret=b%26c&resource=urn%3Ax"
    assert (found["refresh_before"], found["timeout"]) == (5.0, 2.0)


def test_values_of_users_are_filled_in_later(tmp_path: Path) -> None:
    login = 'grant = "password", client_id = "a", username = "${account.name}", password = "p-${account.name}&"'
    rows = '[feeder.account]\nrows = [{ name = "ann" }]\n'
    found = token(tmp_path, f"{URL}, {login}", rows)
    assert found["body"] == "grant_type=password&client_id=a&username=${account.name}&password=p-${account.name}%26"
    secret = 'client_id = "${account.name}", client_secret = "x"'
    assert token(tmp_path, f"{URL}, {secret}", rows)["authorization"] == "Basic ${base64:${account.name}:x}"


def test_a_path_belongs_to_the_first_target_and_another_host_comes_after_all_targets(tmp_path: Path) -> None:
    found = token(tmp_path, 'token_url = "/token", client_id = "a"')
    assert (found["name"], found["target"], found["path"]) == ("http://127.0.0.1:8000/base/token", 0, "/base/token")
    made = scenario(tmp_path, f'auth.oauth2 = {{ {URL}, client_id = "a" }}\n[[request]]\nget = "http://h/a"\n')
    assert [target["url"] for target in made["targets"]] == ["http://h", "https://id.example.org"]
    assert made["auths"][0]["oauth2"]["target"] == 1


def test_a_named_target_of_the_service_has_its_certificates(tmp_path: Path) -> None:
    targets = '[[target]]\nurl = "http://h"\n[[target]]\nurl = "https://id.example.org"\nverify = false\n'
    made = scenario(tmp_path, f'auth.oauth2 = {{ {URL}, client_id = "a" }}\n{targets}{REQUEST}')
    assert (len(made["targets"]), made["auths"][0]["oauth2"]["target"]) == (2, 1)


def test_steps_have_the_scheme_of_the_plan_unless_they_say_who_sends_them(tmp_path: Path) -> None:
    text = f"""{TOP}auth = {{ oauth2 = {{ {URL}, client_id = "a" }} }}
[[flow]]
[[flow.step]]
get = "/a"
[[flow.step]]
get = "/b"
auth = {{ bearer = "x" }}
[[flow.step]]
get = "/c"
headers = {{ authorization = "x" }}
[[flow.step]]
get = "/d"
auth = {{ digest = ["ann", "x"] }}
[[flow.step]]
get = "/e"
auth = {{ oauth2 = {{ {URL}, client_id = "a" }} }}
[[flow.step]]
connect = "/chat"
[[flow.step]]
send = "x"
"""
    made = scenario(tmp_path, text)
    assert [step.get("auth") for step in made["flows"][0]["steps"]] == [0, None, None, 1, 0, 0, None]
    assert [list(auth) for auth in made["auths"]] == [["oauth2"], ["digest"]]


def test_plans_without_a_scheme_have_no_list(tmp_path: Path) -> None:
    assert "auths" not in scenario(tmp_path, f'{TOP}auth.bearer = "x"\n{REQUEST}')


def test_what_is_kept_has_no_secrets(tmp_path: Path) -> None:
    aws = 'access_key = "AK", secret_key = "SK", region = "r", service = "s3"'
    digest = '[[request]]\nget = "/b"\nauth.digest = ["ann", "pw"]\n'
    made = scenario(tmp_path, f"{TOP}auth.aws_sigv4 = {{ {aws} }}\n{REQUEST}{digest}")
    assert plain_auths(made["auths"]) == [
        {
            "aws_sigv4": {
                "access_key": "***", "secret_key": "***", "session_token": None, "region": "r", "service": "s3",
            }
        },
        {"digest": {"user": "***", "password": "***"}},
    ]  # fmt: skip
    fields = plain_auths([{"oauth2": token(tmp_path, f'{URL}, client_id = "a", client_secret = "b"')}])[0]["oauth2"]
    assert fields["name"] == "https://id.example.org/realm/token"
    assert {fields[name] for name in ("body", "refresh", "authorization", "headers")} == {"***"}


@pytest.mark.parametrize(
    ("oauth2", "message"),
    [
        ('client_id = "a"', "auth.oauth2: needs token_url or issuer"),
        (f'{URL}, issuer = "https://i", client_id = "a"', "auth.oauth2.issuer: contradicts token_url"),
        (URL, 'auth.oauth2: needs client_id, for the grant "client_credentials"'),
        (f'{URL}, grant = "password", username = "a"', 'auth.oauth2: needs password, for the grant "password"'),
        (f'{URL}, client_id = "a", password = "b"', 'auth.oauth2.password: belongs with grant = "password"'),
        (f'{URL}, grant = "refresh_token"', 'auth.oauth2: needs refresh_token, for the grant "refresh_token"'),
        (f'{URL}, grant = "code"', "auth.oauth2.grant: "),
        (
            f'{URL}, grant = "refresh_token", refresh_token = "a", client_secret = "b"',
            "auth.oauth2.client_secret: belongs with client_id",
        ),
        ('token_url = "id/token", client_id = "a"', 'auth.oauth2.token_url: "id/token" is not a URL'),
        ('token_url = "http://h/${user}", client_id = "a"', 'auth.oauth2.token_url: "http://h/${user}" has a variable'),
        ('issuer = "id", client_id = "a"', 'auth.oauth2.issuer: "id" is not the URL of an issuer'),
        (f'{URL}, client_id = "${{uuid}}"', "auth.oauth2: ${uuid} has another value each time"),
        (f'{URL}, client_id = "${{none}}"', "auth.oauth2: unknown variable ${none}"),
        (f'{URL}, clientid = "a"', "clientid"),
    ],
)
def test_mistakes_are_told_by_line_and_field(tmp_path: Path, oauth2: str, message: str) -> None:
    said = refused(tmp_path, f"{TOP}auth.oauth2 = {{ {oauth2} }}\n{REQUEST}")
    assert said.startswith("plan.toml:2: ") and message in said


def test_more_mistakes(tmp_path: Path) -> None:
    for text, message in [
        (f'{TOP}auth = {{ bearer = "a", digest = ["a", "b"] }}\n{REQUEST}', "auth.digest: contradicts bearer"),
        (f'{TOP}auth.digest = ["a"]\n{REQUEST}', "auth.digest: must have at least 2 values, not 1"),
        (f'{TOP}auth.digest = ["a"]\n{REQUEST}', "auth.digest"),
        (f'{TOP}headers.Authorization = "x"\nauth.digest = ["a", "b"]\n{REQUEST}', "auth: contradicts headers"),
        (f'{TOP}auth.aws_sigv4 = {{ access_key = "a" }}\n{REQUEST}', "auth.aws_sigv4"),
        (
            f'{TOP}auth.digest = ["a", "b"]\n[[flow]]\n[[flow.step]]\nconnect = "/c"\n',
            "plan.toml:4: flow[0].step[0]: digest answers challenges to requests over HTTP, and this step is none",
        ),
        (
            f'{TOP}auth.aws_sigv4 = {{ access_key = "${{random}}", secret_key = "b", region = "c", service = "d" }}\n'
            f"{REQUEST}",
            "auth.aws_sigv4.access_key: ${random} has another value each time",
        ),
    ]:
        assert message in refused(tmp_path, text)
