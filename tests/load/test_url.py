from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.url import socket_scenario, url_scenario


def test_a_url_is_requested_again_and_again() -> None:
    definition = url_scenario("http://127.0.0.1:8000/a?b=c")
    assert definition == {
        "targets": [{"url": "http://127.0.0.1:8000", "verify": True, "cert": None, "proxy": None, "headers": []}],
        "flows": [
            {
                "name": "/a?b=c",
                "steps": [{"name": "/a?b=c", "method": "GET", "path": "/a?b=c", "headers": [], "body": None}],
            }
        ],
    }


def test_method_headers_and_body_are_sent(tmp_path: Path) -> None:
    definition = url_scenario("http://h", method="POST", headers=["A: b", "Accept:c"], body="${uuid}")
    (step,) = definition["flows"][0]["steps"]
    assert (step["method"], step["headers"], step["body"]) == (
        "POST",
        [["A", "b"], ["Accept", "c"]],
        {"text": "${uuid}"},
    )
    (tmp_path / "body").write_bytes(b"\xff${x}")
    (step,) = url_scenario("http://h", body_file=str(tmp_path / "body"))["flows"][0]["steps"]
    assert step["body"] == {"base64": "/yR7eH0="}


def test_a_websocket_is_opened_once_and_its_message_repeated() -> None:
    definition = socket_scenario("wss://h:1/a?b=c", message="${uuid}", headers=["A: b"], protocols=["v1"])
    assert definition["targets"][0]["url"] == "https://h:1"
    connect, send, receive = definition["flows"][0]["steps"]
    assert (connect["path"], connect["headers"]) == ("/a?b=c", [["A", "b"]])
    assert connect["websocket"] == {"connect": {"protocols": ["v1"]}}
    assert (send["websocket"], send["body"]) == ({"send": {}}, {"text": "${uuid}"})
    assert receive["websocket"] == {"receive": {"reply": True}}
    assert {each["name"] for each in (connect, send, receive)} == {"/a?b=c"}


def test_a_subprotocol_has_no_variables() -> None:
    with pytest.raises(UsageError, match=r'^--subprotocol: variables are not replaced here, so "\$\{uuid\}" would'):
        socket_scenario("ws://h/", message="x", protocols=["v1.${uuid}"])


def test_a_stream_is_read_as_events() -> None:
    (step,) = url_scenario("http://h/events", stream="sse")["flows"][0]["steps"]
    assert step["stream"] == "sse"


def test_a_completion_is_sent_as_json_and_may_have_objectives() -> None:
    given = {"method": "POST", "body": "{}", "stream": "llm"}
    (step,) = url_scenario("http://h/chat", **given, objectives=["first_token=500ms", "time=10"])["flows"][0]["steps"]
    assert (step["stream"], step["slo"]) == ("llm", {"first_token": 0.5, "time": 10.0})
    assert step["headers"] == [["Content-Type", "application/json"]]
    (step,) = url_scenario("http://h/chat", **given, headers=["content-type: a/b"])["flows"][0]["steps"]
    assert step["headers"] == [["content-type", "a/b"]]


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("h:8000", {}, '^"h:8000" is not a URL'),
        ("http://[::1/", {}, r'^"http://\[::1" is not a URL'),
        ("http://h/", {"method": "A B"}, '^--method: "A B" cannot be a method'),
        ("http://h/", {"headers": ["A b"]}, '^--header: "A b" is not a header; valid is Name: value'),
        ("http://h/", {"headers": ["A: b\rc"]}, "^--header: "),
        ("http://h/", {"headers": ["A: ${b}"]}, "^--header: unknown variable"),
        ("http://h/", {"body": "${b}"}, "^--body: unknown variable"),
        ("http://h/${b}", {}, "^URL: unknown variable"),
        ("http://h/", {"objectives": ["time=1s"]}, "^--slo: goes with --stream llm"),
        (
            "http://h/",
            {"stream": "llm", "objectives": ["ttft=1s"]},
            '^--slo: "ttft=1s" is no objective; valid are first_token=TIME, time_per_token=TIME, time=TIME',
        ),
        ("http://h/", {"stream": "llm", "objectives": ["time=soon"]}, '^--slo: "soon" is not a duration'),
        ("http://h/", {"body_file": "/none"}, "^--body: cannot read /none: No such file"),
    ],
)
def test_a_mistake_is_told_by_its_option(url: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        url_scenario(url, **options)
