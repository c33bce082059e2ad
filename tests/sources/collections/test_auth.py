"""Authorizations that plans do themselves: tokens, signatures, digest. Secrets are in a file beside the plan."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.load.plan_file import read_plan
from plimsoll.sources.making import make_draft, written

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


def made(
    folder: Path, name: str, text: str, variables: dict[str, str] | None = None
) -> tuple[str, str, dict[str, Any]]:
    """The plan, the file with its secrets, and the list `auths` of its scenario."""
    (folder / name).write_text(text)
    draft = make_draft([str(folder / name)], variables=variables or {})
    files = written(draft, "plan", as_locustfile=False)
    for file, content in files.files.items():
        (folder / file).write_bytes(content)
    (folder / "plan.toml").write_text(files.text)
    scenario = read_plan(str(folder / "plan.toml")).scenario or {}
    return files.text, files.files.get("plan.secrets.csv", b"").decode(), scenario.get("auths", [])


def postman(auth: dict[str, Any], requests: int = 1) -> str:
    items = [{"name": f"R{n}", "request": f"http://h/{n}"} for n in range(requests)]
    return json.dumps({"info": {"schema": SCHEMA}, "item": items, "auth": auth})


def pairs(kind: str, **values: str) -> dict[str, Any]:
    return {"type": kind, kind: [{"key": key, "value": value} for key, value in values.items()]}


TOKEN = {"accessTokenUrl": "https://id/token", "clientId": "shop", "clientSecret": "s3cret", "scope": "a b"}


def test_tokens_of_postman(tmp_path: Path) -> None:
    auth = pairs("oauth2", **TOKEN, grant_type="client_credentials", client_authentication="body")
    text, secrets, auths = made(tmp_path, "a.json", postman(auth, 2))
    assert text.count("auth.oauth2") == 5, "of the plan, a line for each field"
    assert secrets == "client_secret\ns3cret\n"
    assert auths[0]["oauth2"]["body"] == (
        "grant_type=client_credentials&client_id=shop&client_secret=${secrets.client_secret}&scope=a+b"
    )


def test_passwords_and_other_grants(tmp_path: Path) -> None:
    auth = pairs("oauth2", **TOKEN, grant_type="password_credentials", username="ann", password="pw")
    text, secrets, _ = made(tmp_path, "a.json", postman(auth))
    assert 'grant = "password"' in text and secrets == "client_secret,username,password\ns3cret,ann,pw\n"
    draft = make_draft([str(tmp_path / "a.json")])
    notes = written(draft, "locustfile", as_locustfile=True).notes
    assert "authorization oauth2 is not in the locustfile; a plan has it" in notes
    (tmp_path / "b.json").write_text(postman(pairs("oauth2", **TOKEN, grant_type="authorization_code")))
    notes = make_draft([str(tmp_path / "b.json")]).notes
    assert any("authorization oauth2 is not done" in note for note in notes)


def test_signatures_and_digest_of_postman(tmp_path: Path) -> None:
    keys = pairs("awsv4", accessKey="AK", secretKey="SK", region="", service="sqs")
    text, secrets, auths = made(tmp_path, "a.json", postman(keys))
    assert 'aws_sigv4.region = "us-east-1"' in text and secrets == "access_key,secret_key\nAK,SK\n"
    assert auths[0]["aws_sigv4"]["secret_key"] == "${secrets.secret_key}"
    text, secrets, auths = made(tmp_path, "b.json", postman(pairs("digest", username="ann", password="pw")))
    assert secrets == "username,password\nann,pw\n"
    assert auths == [{"digest": {"user": "${secrets.username}", "password": "${secrets.password}"}}]


def test_insomnia(tmp_path: Path) -> None:
    auth = {
        "type": "oauth2", "grantType": "client_credentials", "accessTokenUrl": "https://id/token", "clientId": "a",
        "clientSecret": "b", "credentialsInBody": True,
    }  # fmt: skip
    request = {"_id": "r", "_type": "request", "parentId": "w", "method": "GET", "url": "http://h/", "name": "R"}
    resources = [{"_id": "w", "_type": "workspace", "name": "W"}, {**request, "authentication": auth}]
    document = {"_type": "export", "__export_format": 4, "resources": resources}
    text, secrets, auths = made(tmp_path, "a.json", json.dumps(document))
    assert "b" not in re.findall('"([^"]*)"', text) and secrets == "client_secret\nb\n"
    assert auths[0]["oauth2"]["authorization"] is None


@pytest.mark.parametrize(
    ("scheme", "given", "expected"),
    [
        (
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id/t", "scopes": {}}}},
            {"client_id": "a", "client_secret": "b"},
            'auth.oauth2.client_secret = "${secrets.client_secret}"',
        ),
        (
            {"type": "oauth2", "flows": {"password": {"tokenUrl": "https://id/t"}}},
            {"client_id": "a", "username": "u", "password": "p"},
            'auth.oauth2.grant = "password"',
        ),
        (
            {"type": "openIdConnect", "openIdConnectUrl": "https://id/realm/.well-known/openid-configuration"},
            {"client_id": "a", "client_secret": "b"},
            'auth.oauth2.issuer = "https://id/realm"',
        ),
        (
            {"type": "http", "scheme": "digest"},
            {"username": "u", "password": "p"},
            'auth.digest = ["${secrets.username}", "${secrets.password}"]',
        ),
    ],
)
def test_openapi(tmp_path: Path, scheme: dict[str, Any], given: dict[str, str], expected: str) -> None:
    document = {"openapi": "3.0.0", "servers": [{"url": "http://h"}], "paths": {"/": {"get": {}}},
                "security": [{"s": []}], "components": {"securitySchemes": {"s": scheme}}}  # fmt: skip
    text, _, auths = made(tmp_path, "a.json", json.dumps(document), given)
    assert expected in text and len(auths) == 1
    notes = make_draft([str(tmp_path / "a.json")]).notes
    assert any("has no value; give it with --set" in note for note in notes)


def test_curl(tmp_path: Path) -> None:
    text, secrets, _ = made(tmp_path, "a.sh", "curl --digest -u ann:pw http://h/\n")
    assert (
        'auth.digest = ["${secrets.username}", "${secrets.password}"]' in text
        and secrets == "username,password\nann,pw\n"
    )
    assert "Authorization" not in text
    line = "curl --aws-sigv4 aws:amz:eu-central-1:s3 -u AK:SK http://h/b/k\n"
    text, secrets, auths = made(tmp_path, "b.sh", line)
    assert secrets == "access_key,secret_key\nAK,SK\n" and auths[0]["aws_sigv4"]["region"] == "eu-central-1"
    (tmp_path / "c.sh").write_text("curl --aws-sigv4 aws:amz -u AK:SK http://h/b/k\n")
    assert any("name region and service" in note for note in make_draft([str(tmp_path / "c.sh")]).notes)
