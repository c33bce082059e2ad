from __future__ import annotations

import contextlib
import gzip
import socket
import time
from threading import Thread

import pytest
from tests.observe.exporter import page, served

from plimsoll.errors import UsageError
from plimsoll.observe import fetch
from plimsoll.observe.fetch import Fetcher
from plimsoll.observe.sampler import ProbeError


def test_it_asks_over_one_connection_with_the_credentials_of_the_url() -> None:
    asked = []

    def answer(path, headers):
        asked.append((path, headers["Authorization"], headers["Accept"]))
        return page("übrig", compressed=len(asked) % 2 == 0)

    with served(answer) as url:
        fetcher = Fetcher(url.replace("//", "//me:s%40cret@") + "/metrics?a=b")
        assert [fetcher.get(fetcher.path, {"Accept": "x"}) for _ in range(3)] == ["übrig"] * 3
        fetcher.close()
    assert asked == [("/metrics?a=b", "Basic bWU6c0BjcmV0", "x")] * 3


def test_a_connection_that_the_server_closed_is_made_again() -> None:
    with served(lambda *_: (200, {"Connection": "close"}, b"a")) as url:
        fetcher = Fetcher(url)
        assert [fetcher.get("/") for _ in range(3)] == ["a"] * 3
        fetcher.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((404, {}, b"no"), "HTTP 404 Not Found"),
        ((401, {}, b""), "HTTP 401 Unauthorized"),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), "HTTP 302 Found"),
        ((200, {"Content-Encoding": "gzip"}, b"no gzip"), "incorrect header check"),
        ((200, {}, b"x" * 2000), "its answer is longer than 0 MiB"),
        ((200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * 2000)), "its answer is longer than 0 MiB"),
    ],
)
def test_what_is_no_page_is_an_error(answer, said, monkeypatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 1000)
    with served(lambda *_: answer) as url:
        fetcher = Fetcher(url)
        with pytest.raises(ProbeError, match=said):
            fetcher.get("/")
        fetcher.close()


def test_errors_that_explain_themselves_may_be_read() -> None:
    with served(lambda *_: (400, {}, b"why")) as url:
        fetcher = Fetcher(url)
        assert fetcher.get("/", also=[400]) == "why"
        fetcher.close()


def test_nobody_there_and_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ProbeError, match=r"^Connection refused$"):
        Fetcher(f"http://127.0.0.1:{port}").get("/")
    with pytest.raises(ProbeError):
        Fetcher("http://nosuchhost.invalid").get("/")


def test_a_server_that_is_silent_or_speaks_something_else(monkeypatch) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ProbeError, match=r"no complete answer within 0\.2 s"):
            Fetcher(url).get("/")
        server.accept()[0].close()

        def speak() -> None:
            with server.accept()[0] as connection:
                connection.recv(1000)
                connection.sendall(b"220 smtp ready\r\n")

        thread = Thread(target=speak)
        thread.start()
        with pytest.raises(ProbeError, match="220 smtp ready"):
            Fetcher(url).get("/")
        thread.join()


@pytest.mark.parametrize("url", ["http://", "http:///metrics", "http://host:port/"])
def test_a_url_without_a_host_is_refused(url) -> None:
    with pytest.raises(UsageError):
        Fetcher(url)


DRIPS = {
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"a"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("what", DRIPS)
def test_a_fetch_has_a_deadline_however_its_answer_arrives(monkeypatch, what) -> None:
    monkeypatch.setattr(fetch, "TIMEOUT_S", 0.5)
    head, piece = DRIPS[what]
    sent = 0

    def drip() -> None:
        nonlocal sent
        with server.accept()[0] as connection, contextlib.suppress(OSError):
            connection.recv(1000)
            connection.sendall(head)
            while True:
                connection.sendall(piece)
                sent += 1
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=drip)
        thread.start()
        with pytest.raises(ProbeError, match=r"no complete answer within 0\.5 s"):
            Fetcher(f"http://127.0.0.1:{server.getsockname()[1]}").get("/")
        thread.join()
    assert 0 < sent < 95, "http.client itself ends after 100 headers"
