"""Signatures for Amazon's services, against the signatures that Amazon publishes for its test suite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent

from plimsoll.errors import UsageError
from plimsoll.outputs.aws_signature import AwsCredentials, AwsSigner
from plimsoll.outputs.kinds import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import OutputRun, OutputSecond

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
STAMP = "20150830T123600Z"
"""Of all requests of the suite."""


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "DEFAULT_REGION"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)


def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.mark.parametrize(
    ("method", "path", "signature"),
    [
        ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ("GET", "/?Param1=value2&Param1=Value1", "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"),
        ("GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
    ids=["get-vanilla", "post-vanilla", "get-vanilla-query-order-value", "get-vanilla-query-order-key-case"],
)
def test_the_signatures_of_the_suite(method: str, path: str, signature: str) -> None:
    signer = AwsSigner(AwsCredentials("AKIDEXAMPLE", SECRET), "example.amazonaws.com", "service", "us-east-1")
    assert signer.headers_at(path, b"", STAMP, method) == {
        "X-Amz-Date": STAMP,
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={signature}",
    }


def test_a_token_is_signed() -> None:
    token = "AQoDYXdzEPT"
    signer = AwsSigner(AwsCredentials("AKIDEXAMPLE", SECRET, token), "example.amazonaws.com", "service", "us-east-1")
    headers = signer.headers_at("/", b"", STAMP)
    assert headers["X-Amz-Security-Token"] == token
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token," in headers["Authorization"]


@pytest.mark.parametrize(
    ("url", "region", "variables", "host", "expected"),
    [
        ("https://aps-workspaces.us-west-2.amazonaws.com/w/api", None, {}, "aps-workspaces.us-west-2.amazonaws.com",
         "us-west-2"),
        ("https://aps-workspaces.us-west-2.amazonaws.com:443/w", "eu-west-1", {"AWS_REGION": "x"},
         "aps-workspaces.us-west-2.amazonaws.com", "eu-west-1"),
        ("http://127.0.0.1:8005/w", None, {"AWS_DEFAULT_REGION": "eu-north-1"}, "127.0.0.1:8005", "eu-north-1"),
        ("http://[::1]:8005/w", None, {"AWS_REGION": "a", "AWS_DEFAULT_REGION": "b"}, "[::1]:8005", "a"),
    ],
    ids=["of the host", "given", "of a variable", "of the first variable"],
)  # fmt: skip
def test_the_region(
    url: str, region: str | None, variables: dict[str, str], host: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _keys(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    signer = AwsSigner.from_environment(url, "aps", region)
    assert (signer.host, signer.region) == (host, expected)
    assert SECRET not in repr(signer)


def test_remote_write_is_signed_as_it_arrives(
    monkeypatch: pytest.MonkeyPatch, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    _keys(monkeypatch)
    with receiving() as receiver:
        path = "/workspaces/ws-1/api/v1/remote_write"
        sent(f"prometheus={receiver.url}{path},auth=sigv4,region=eu-central-1", output_run, make_second())
    ((arrived, headers, body),) = receiver.requests
    assert arrived == path
    assert "/eu-central-1/aps/aws4_request" in headers["Authorization"]
    # A service computes the signature again, of what has arrived.
    signer = AwsSigner(AwsCredentials("AKIDEXAMPLE", SECRET), headers["Host"], "aps", "eu-central-1")
    assert signer.headers_at(arrived, body, headers["X-Amz-Date"])["Authorization"] == headers["Authorization"]


@pytest.mark.parametrize(
    ("url", "keys", "message"),
    [
        ("http://h,auth=sigv4,region=r", False, "needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("http://h,auth=sigv4", True, "auth=sigv4 needs a region: region=eu-central-1, or the variable AWS_REGION"),
        ("http://h,region=r", True, "region goes with auth=sigv4"),
        ("http://h,auth=bearer", True, "auth is sigv4, not bearer"),
        ("http://a:b@h,auth=sigv4,region=r", True, "the URL has no user and password"),
        ("http://h,version=3", True, "the version of remote write is 1 or 2, not 3"),
    ],
)
def test_what_cannot_be_is_refused(url: str, keys: bool, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if keys:
        _keys(monkeypatch)
    with pytest.raises(UsageError, match=re.escape(message)):
        opened(f"prometheus={url}", has_page=False)
