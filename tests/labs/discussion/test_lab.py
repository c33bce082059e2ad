"""Both builds answer the same requests with the same rows; what the new one has is its indexes."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from labs.todos.lab import PYTHON

from plimsoll.experiment.ports import free_port

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PYTHON.exists(), reason="labs/todos/.venv is not there; make setup"),
]


def call(url: str, method: str = "GET", body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)


def wait_for(url: str) -> Any:
    deadline = time.monotonic() + 60
    while True:
        try:
            return call(url)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def conversation(url: str) -> list[Any]:
    """What a client is told that reads, writes, changes and deletes."""
    written = {"author": 7, "body": "Why?"}
    said = [call(f"{url}/auto_auth?user=7", "POST"), call(f"{url}/threads/12")["comments"]]
    said.append([each["title"] for each in call(f"{url}/threads?course=3")])
    said.append([each["id"] for each in call(f"{url}/threads/12/comments")])
    thread = call(f"{url}/threads?course=3", "POST", written)["id"]
    first = call(f"{url}/threads/{thread}/comments", "POST", written)["id"]
    call(f"{url}/threads/{thread}/comments?parent={first}", "POST", written)
    said.append(call(f"{url}/threads/{thread}", "PATCH", {"author": 7, "body": "Because."})["body"])
    said.append(call(f"{url}/threads/{thread}")["comments"])
    call(f"{url}/comments/{first}", "PATCH", written)
    call(f"{url}/comments/{first}", "DELETE")
    said.append(call(f"{url}/threads/{thread}")["comments"])
    call(f"{url}/threads/{thread}", "DELETE")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        call(f"{url}/threads/{thread}")
    return said


def test_both_builds_say_the_same() -> None:
    said = []
    for variant in ("old", "new"):
        port = free_port()
        command = [sys.executable, "-m", "labs.discussion.lab", "--variant", variant, "--port", str(port)]
        with subprocess.Popen(command, cwd=ROOT) as lab:
            try:
                assert wait_for(f"http://127.0.0.1:{port}/_comments") == 40_000
                said.append(conversation(f"http://127.0.0.1:{port}"))
            finally:
                lab.send_signal(signal.SIGTERM)
            assert lab.wait(60) == 0
    old, new = said
    assert old == new
    assert old[-3:] == ["Because.", 2, 0]
    assert len(old[2]) == 20
