from __future__ import annotations

import asyncio
import json
import socket
from http.client import HTTPResponse
from typing import Any

import pytest
from tests.memory import count_reachable
from tests.server.page_server import EventStream, FakeControl, LiveFeed, in_thread, interval, serve_page, wait_until

from plimsoll.run.coordinator.progress import Batch
from plimsoll.server import connections
from plimsoll.server.live import stream as live_stream
from plimsoll.server.live.feed import MOST_SNAPSHOTS
from plimsoll.server.live.live import Live
from plimsoll.server.live.snapshot import LiveSnapshot
from plimsoll.server.live.stream import MOST_TEXTS, Viewers


@pytest.fixture
def live():
    return Live()


@pytest.fixture
def feed(live):
    return LiveFeed(live)


@pytest.fixture
def page(live):
    with serve_page(live, FakeControl()) as page:
        yield page


def test_a_viewer_is_told_all_at_once_and_then_what_changes(page, live, feed):
    feed.begin()
    live.look()
    feed.second({"/a": [1.0], "/b": [2.0]})
    with page.stream() as stream:
        assert stream.response.headers["Content-Type"].startswith("text/event-stream")
        first = stream.moment()
        assert (first["is_whole"], [row["name"] for row in first["rows"]]) == (True, ["/a", "/b"])
        assert (first["sequence"], first["test"]["status"], first["log"]) == (live.snapshot.sequence, "running", [])
        live.log("INFO", "hello")
        feed.second({"/a": [3.0]})
        second = stream.moment()
        assert (second["sequence"], second["is_whole"]) == (first["sequence"] + 1, False)
        assert second["total"]["requests"] == 3
        assert [line["text"] for line in second["log"]] == ["hello"]
        assert second["appended"]["live-rate"]["points"]


def test_the_id_of_an_event_is_its_sequence(page, live, feed):
    feed.begin()
    feed.end()
    with page.stream() as stream:
        lines = [next(stream.lines).decode() for _ in range(2)]
    assert lines == [f"id: {live.snapshot.sequence}", "event: moment"]


def test_two_viewers_see_the_same(page, feed):
    feed.begin()
    feed.second({"/a": [1.0]})
    feed.end()
    with page.stream() as one, page.stream() as other:
        assert one.moment() == other.moment()


def test_who_looks_at_an_endpoint_is_told_of_its_charts(page, live, feed):
    feed.begin()
    feed.second({"/a": [1.0], "/b": [2.0] * 5})
    live.look()
    feed.second({"/a": [1.0], "/b": [2.0] * 5})
    with page.stream(("GET", "/b")) as stream:
        first = stream.moment()
        charts = page.json("api/live/charts", params={"endpoint": json.dumps(["GET", "/b"])})
        assert charts["sequence"] == first["sequence"]
        names = [each["name"] for each in charts["charts"]]
        assert "live-times" in names and "live-users" not in names
        feed.second({"/b": [2.0] * 5})
        feed.second({"/b": [2.0] * 7})
        moments = [stream.moment(), stream.moment()]
        assert moments[0]["is_outdated"], "the charts of this endpoint are told from here on"
        (row,) = [each for each in moments[1]["appended"]["live-rate"]["points"] if each["of"] == "requests"]
        assert (row["second"], row["value"]) == (3.0, 7.0)


def test_the_first_viewer_waits_for_numbers_of_now(page, live, feed):
    feed.begin()
    for _ in range(3):
        feed.second({"/a": [1.0]})
    assert live.snapshot.total is None, "nobody looked"
    with page.stream() as stream:
        wait_until(lambda: live.is_watched)
        feed.second({"/a": [1.0]})
        first = stream.moment()
    assert (first["total"]["requests"], len(first["rows"])) == (4, 1)


def test_who_waits_for_a_run_that_stands_still_is_told_what_there_is(page, feed, monkeypatch):
    monkeypatch.setattr(live_stream, "UPDATE_TIMEOUT_S", 0.1)
    feed.begin()
    with page.stream() as stream:
        assert stream.moment()["total"] is None


def test_another_run_is_told_on_the_same_stream(page, live, feed):
    feed.begin()
    feed.second({"/old": [1.0]})
    feed.end()
    with page.stream() as stream:
        assert stream.moment()["test"]["number"] == 1
        LiveFeed(live).begin(2)
        moments = stream.until(live.snapshot.sequence)
        assert [each["test"]["status"] for each in moments] == ["preparing", "spawning"]
        assert (moments[0]["is_whole"], moments[0]["rows"], moments[0]["is_outdated"]) == (True, [], True)


def test_lines_of_the_log_come_while_no_run_is_in_progress(page, live):
    with page.stream() as stream:
        assert stream.moment()["test"] is None
        live.log("INFO", "waiting for somebody to start")
        assert stream.moment()["log"][0]["text"] == "waiting for somebody to start"


def test_a_silent_stream_says_that_it_lives(live, monkeypatch):
    monkeypatch.setattr(live_stream, "STEP", 0.01)
    monkeypatch.setattr(live_stream, "HEARTBEAT_INTERVAL_S", 0.02)
    with serve_page(live, FakeControl()) as page, page.stream() as stream:
        stream.moment()
        assert stream.next() == ("", "still here")


def test_the_end_of_the_server_is_told(live):
    with serve_page(live, FakeControl()) as page, page.stream() as one, page.stream() as other:
        one.moment(), other.moment()
        page.server.stop()
        for each in (one, other):
            assert each.next() == ("bye", {})
            with pytest.raises(EOFError):
                each.next()


def test_who_goes_is_no_longer_counted_and_nothing_is_made_for_them(page, live):
    stream = page.stream()
    stream.moment()
    assert live.is_watched
    stream.close()
    wait_until(lambda: not live.is_watched)


def test_only_so_many_may_look_at_a_time(page, monkeypatch):
    monkeypatch.setattr(live_stream, "MOST_VIEWERS", 2)
    with page.stream() as one, page.stream() as other:
        one.moment(), other.moment()
        answer = page.get("api/live")
        assert (answer.status_code, answer.json()["error"]) == (503, "2 pages look at this run already: close one")


def test_many_viewers_see_every_second(page, live, feed):
    feed.begin()
    live.look()
    feed.second({"/a": [1.0]})
    streams = [page.stream() for _ in range(30)]
    firsts = [each.moment()["sequence"] for each in streams]
    assert set(firsts) == {live.snapshot.sequence}
    seen: list[list[int]] = [[] for _ in streams]
    last = live.snapshot.sequence + 10

    def follow(number: int, stream: EventStream) -> None:
        seen[number] = [each["total"]["requests"] for each in stream.until(last)]

    threads = [in_thread(lambda n=n, s=s: follow(n, s)) for n, s in enumerate(streams)]
    for _ in range(10):
        feed.second({"/a": [1.0]})
    for thread in threads:
        thread.join(60)
    assert seen == [[*range(2, 12)]] * 30
    for each in streams:
        each.close()


def test_a_viewer_who_does_not_read_costs_no_memory_and_holds_up_nobody(page, live, feed, monkeypatch):
    """Its socket is full after some seconds; later it goes on with a moment that has all."""
    monkeypatch.setattr(connections, "TAKEN_TIMEOUT_S", 300.0)
    names = [f"/endpoint/{n}/with/a/name/that/is/long/enough/to/fill/buffers" for n in range(900)]
    feed.begin()
    live.look()
    feed.second({name: [1.0] for name in names})
    with socket.socket() as stuck, page.stream() as stream:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        stuck.connect(page.server_address)
        stuck.sendall(b"GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: b"data: " in stuck.recv(65536, socket.MSG_PEEK))
        stream.moment()
        texts_before = count_reachable(page.server, is_text_of_event)
        for number in range(MOST_SNAPSHOTS * 4):
            feed.second({names[number]: [1.0]})
            assert stream.moment()["total"]["requests"] == 900 + number + 1
        assert count_reachable(live, lambda each: isinstance(each, LiveSnapshot)) < 2 * MOST_SNAPSHOTS
        texts = count_reachable(page.server, is_text_of_event) - texts_before
        assert 0 < texts <= MOST_TEXTS
        last = live.snapshot.sequence
        sequences = [each["sequence"] for each in _moments(stuck, last)]
    assert sequences[-1] == last
    assert len(sequences) < MOST_SNAPSHOTS * 4, "those that came while nothing was read were not kept"


def is_text_of_event(each: object) -> bool:
    return isinstance(each, str | bytes) and ('"sequence"' in each if isinstance(each, str) else b'"sequence"' in each)


def _moments(connection: socket.socket, last: int) -> list[Any]:
    """All up to this one."""
    found: list[Any] = []
    with HTTPResponse(connection) as response:
        response.begin()
        while not found or found[-1]["sequence"] < last:
            line = response.readline()
            assert line
            if line.startswith(b"data: "):
                found.append(json.loads(line.removeprefix(b"data: ")))
    assert found[-1]["is_whole"]
    return found


@pytest.mark.parametrize("endpoint", ["x", "[]", '["GET"]', '["GET","/","/"]', "1"])
def test_an_endpoint_that_is_none_is_refused(page, endpoint):
    for path in ("api/live", "api/live/charts"):
        answer = page.get(path, params={"endpoint": endpoint})
        assert (answer.status_code, answer.json()["error"].startswith("endpoint: must be JSON")) == (400, True)


def test_an_endpoint_that_nobody_has_asked_for_has_empty_charts(page, feed):
    feed.begin()
    feed.second({"/a": [1.0]})
    feed.end()
    found = page.json("api/live/charts", params={"endpoint": '["GET", "/never"]'})
    assert len(found["charts"]) == len(page.json("api/live/charts")["charts"]) - 2


def test_a_viewer_may_leave_in_the_moment_in_which_an_edition_comes(live):
    """The loop of the server may have ended before its thread."""
    viewers = Viewers(live)

    async def look() -> None:
        async for _ in viewers._events(None):
            break

    asyncio.run(look())
    viewers._call()
    assert live._listeners == []


def test_failures_exceptions_and_log_are_told_when_they_are_asked_for(page, live, feed):
    feed.begin()
    live.look()
    feed.report(Batch([interval(0, "/a", [1.0], "http")]))
    live.log("INFO", "hello")
    assert page.json("api/live/failures") == {"failures": []}
    assert page.json("api/live/exceptions") == {"exceptions": []}
    assert [line["text"] for line in page.json("api/live/log")["log"]] == ["hello"]
