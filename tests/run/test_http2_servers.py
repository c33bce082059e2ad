"""Runs with HTTP/2 against servers of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.run.http2_servers import SERVERS, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command

PLAN = """
target = {{ url = "{url}", verify = false }}
http2 = true
users_per_connection = 5
[[flow]]
[[flow.step]]
get = "/"
expect = {{ status = 200, contains = "hello" }}
{echo}
[[phase]]
users = 10
[stop]
iterations = 100
"""
ECHO = """
[[flow.step]]
post = "/echo"
body = "{body}"
expect = {{ status = 200, contains = "the end" }}
"""
BODY = "x" * 100_000 + "the end"


@pytest.mark.long
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("name", SERVERS)
def test_each_server_answers_each_request(
    plimsoll: Command, tmp_path: Path, certificate: tuple[str, str], name: str, secure: bool
) -> None:
    if SERVERS[name][1] is None:
        pytest.skip(f"{name} is not installed")
    # nginx closes a connection after seven requests, and cannot return a body.
    echo = "" if name == "nginx" else ECHO.format(body=BODY)
    with running(name, certificate) as urls:
        (tmp_path / "plan.toml").write_text(PLAN.format(url=urls[secure], echo=echo))
        done = plimsoll("run", str(tmp_path / "plan.toml"), "--headless", "--summary", "-")
    assert done.code == 0, done
    total = json.loads(done.out)["total"]
    assert (total["requests"], total["failures"]) == (200 if echo else 100, 0)
