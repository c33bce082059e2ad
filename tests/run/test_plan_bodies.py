"""What a plan's variables, forms with files, operations of GraphQL and credentials are on the wire."""

from __future__ import annotations

import base64
import email.parser
import email.policy
import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from tests.users.recording_server import RecordingServer, json_answer

if TYPE_CHECKING:
    from tests.command import Command

FILE = bytes(range(256)) + b"${now}\r\n"
PLAN = r"""
target = "URL"
auth = { basic = ["${account.name}", "p:${account.name}"] }
[feeder.account]
rows = [{ name = "ann" }, { name = "bö}b" }]

[[flow]]
[[flow.step]]
get = "/now?${now}&${unix}&${unix_ms}&${text}&${text:3}&${base64:<${user}>}"

[[flow.step]]
post = "/upload"
multipart.title = "<${account.name}>"
multipart.file = { file = "a.bin", type = "image/png", name = "b.png" }
multipart.note = ["a", "${iteration}"]
auth = { bearer = "t-${iteration}" }

[[flow.step]]
post = "/graphql"
name = "good"
graphql = "query Good($id: ID!) { a(id: $id) }"
variables = { id = "${account.name}" }

[[flow.step]]
post = "/graphql/errors"
graphql = "query Bad { a }"
"""


@pytest.fixture
def server() -> RecordingServer:
    return RecordingServer(
        {
            "/graphql": json_answer({"data": {"a": 1}}),
            "/graphql/errors": json_answer({"data": None, "errors": [{"message": "no a"}]}),
        }
    )


def test_a_plan_sends_times_files_operations_and_credentials(plimsoll: Command, server: RecordingServer) -> None:
    (plimsoll.directory / "a.bin").write_bytes(FILE)
    with server:
        plimsoll.write(PLAN.replace("URL", server.url), "plan.toml")
        before = int(time.time() * 1000)
        done = plimsoll("run", "plan.toml", "--headless", "-u", "1", "--iterations", "2")
        after = int(time.time() * 1000)
    assert done.code == 1, done
    assert "json /errors is" in done.out and "Bad" in done.out
    assert len(server.got) == 8

    for iteration, name in enumerate(("ann", "bö}b")):
        times, upload, good, _ = server.got[4 * iteration :][:4]
        now, unix, unix_ms, text, short, encoded = times.target.partition("?")[2].split("&")
        sent = datetime.strptime(unquote(now), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp() * 1000
        assert before <= round(sent) <= int(unix_ms) <= after
        assert before // 1000 <= int(unix) <= after // 1000
        assert (len(text), len(short)) == (12, 3)
        assert (text + short).isalnum()
        assert unquote(encoded) == base64.b64encode(b"<0>").decode()
        basic = base64.b64encode(f"{name}:p:{name}".encode()).decode()
        assert times.header("Authorization") == good.header("Authorization") == f"Basic {basic}"

        assert upload.header("Authorization") == f"Bearer t-{iteration}"
        head = f"Content-Type: {upload.header('Content-Type')}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + upload.body)
        parts = list(form.iter_parts())
        names = [part.get_param("name", header="content-disposition") for part in parts]
        assert names == ["title", "file", "note", "note"]
        contents = [part.get_payload(decode=True) for part in parts]
        assert contents == [f"<{name}>".encode(), FILE, b"a", str(iteration).encode()]
        assert (parts[1].get_filename(), parts[1].get_content_type()) == ("b.png", "image/png")

        assert json.loads(good.body) == {"query": "query Good($id: ID!) { a(id: $id) }", "variables": {"id": name}}
    texts = {server.got[n].target.split("&")[3] for n in (0, 4)}
    assert len(texts) == 2
