"""Runs whose responses are streams, from the command line to the report."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.command import Command

EVENTS = 5
PAUSE_S = 0.01
NAMED = (b"accept:", b"content-type:")
BODY = '{"stream": true}'
ROLE = '{"choices": [{"delta": {"role": "assistant", "content": ""}}]}'
WORD = '{"choices": [{"delta": {"content": "word "}}]}'
USAGE = '{"choices": [], "usage": {"completion_tokens": 9}}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class StreamingTarget:
    """Answers each request with five server-sent events, or with these; a function gets its number, from 0. It waits
    before each."""

    def __init__(
        self,
        events: Sequence[str] | Callable[[int], Sequence[str]] = tuple(f'{{"n": {each}}}' for each in range(EVENTS)),
    ) -> None:
        self._events = events if callable(events) else lambda _: events
        self.streams = 0
        self.accepts: set[bytes] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, contextlib.suppress(OSError):
            while head := self._head(connection):
                with self._lock:
                    events = self._events(self.streams)
                    self.streams += 1
                    self.accepts |= {line for line in head.split(b"\r\n") if line.lower().startswith(NAMED)}
                connection.sendall(HEAD)
                for data in events:
                    time.sleep(PAUSE_S)
                    event = f"data: {data}\n\n".encode()
                    connection.sendall(b"%x\r\n%b\r\n" % (len(event), event))
                connection.sendall(b"0\r\n\r\n")

    @staticmethod
    def _head(connection: socket.socket) -> bytes:
        head = b""
        while not head.endswith((b"\r\n\r\n", BODY.encode())):
            if not (data := connection.recv(4096)):
                return b""
            head += data
        return head


@pytest.fixture
def streaming() -> Iterator[StreamingTarget]:
    target = StreamingTarget()
    yield target
    target.close()


def _rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["method"]: each for each in document["endpoints"]}


def test_a_report_has_the_times_of_events_beside_those_of_requests(
    plimsoll: Command, streaming: StreamingTarget
) -> None:
    thresholds = ('p50 of "first event /events" >= 10ms', "rps of each event /events > 0", "success = 12")
    arguments = [each for text in thresholds for each in ("--threshold", text)]
    done = plimsoll(
        "run", f"{streaming.url}/events", "--stream", "sse", "-u", "3", "-r", "100", "--iterations", "12", "--headless",
        "--summary", "run.json", *arguments,
    )  # fmt: skip
    assert done.code == 0, done
    document = json.loads((plimsoll.directory / "run.json").read_text())
    rows = _rows(document)
    counts = {method: row["requests"] for method, row in rows.items()}
    assert counts == {"GET": 12, "first event": 12, "each event": 12 * EVENTS}
    assert (document["total"]["requests"], streaming.streams) == (12, 12)
    assert rows["each event"]["bytes_body"] == 12 * EVENTS * len('{"n": 0}')
    assert streaming.accepts == {b"Accept: text/event-stream"}
    # The target never sends earlier than it says. How much later it is depends on the machine.
    assert rows["first event"]["service_ms"]["min"] >= PAUSE_S * 1e3
    assert rows["GET"]["service_ms"]["min"] >= EVENTS * PAUSE_S * 1e3
    whole, first, gaps = (rows[method]["service_ms"]["mean"] for method in ("GET", "first event", "each event"))
    assert whole >= first + (EVENTS - 1) * gaps - 1e-3, "the body ends with its last event, or later"
    for text in (done.out, plimsoll("show", "--store", str(plimsoll.store)).out):
        assert "first event" in text and "Aggregated" in text, text


def test_a_step_of_a_plan_streams(plimsoll: Command, streaming: StreamingTarget) -> None:
    plan = f"""
target = "{streaming.url}"
[[request]]
name = "progress"
get = "/events"
stream = "lines"
[[phase]]
users = 2
duration = "60s"
[stop]
iterations = 4
"""
    plimsoll.write(plan, "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "--summary", "run.json")
    assert done.code == 0, done
    rows = _rows(json.loads((plimsoll.directory / "run.json").read_text()))
    assert {method: row["requests"] for method, row in rows.items()} == {
        "GET": 4, "first event": 4, "each event": 4 * EVENTS,
    }  # fmt: skip


def test_a_completion_has_its_tokens_and_its_goodput_in_every_report(plimsoll: Command) -> None:
    target = StreamingTarget([ROLE, WORD, WORD, WORD, USAGE, "[DONE]"])
    try:
        thresholds = (
            'p50 of "first token /chat" >= 20ms', 'rps of "good request /chat" > 0', 'rps of "each token /chat" > 0',
        )  # fmt: skip
        done = plimsoll(
            "run", f"{target.url}/chat", "--stream", "llm", "--body", BODY, "-u", "2", "-r", "100", "--iterations", "8",
            "--slo", "first_token=1h", "--slo", "time_per_token=1h", "--headless", "--summary", "run.json",
            "--html", "run.html", *(each for text in thresholds for each in ("--threshold", text)),
        )  # fmt: skip
    finally:
        target.close()
    assert done.code == 0, done
    document = json.loads((plimsoll.directory / "run.json").read_text())
    rows = _rows(document)
    assert {method: row["requests"] for method, row in rows.items()} == {
        "POST": 8, "first event": 8, "first token": 8, "each chunk": 24, "each token": 72, "good request": 8,
    }  # fmt: skip
    assert document["total"]["requests"] == 8
    assert target.accepts == {b"Accept: text/event-stream", b"Content-Type: application/json"}
    # The target never sends earlier than it says, so that the first content comes after the role and another pause.
    assert rows["first event"]["service_ms"]["min"] >= PAUSE_S * 1e3
    assert rows["first token"]["service_ms"]["min"] >= 2 * PAUSE_S * 1e3
    # Three chunks have two gaps; nine tokens have eight.
    gaps, each = (rows[method]["service_ms"]["mean"] for method in ("each chunk", "each token"))
    assert each == pytest.approx(gaps / 4, rel=1e-3)
    page = (plimsoll.directory / "run.html").read_text()
    for text in (done.out, page):
        assert all(method in text for method in rows), text[-4000:]


LOCUSTFILE = f"""
from plimsoll import FastHttpUser, HttpUser

def chat(user):
    with user.client.post("/chat", data={BODY!r}, stream=True, catch_response=True) as response:
        for event in response.events("llm"):
            assert event.data != "[DONE]"

class Plain(HttpUser):
    tasks = [chat]

class Fast(FastHttpUser):
    tasks = [chat]
"""


def drawn(number: int) -> list[str]:
    """A completion with a random number of chunks and tokens; some have no usage, and some report an error."""
    chance = Random(number)
    events = [ROLE, *[WORD] * chance.randint(1, 5)]
    if chance.random() < 0.7:
        events.append(USAGE.replace("9", str(chance.randint(5, 50))))
    return [*events, '{"error": {"message": "no room"}}' if chance.random() < 0.2 else "[DONE]"]


def test_python_users_have_the_rows_of_native_users(plimsoll: Command) -> None:
    plimsoll.write(LOCUSTFILE)
    found = []
    for what in (("URL/chat", "--stream", "llm", "--body", BODY), ("Plain", "-H", "URL"), ("Fast", "-H", "URL")):
        target = StreamingTarget(drawn)
        try:
            arguments = [each.replace("URL", target.url) for each in what]
            done = plimsoll(
                "run", *arguments, "--iterations", "30", "--slo", "time=1h", "--headless", "--summary", "r.json"
            )
        finally:
            target.close()
        assert done.code == 1, done
        rows = _rows(json.loads((plimsoll.directory / "r.json").read_text()))
        found.append({
            method: {outcome: each["count"] for outcome, each in row["outcomes"].items() if each["count"]}
            for method, row in rows.items()
        })  # fmt: skip
    native, plain, fast = found
    assert set(native) == {
        "POST", "first event", "first token", "each chunk", "each token", "token by chunk", "good request",
    }  # fmt: skip
    assert native["POST"]["assertion"] > 0 and native["POST"]["success"] == native["good request"]["success"]
    assert plain == native
    assert fast == native


@pytest.mark.parametrize("what", [("URL/chat", "--stream", "llm", "--body", BODY), ("Plain", "-H", "URL")])
def test_a_number_of_tokens_out_of_range_is_a_failure_and_the_rest_is_stored(
    plimsoll: Command, what: Sequence[str]
) -> None:
    def events(number: int) -> list[str]:
        return [WORD, USAGE.replace("9", str(2**63)) if number == 1 else USAGE, "[DONE]"]

    plimsoll.write(LOCUSTFILE)
    target = StreamingTarget(events)
    try:
        done = plimsoll("run", *(each.replace("URL", target.url) for each in what), "--iterations", "4", "--headless")
    finally:
        target.close()
    assert done.code == 1, done
    run = plimsoll.stored()
    assert (run["total"]["requests"], run["total"]["failures"], target.streams) == (4, 1, 4)
    [failure] = run["failures"]
    assert f"usage.completion_tokens is {2**63} and not a number from 0 to 1000000000" in failure["message"]


def test_an_emoji_that_is_cut_between_two_chunks_is_text(plimsoll: Command) -> None:
    halves = [WORD.replace("word ", half) for half in (r"\ud83d", r"\ude00")]
    target = StreamingTarget([*halves, USAGE, "[DONE]"])
    try:
        done = plimsoll(
            "run", f"{target.url}/chat", "--stream", "llm", "--body", BODY, "--iterations", "2", "--headless"
        )
    finally:
        target.close()
    assert done.code == 0, done
    assert _rows(plimsoll.stored())["each chunk"]["requests"] == 4


def test_objectives_go_with_what_reads_completions(plimsoll: Command) -> None:
    plimsoll.write(LOCUSTFILE)
    for arguments, expected in (
        (("--slo", "ttft=1s"), '--slo: "ttft=1s" is no objective; valid are first_token=TIME'),
        (("--slo", "time=9h", "--slo", "time=9000000h"), '--slo: "9000000h" is more than ten years'),
        (("--slo", "time=80000h"), "--slo: slo.time: 288000000 is not a time in seconds"),
        (("http://127.0.0.1:1/", "--slo", "time=1s"), "--slo: goes with --stream llm"),
    ):
        done = plimsoll("run", *arguments, "--headless")
        assert (done.code, expected in done.err, done.err.count("\n")) == (2, True, 1), done
    plimsoll.write('target = "http://127.0.0.1:1"\n[[request]]\nget = "/"\n', "plan.toml")
    done = plimsoll("run", "plan.toml", "--slo", "time=1s")
    assert (done.code, "a step of a plan has a table slo" in done.err) == (2, True), done


def test_a_stream_goes_with_a_url(plimsoll: Command) -> None:
    plimsoll.write("")
    done = plimsoll("run", "--stream", "sse", "--headless")
    assert (done.code, "--stream goes with a URL" in done.err) == (2, True), done
    done = plimsoll("run", "http://127.0.0.1:1/", "--stream", "ws")
    assert done.code == 2, done
    assert "'sse', 'lines', 'llm'" in done.err
