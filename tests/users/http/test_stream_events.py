"""Events of streamed responses, through both clients, and what is recorded of them."""

from __future__ import annotations

import gzip
import threading
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from requests.exceptions import ChunkedEncodingError
from tests.users.recording_server import ClosingAnswer, answer

from plimsoll._engine import now
from plimsoll.users.exceptions import LocustError, ResponseError
from plimsoll.users.http.stream_events import StreamEvent
from plimsoll.users.hub import current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench
    from tests.users.recording_server import ReceivedRequest, RecordingServer

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
LIMIT = 10.0


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


@pytest.fixture(params=["http", "fast"])
def session(request: pytest.FixtureRequest, session_bench: SessionBench, target: RecordingServer) -> Any:
    return getattr(session_bench, request.param)(target.url)


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """A wait that never ends fails its test."""
    with gevent.Timeout(LIMIT):
        yield


class Parts:
    """An answer whose parts are sent when the test says so."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts
        self.go = threading.Semaphore(0)
        self.sent = 0

    def __call__(self, _: ReceivedRequest) -> Iterator[bytes]:
        for part in self._parts:
            assert self.go.acquire(timeout=LIMIT)
            yield part
            self.sent += 1


def test_events_come_as_they_arrive_and_are_counted_beside_their_request(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    parts = Parts(
        HEAD + b"\r\n" + chunk(b"data: one\n\n"), chunk(b": alive\n\nevent: add\nid: 7\ndata: tw"),
        chunk("o\ndata: ä\n\ndata: three\n\n".encode()), chunk(b"data: no end") + b"0\r\n\r\n",
    )  # fmt: skip
    target.answers["/events"] = parts
    parts.go.release()
    with session.get("/events", stream=True, catch_response=True) as response:
        events = response.events()
        assert next(events) == StreamEvent("message", "one", "", None)
        parts.go.release(3)
        assert list(events) == [StreamEvent("add", "two\nä", "7", None), StreamEvent("message", "three", "7", None)]
    assert session_bench.counts == {
        ("GET", "/events", "success"): 1, ("first event", "/events", "success"): 1,
        ("each event", "/events", "success"): 3,
    }  # fmt: skip
    rows = {each.method: each for each in session_bench.recorded}
    assert (rows["first event"].untimed, rows["each event"].untimed) == (0, 1)
    assert rows["each event"].bytes_body == len("one" + "two\nä" + "three") + 1, "bytes, not letters"
    assert rows["first event"].response_sum >= rows["first event"].service_sum > 0


def test_the_time_of_an_event_does_not_depend_on_when_the_users_code_asks_for_it(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    parts = Parts(HEAD + b"\r\n" + chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), b"0\r\n\r\n")
    target.answers["/events"] = parts
    parts.go.release()
    response = session.get("/events", stream=True)
    if not current().engine.kernel_stamps:
        pytest.skip("the kernel gives no stamps here")
    events = response.events()
    next(events)
    first = response.arrival
    parts.go.release()
    while parts.sent < 2:
        gevent.sleep(0.001)
    asked = now()
    assert next(events).data == "2"
    assert first < response.arrival <= asked, "it was there before"
    (gap,) = [each.response_sum for each in session_bench.recorded if each.method == "each event"]
    assert gap == response.arrival - first
    parts.go.release()
    assert list(events) == []


def test_lines_and_coded_bodies_have_events(target: RecordingServer, session: Any, session_bench: SessionBench) -> None:
    body = gzip.compress(b'{"a": 1}\n\n{"b": 2}\r\n{"c": 3}')
    target.answers["/x"] = HEAD + b"Content-Encoding: gzip\r\n\r\n" + chunk(body) + b"0\r\n\r\n"
    found = [each.data for each in session.get("/x", stream=True).events("lines")]
    assert found == ['{"a": 1}', '{"b": 2}', '{"c": 3}']
    assert session_bench.counts["each event", "/x", "success"] == 3


def test_an_error_has_no_events_and_a_wrong_format_is_refused(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/bad"] = answer(500, b"data: x\n\n")
    assert list(session.get("/bad", stream=True).events()) == []
    assert session_bench.counts == {("GET", "/bad", "http"): 1}
    target.answers["/x"] = answer(200, b"data: x\n\n")
    with pytest.raises(ValueError, match='"ws" is no format of events; there are sse, lines and llm'):
        list(session.get("/x", stream=True).events("ws"))


def test_a_request_without_a_response_has_no_events_and_one_without_stream_says_what_to_do(
    target: RecordingServer, session: Any
) -> None:
    assert list(session.get("http://127.0.0.1:1/x", stream=True).events()) == []
    target.answers["/x"] = answer(200, b"data: x\n\n")
    with pytest.raises(LocustError, match="send the request with stream=True"):
        session.get("/x").events()


def test_a_stream_that_breaks_off_raises_and_its_events_stay(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/x"] = lambda _: [HEAD + b"\r\n", chunk(b"data: x\n\n"), ClosingAnswer(b"5\r\nda")]
    events = session.get("/x", stream=True).events()
    assert next(events).data == "x"
    with pytest.raises(ChunkedEncodingError):
        next(events)
    assert session_bench.counts["each event", "/x", "success"] == 1


def test_a_stream_that_breaks_off_in_a_block_is_a_failure_of_its_request(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/x"] = lambda _: [HEAD + b"\r\n", chunk(b"data: x\n\n"), ClosingAnswer(b"5\r\nda")]

    def read(decide: bool) -> None:
        with session.get("/x", stream=True, catch_response=True) as response:
            if decide:
                response.success()
            list(response.events())

    for decide in (False, True):
        with pytest.raises(ChunkedEncodingError):
            read(decide)
    assert session_bench.counts == {
        ("GET", "/x", "reset"): 1, ("GET", "/x", "success"): 1, ("first event", "/x", "success"): 2,
        ("each event", "/x", "success"): 2,
    }  # fmt: skip
    ((outcome, message),) = session_bench.failures
    assert outcome == "reset" and "closed before the last chunk" in message


ROLE, HI = (
    '{"choices": [{"delta": {"role": "assistant", "content": ""}}]}',
    '{"choices": [{"delta": {"content": "Hi"}}]}',
)
USAGE = '{"choices": [], "usage": {"completion_tokens": 7}}'
CHAT = HEAD + b"Content-Type: text/event-stream; charset=utf-8\r\n\r\n"


def completion(*events: str) -> bytes:
    return CHAT + b"".join(chunk(f"data: {event}\n\n".encode()) for event in events) + b"0\r\n\r\n"


def chat(session: Any, **options: Any) -> list[str]:
    with session.post("/chat", json={}, stream=True, catch_response=True, **options) as response:
        return [each.data for each in response.events("llm")]


@pytest.mark.parametrize(
    ("objective", "good"),
    [({"time": 60.0}, 2), ({"first_token": 1e-9}, 0), ({"time_per_token": 60.0, "time": 60.0}, 2)],
)
def test_a_chat_completion_has_rows_for_its_tokens_and_objectives(
    target: RecordingServer, session: Any, session_bench: SessionBench, objective: dict[str, float], good: int
) -> None:
    session_bench.recorder.set_objectives(**objective)
    target.answers["/chat"] = completion(ROLE, HI, HI, HI, USAGE, "[DONE]")
    assert [chat(session) for _ in range(2)] == [[ROLE, HI, HI, HI, USAGE]] * 2, "without the mark of the end"
    assert len({each.connection for each in target.got}) == 1, "a loop that ends has read the whole body"
    found = {method: count for (method, name, outcome), count in session_bench.counts.items()}
    expected = {"POST": 2, "first event": 2, "first token": 2, "each chunk": 6, "each token": 14, "good request": good}
    assert found == {method: count for method, count in expected.items() if count}
    rows = {each.method: each for each in session_bench.recorded}
    assert (rows["first token"].untimed, rows["each chunk"].untimed, rows["first token"].bytes_body) == (
        0,
        2,
        2 * len(HI),
    )
    assert rows["first token"].response_sum >= rows["first event"].response_sum > 0


def test_without_usage_each_chunk_is_a_token(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/chat"] = completion(ROLE, HI, HI)
    chat(session)
    assert session_bench.counts["token by chunk", "/chat", "success"] == 2
    assert not [key for key in session_bench.counts if key[0] in ("each token", "good request")], "without objectives"


@pytest.mark.parametrize(
    ("answered", "why"),
    [
        (completion(ROLE, HI, '{"error": {"message": "no room"}}'), "the stream reports an error: no room"),
        (completion(ROLE), "no event has content: the model generated nothing"),
        (completion(HI, "hello"), "an event is no chunk of a completion"),
        (answer(200, b'{"choices": []}'), 'not text/event-stream; does the request say "stream": true?'),
    ],
)
def test_what_is_no_completion_fails_its_request_or_raises(
    target: RecordingServer, session: Any, session_bench: SessionBench, answered: bytes, why: str
) -> None:
    target.answers["/chat"] = answered
    with session.post("/chat", json={}, stream=True, catch_response=True) as response:
        list(response.events("llm"))
    assert session_bench.counts["POST", "/chat", "assertion"] == 1
    assert not [key for key in session_bench.counts if "token by chunk" in key], "its tokens are not counted"
    ((outcome, message),) = session_bench.failures
    assert outcome == "assertion" and why in message
    with pytest.raises(ResponseError) as raised:
        list(session.post("/chat", json={}, stream=True).events("llm"))
    assert why in str(raised.value)


def test_an_error_status_is_the_failure_and_a_loop_that_is_left_counts_no_tokens(
    target: RecordingServer, session: Any, session_bench: SessionBench
) -> None:
    target.answers["/bad"] = answer(503, b"busy")
    with session.post("/bad", json={}, stream=True, catch_response=True) as response:
        assert list(response.events("llm")) == []
    with session.post("http://127.0.0.1:1/x", json={}, stream=True, catch_response=True) as response:
        assert list(response.events("llm")) == []
    target.answers["/chat"] = completion(ROLE, HI, USAGE)
    with session.post("/chat", json={}, stream=True, catch_response=True) as response:
        next(response.events("llm"))
    counts = session_bench.counts
    assert {outcome for _, _, outcome in counts} == {"http", "connect", "success"}
    assert counts["POST", "/chat", "success"] == 1 and ("each token", "/chat", "success") not in counts
