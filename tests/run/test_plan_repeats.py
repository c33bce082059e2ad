"""Steps that are left out or done several times, values found by CSS selectors, tokens that users sign."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.grpc_server import PROTO, GrpcServer
from tests.load.test_guide import PLANS
from tests.users.recording_server import ReceivedRequest, RecordingServer, answer, json_answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command
    from tests.socket_server import EchoServer

POLL, PAGES = PLANS["# poll a job"], PLANS["# follow the pages"]


def _polled(states: list[str]) -> RecordingServer:
    """Answers with these states in turn, and then with the last one."""
    waiting = list(states)

    def state(_: ReceivedRequest) -> bytes:
        return json_answer({"state": waiting.pop(0) if len(waiting) > 1 else waiting[0]})

    return RecordingServer({"/jobs": json_answer({"id": 7}), "/jobs/7": state})


def _run(plimsoll: Command, server: RecordingServer, plan: str, *options: str) -> tuple[int, str]:
    with server:
        plimsoll.write(plan.replace("http://127.0.0.1:8000", server.url), "plan.toml")
        done = plimsoll("run", "plan.toml", "--headless", *options)
    return done.code, done.out


def test_a_job_is_polled_until_it_is_done(plimsoll: Command) -> None:
    server = _polled(["waits", "runs", "done"])
    code, out = _run(plimsoll, server, POLL, "-u", "1", "--iterations", "1")
    assert code == 0, out
    assert [request.target for request in server.got] == ["/jobs", "/jobs/7", "/jobs/7", "/jobs/7", "/results/7"]


@pytest.mark.parametrize("load", [("-u", "2", "--iterations", "3"), ("--rate", "50/s", "--iterations", "3")])
def test_a_limit_is_a_failure_and_each_time_a_request_of_the_row(plimsoll: Command, load: tuple[str, ...]) -> None:
    server = _polled(["waits"])
    code, out = _run(plimsoll, server, POLL, *load, "--summary", "run.json")
    assert code == 1, out
    assert "at_most = 5 is reached before the end: until ${state} == done" in out
    assert Counter(request.target for request in server.got) == {"/jobs": 3, "/jobs/7": 15}
    rows = json.loads((plimsoll.directory / "run.json").read_text())["endpoints"]
    poll = next(row for row in rows if row["name"] == "poll")
    assert (poll["requests"], poll["failures"]) == (15, 3)


def test_a_limit_of_requests_ends_a_repetition(plimsoll: Command) -> None:
    server = _polled(["waits"])
    code, out = _run(plimsoll, server, POLL, "-u", "1", "--requests", "3")
    assert code == 0, out
    assert len(server.got) == 3


def test_pages_are_followed_with_their_items(plimsoll: Command) -> None:
    pages = {"": ("a", "x"), "a": ("b", "y"), "b": (None, "z")}

    def page(request: ReceivedRequest) -> bytes:
        cursor = request.target.partition("after=")[2].partition("&")[0]
        following, item = pages[cursor]
        return json_answer({"next": following, "items": [{"id": item}]})

    server = RecordingServer({"/items": page})
    code, out = _run(plimsoll, server, PAGES, "-u", "1", "--iterations", "2")
    assert code == 0, out
    expected = [
        "/items?after=&page=1", "/items/x", "/items?after=a&page=2", "/items/y", "/items?after=b&page=3", "/items/z",
    ]  # fmt: skip
    assert [request.target for request in server.got] == 2 * expected


CSS = """
target = "http://127.0.0.1:8000"
[[flow]]
[[flow.step]]
get = "/login"
extract.csrf = { css = "form#login input[name=csrf_token]", attribute = "value" }
extract.title = { css = "h1", within = "Hello (.*)" }
extract.none = { css = "h2", default = "-" }

[[flow.step]]
post = "/login"
form = { csrf = "${csrf}", title = "${title}", none = "${none}" }
"""
PAGE = b"""<!doctype html><h1> Hello <b>B&ouml;b</b>&#33;\n</h1><form><input name=csrf_token value=no></form>
<form id=login><input type=hidden name="csrf_token" value="a&amp;b"></form>"""


def test_a_value_of_a_page_is_found_by_a_selector(plimsoll: Command) -> None:
    got: list[bytes] = []

    def login(request: ReceivedRequest) -> bytes:
        got.append(request.body)
        return answer(body=PAGE, headers=(("Content-Type", "text/html"),))

    code, out = _run(plimsoll, RecordingServer({"/login": login}), CSS, "-u", "1", "--iterations", "1")
    assert code == 0, out
    assert got == [b"", b"csrf=a%26b&title=B%26ouml%3Bb%21&none=-"]


TOKENS = """
target = "http://127.0.0.1:8000"
[feeder.account]
rows = [{ name = "ann", secret = "s3cret" }]
[jwt.user]
key = "${account.secret}-KEY"
key_id = "1"
claims = { sub = "${account.name}", admin = false }
expires = "5m"
[jwt.service]
algorithm = "RS256"
key_file = "key.pem"
claims = { iss = "me", iat = 7 }

[[flow]]
[[flow.step]]
get = "/a?${sha256:${account.name}}&${hmac_sha256_base64url:KEY-s3cret:${account.name}:1}"
auth = { bearer = "${jwt.user}" }
[[flow.step]]
post = "/b"
form = { assertion = "${jwt.service}" }
"""


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_tokens_are_signed_and_their_keys_are_in_no_record(plimsoll: Command) -> None:
    folder = plimsoll.directory
    _openssl("genpkey", "-algorithm", "RSA", "-out", folder / "key.pem")
    _openssl("pkey", "-in", folder / "key.pem", "-pubout", "-out", folder / "public.pem")
    server = RecordingServer()
    before = int(time.time())
    code, out = _run(plimsoll, server, TOKENS, "-u", "1", "--iterations", "1", "--summary", "run.json")
    assert code == 0, out
    first, second = server.got
    digest, signature = first.target.partition("?")[2].split("&")
    assert digest == hashlib.sha256(b"ann").hexdigest()
    assert _decoded(signature) == hmac.new(b"KEY-s3cret", b"ann:1", "sha256").digest()

    head, claims, signed = str(first.header("Authorization")).removeprefix("Bearer ").split(".")
    assert json.loads(_decoded(head)) == {"alg": "HS256", "typ": "JWT", "kid": "1"}
    content = json.loads(_decoded(claims))
    assert content == {"sub": "ann", "admin": False, "iat": content["iat"], "exp": content["iat"] + 300}
    assert before <= content["iat"] <= time.time()
    assert _decoded(signed) == hmac.new(b"s3cret-KEY", f"{head}.{claims}".encode(), "sha256").digest()

    head, claims, signed = second.body.decode().removeprefix("assertion=").split(".")
    assert json.loads(_decoded(claims)) == {"iss": "me", "iat": 7}
    (folder / "signature").write_bytes(_decoded(signed))
    (folder / "text").write_text(f"{head}.{claims}")
    _openssl("dgst", "-sha256", "-verify", folder / "public.pem", "-signature", folder / "signature", folder / "text")

    kept = (folder / "run.json").read_text() + out
    kept += "".join(path.read_bytes().decode("latin-1") for path in folder.glob("*.db*"))
    pem = (folder / "key.pem").read_bytes()
    for secret in ("s3cret", "-KEY", "BEGIN PRIVATE", base64.b64encode(pem).decode()[:40]):
        assert secret not in kept, secret


CALLS = """
target = "grpc://PLACE"
proto = "PROTO"
[[flow]]
[[flow.step]]
grpc = "echo.v1.Echo/Say"
message = { text = "n${repetition}" }
extract.word = { json = "/text", default = "" }
repeat = { until = "${word} == n2", at_most = MOST }
[[flow.step]]
grpc = "echo.v1.Echo/List"
message = { text = "x", count = 2 }
if = "${word} != n2"
"""


@pytest.mark.parametrize(
    ("most", "code", "texts", "counts"),
    [("5", 0, ["n0", "n1", "n2"], {"Say": 3}), ("2", 1, ["n0", "n1"], {"Say": 2, "List": 1})],
)
def test_calls_are_repeated_and_left_out(
    plimsoll: Command, grpc_server: GrpcServer, most: str, code: int, texts: list[str], counts: dict[str, int]
) -> None:
    plan = CALLS.replace("PLACE", grpc_server.place).replace("PROTO", str(PROTO)).replace("MOST", most)
    plimsoll.write(plan, "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "-u", "1", "--iterations", "1")
    assert done.code == code, done
    assert ("at_most = 2 is reached before the end" in done.out) == (code == 1)
    assert grpc_server.texts[: len(texts)] == texts
    assert grpc_server.counts == counts


MESSAGES = """
target = "URL"
[[flow]]
[[flow.step]]
connect = "/"
[[flow.step]]
send = "hello"
[[flow.step]]
receive = "reply"
extract.word = { regex = ".*" }
[[flow.step]]
send = "again"
if = "${word} == hello"
[[flow.step]]
send = "never"
if = "${word} != hello"
[[flow.step]]
close = 1000
"""


def test_messages_are_left_out(plimsoll: Command, echo: EchoServer) -> None:
    plimsoll.write(MESSAGES.replace("URL", f"http://{echo.place}"), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "-u", "1", "--iterations", "2")
    assert done.code == 0, done
    assert echo.received == ["hello", "again"] * 2


STREAM = """
target = "http://127.0.0.1:8000"
[[flow]]
[[flow.step]]
get = "/events"
stream = "lines"
extract.left = { header = "X-Left", default = "" }
repeat = { while = "${left}", at_most = 3 }
"""


def test_streams_are_repeated(plimsoll: Command) -> None:
    left = ["1", "", "1"]

    def events(_: ReceivedRequest) -> bytes:
        value = left.pop(0)
        return answer(body=b"a\nb\n", headers=(("X-Left", value),) if value else ())

    server = RecordingServer({"/events": events})
    code, out = _run(plimsoll, server, STREAM, "-u", "1", "--iterations", "1")
    assert code == 0, out
    assert [request.target for request in server.got] == ["/events", "/events"]
