"""Both builds answer the same requests with the same rows; what the new one has is its indexes."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from labs.environment import PYTHON

from plimsoll.experiment.ports import free_port

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PYTHON.exists(), reason="labs/.venv is not there; make setup"),
]


def call(url: str, method: str = "GET", body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        text = reply.read()
        return json.loads(text) if text else None


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
    """What a client gets that reads, writes, changes and deletes."""
    api = f"{url}/api"
    written = {"author_id": 7, "body": "Why?"}
    got: list[Any] = [call(f"{api}/auto_auth/?user=7", "POST"), call(f"{api}/threads/12/")["comments"]]
    got.append([each["title"] for each in call(f"{api}/threads/?course=3")])
    got.append([(each["id"], each["image"]) for each in call(f"{api}/comments/?thread=12")])
    thread = call(f"{api}/threads/", "POST", {**written, "course": 3, "title": "New"})["id"]
    first = call(f"{api}/comments/", "POST", {**written, "thread": thread})["id"]
    call(f"{api}/comments/", "POST", {**written, "thread": thread, "parent": first})
    got.append(call(f"{api}/threads/{thread}/", "PATCH", {"body": "Because."})["body"])
    got.append(call(f"{api}/threads/{thread}/")["comments"])
    call(f"{api}/comments/{first}/", "PATCH", {"body": "Because."})
    call(f"{api}/comments/{first}/", "DELETE")
    got.append(call(f"{api}/threads/{thread}/")["comments"])
    call(f"{api}/threads/{thread}/", "DELETE")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        call(f"{api}/threads/{thread}/")
    return got


@contextmanager
def running(variant: str) -> Iterator[str]:
    """The URL."""
    port = free_port()
    command = [sys.executable, "-m", "labs.forum.lab", "--variant", variant, "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT) as lab:
        try:
            assert wait_for(f"http://127.0.0.1:{port}/_comments") == 40_000
            yield f"http://127.0.0.1:{port}"
        finally:
            lab.send_signal(signal.SIGTERM)
        assert lab.wait(60) == 0


def test_all_builds_answer_the_same() -> None:
    answers = []
    for variant in ("old", "new", "new-each", "new-shared"):
        with running(variant) as url:
            answers.append(conversation(url))
    assert answers == [answers[0]] * 4
    assert answers[0][-3:] == ["Because.", 2, 0]
    assert len(answers[0][2]) == 20
    assert all(image == f"/images/{image[8:]}" and image.endswith(".png") for _, image in answers[0][3])


def test_without_the_accounts_api_there_are_no_images() -> None:
    with running("new-none") as url:
        assert {each["image"] for each in call(f"{url}/api/comments/?thread=12")} == {""}
