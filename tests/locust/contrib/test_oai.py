from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.locust.contrib.conftest import RecordedRequest

CODE = """
from locust.contrib.oai import OpenAIUser
class Asker(OpenAIUser):
    pass
client = Asker(environment).client
client.max_retries = 0
def ask(model):
    return client.responses.create(model=model, input="?")
assert ask("good").output_text == "42"
with client.rename_request("renamed"):
    try:
        ask("bad")
    except Exception as error:
        assert error.status_code == 500
    else:
        raise AssertionError
"""
ANSWER: dict[str, Any] = {
    "id": "r", "object": "response", "created_at": 0, "model": "good", "parallel_tool_calls": False, "tools": [],
    "tool_choice": "auto",
    "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "42", "annotations": []}]}],
    "usage": {"input_tokens": 1, "output_tokens": 17, "total_tokens": 18},
}  # fmt: skip


class _Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(ANSWER).encode() if asked["model"] == "good" else b"out of order"
        self.send_response(200 if asked["model"] == "good" else 500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def test_length_is_counted_in_tokens(run_code: Callable[..., list[RecordedRequest]], model: str) -> None:
    good, bad = run_code(CODE, OPENAI_API_KEY="none", OPENAI_BASE_URL=model)
    assert (good.type, good.name, good.length, good.error) == ("POST", "/v1/responses", 17, None)
    assert good.time > 0
    assert (bad.name, bad.length) == ("renamed", 0)
    assert "500 Internal Server Error" in bad.error


def test_without_a_key_it_says_so(
    run_code: Callable[..., list[RecordedRequest]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(AssertionError, match="You need to set OPENAI_API_KEY env var"):
        run_code(CODE)
