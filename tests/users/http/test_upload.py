"""Bodies that are sent while they are read: the same bytes as requests and Locust's client send, and no more memory."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any

import gevent
import pytest
import requests
import urllib3
from geventhttpclient.useragent import UserAgent
from requests.auth import HTTPDigestAuth
from tests.users.http.oracle import oracle
from tests.users.recording_server import ClosingAnswer, RecordingServer, answer

from plimsoll.locust.fasthttp.session import insecure_ssl_context_factory
from plimsoll.users.http.multipart import LARGE, large_form
from plimsoll.users.http.prepared import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.users.conftest import SessionBench

LIMIT = 20.0
BYTES = bytes(range(256)) * 1000
"""Longer than a block, and not a whole number of blocks."""


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    """A wait that never ends fails its test."""
    with gevent.Timeout(LIMIT):
        yield


class Readable:
    """A file without a length."""

    def __init__(self, content: bytes = BYTES) -> None:
        self._file = io.BytesIO(content)

    def __iter__(self) -> Iterator[bytes]:
        raise AssertionError("it can be read")

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


class Sized:
    """An iterable with a length."""

    def __len__(self) -> int:
        return len(BYTES)

    def __iter__(self) -> Iterator[bytes]:
        yield from (BYTES[:1000], b"", BYTES[1000:])


class Unseekable(io.BytesIO):
    def tell(self) -> int:
        raise OSError("no position")


def _later(file: io.BytesIO) -> io.BytesIO:
    file.seek(7)
    return file


def _post(send: Callable[..., Any], name: str, path: Path) -> Any:
    """Send the body with this name."""
    body = BODIES[name](path)
    with contextlib.closing(body) if hasattr(body, "close") else contextlib.nullcontext():
        return send(body)


BODIES: dict[str, Callable[[Path], Any]] = {
    "a file": lambda path: path.open("rb"),
    "a file without a buffer": lambda path: path.open("rb", buffering=0),
    "a file from where it is": lambda path: _later(path.open("rb")),  # type: ignore[arg-type]
    "bytes as a file": lambda _: io.BytesIO(BYTES),
    "a short file": lambda _: io.BytesIO(b"x"),
    "an empty file": lambda _: io.BytesIO(),
    "text as a file": lambda _: io.StringIO("text"),
    "a file without a length": lambda _: Readable(),
    "an iterable with a length": lambda _: Sized(),
    "a generator": lambda _: (part for part in (b"one", b"", BYTES, "zwölf")),
    "a generator of nothing": lambda _: iter(()),
}

OF_HTTP = [*BODIES]
# Locust's client cannot send the others: it says a wrong length, or finds no way to send them.
OF_FAST = [
    "a file",
    "bytes as a file",
    "a short file",
    "a file without a length",
    "a generator",
    "a generator of nothing",
]


@contextlib.contextmanager
def _server(kind: str, certificate: tuple[str, str], **answers: Any) -> Iterator[RecordingServer]:
    context = None
    if kind == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
    with RecordingServer({f"/{name}": it for name, it in answers.items()}, context=context) as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "body.bin"
    path.write_bytes(BYTES)
    return path


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_http_user_sends_what_requests_sends(
    scheme: str, session_bench: SessionBench, path: Path, certificate: tuple[str, str]
) -> None:
    with _server(scheme, certificate) as server:
        ours, theirs = session_bench.http(server.url), oracle()
        ours.verify = theirs.verify = certificate[0]
        for name in OF_HTTP:
            for session in (ours, theirs):
                url = f"{server.url}/{name.replace(' ', '-')}"
                assert _post(lambda body: session.post(url, data=body), name, path).status_code == 200, name  # noqa: B023
            mine, other = server.got[-2:]
            assert (mine.method, mine.target, mine.body) == (other.method, other.target, other.body), name
            assert mine.headers == other.headers, name
        assert len({each.connection for each in server.got}) == 2, "each client has kept its connection"
    assert {outcome for _, _, outcome in session_bench.counts} == {"success"}


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_fast_http_user_sends_what_locusts_client_sends(
    scheme: str, session_bench: SessionBench, path: Path, certificate: tuple[str, str]
) -> None:
    with _server(scheme, certificate) as server:
        ours = session_bench.fast(server.url)
        theirs = UserAgent(insecure=True, ssl_context_factory=insecure_ssl_context_factory)
        for name in OF_FAST:
            assert _post(lambda body: ours.post("/x", data=body), name, path).status_code == 200
            _post(lambda body: theirs.urlopen(f"{server.url}/x", "POST", payload=body), name, path)
            mine, other = server.got[-2:]
            assert mine.body == other.body, name
            for header in ("content-length", "transfer-encoding", "content-type"):
                assert mine.header(header) == other.header(header), name
        theirs.close()
    assert {outcome for _, _, outcome in session_bench.counts} == {"success"}


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_files_of_a_form_are_encoded_as_requests_does(
    kind: str, session_bench: SessionBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = tmp_path / "large file.bin"
    large.write_bytes(BYTES * 6)
    monkeypatch.setattr(urllib3.filepost, "choose_boundary", lambda: "b" * 32)

    with RecordingServer() as server:
        session = getattr(session_bench, kind)(server.url)
        for each in (session, oracle()):
            with large.open("rb") as first, large.open("rb") as second:
                files: list[Any] = [
                    ("first", ("näme.bin", first, "image/png", {"X-Own": "1"})),
                    ("second", second),
                    ("small", ("a.txt", "text")),
                    ("bytes", io.BytesIO(BYTES * 5)),
                    ("the same", ("other", second)),
                    ("later", ("later", _later(io.BytesIO(BYTES)))),
                ]
                assert large_form(files) is not None
                response = each.post(f"{server.url}/x", files=files, data={"field": ["one", "zwei"]})
            assert response.status_code == 200
        mine, other = server.got
    assert mine.body == other.body
    assert mine.header("content-type") == other.header("content-type")
    if kind == "http":
        assert mine.headers == other.headers


def test_small_files_of_a_form_and_those_for_a_signature_are_left_to_requests(
    session_bench: SessionBench, tmp_path: Path
) -> None:
    seen = []

    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        seen.append(request.body)
        return request

    assert large_form({"f": io.BytesIO(b"small"), "g": b"x" * 2 * LARGE}) is None
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2 * LARGE)
    with RecordingServer() as server, path.open("rb") as file:
        session_bench.http(server.url).post("/x", files={"f": file}, auth=sign)
    assert len(seen[0]) == len(server.got[0].body)


class Early:
    """A server that answers as soon as it has a head, and then reads this many bytes of the body."""

    def __init__(self, response: bytes, reads: int = 0) -> None:
        self._response, self._reads = response, reads
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self._stop = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Early:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            while line := stream.readline():
                if line == b"\r\n":
                    connection.sendall(self._response)
                    stream.read(self._reads)
                    # Without a reset, which could overtake the response.
                    self._stop.wait(LIMIT)
                    return


def _endless(made: list[int]) -> Iterator[bytes]:
    for number in itertools.count():
        made.append(number)
        yield b"x" * BLOCK


@pytest.mark.parametrize("kind", ["http", "fast"])
@pytest.mark.parametrize("status", [413, 401, 200])
def test_an_early_answer_ends_the_exchange_and_the_rest_is_not_sent(
    kind: str, status: int, session_bench: SessionBench
) -> None:
    made: list[int] = []
    with Early(answer(status, b"enough")) as server:
        session = getattr(session_bench, kind)(server.url)
        response = session.post("/x", data=_endless(made))
        assert (response.status_code, response.content) == (status, b"enough")
        assert session.post("/x", data=_endless(made)).status_code == status
        assert server.connections == 2, "the first one was in the middle of a request"
    outcome = "success" if status == 200 else "http"
    assert session_bench.counts == {("POST", "/x", outcome): 2}


class Broken(io.BytesIO):
    """A file whose disk breaks."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= BLOCK:
            raise OSError(5, "Input/output error")
        return super().read(size)


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_file_that_cannot_be_read_fails_its_request_as_with_requests(kind: str, session_bench: SessionBench) -> None:
    with RecordingServer() as server:
        session = getattr(session_bench, kind)(server.url)
        response = session.post("/x", data=Broken(BYTES))
        assert response.status_code == 0
        if kind == "http":
            with pytest.raises(requests.ConnectionError) as caught:
                oracle().post(f"{server.url}/x", data=Broken(BYTES))
            assert repr(response.error) == repr(caught.value)
        assert session.post("/x", data=b"fine").status_code == 200
    assert session_bench.counts == {("POST", "/x", "reset"): 1, ("POST", "/x", "success"): 1}
    assert session_bench.failures == [("reset", "OSError(5, 'Input/output error')")]
    assert sum(each.bytes_out for each in session_bench.recorded) > BLOCK


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_an_error_of_a_generator_is_one_of_the_task(kind: str, session_bench: SessionBench) -> None:
    def failing() -> Iterator[bytes]:
        yield b"one"
        raise KeyError("mine")

    with RecordingServer() as server:
        session = getattr(session_bench, kind)(server.url)
        for body, error in ((failing(), KeyError), (iter([5]), TypeError)):
            with pytest.raises(error):
                session.post("/x", data=body)
        assert session.post("/x", data=iter([b"fine"])).status_code == 200
    assert session_bench.counts == {("POST", "/x", "unanswered"): 2, ("POST", "/x", "success"): 1}


@pytest.mark.parametrize("kind", ["http", "fast"])
@pytest.mark.parametrize("content", [b"x" * 10, b"x" * 30])
def test_a_body_of_another_length_than_it_says_is_an_error_that_says_so(
    kind: str, content: bytes, session_bench: SessionBench
) -> None:
    class Wrong(io.BytesIO):
        def __len__(self) -> int:
            return 20

    with RecordingServer() as server:
        response = getattr(session_bench, kind)(server.url).post("/x", data=Wrong(content))
        assert response.status_code == 0
        # The server may have seen that the connection ended within the body.
        assert not any(len(request.body) == 20 for request in server.got)
    said = "has ended after 10 of the 20 bytes of" if len(content) == 10 else "has more than the 20 bytes that"
    assert session_bench.failures[0][0] == "reset"
    assert f"the body of the request {said} its Content-Length" in session_bench.failures[0][1]


@pytest.mark.parametrize("kind", ["http", "fast"])
@pytest.mark.parametrize("files", [False, True])
def test_a_redirect_sends_the_file_again(kind: str, files: bool, session_bench: SessionBench) -> None:
    content = BYTES * 5 if files else BYTES
    with RecordingServer({"/x": answer(307, b"", (("Location", "/end"),))}) as server:
        file = _later(io.BytesIO(content))
        body: dict[str, Any] = {"files": {"f": file}} if files else {"data": file}
        assert getattr(session_bench, kind)(server.url).post("/x", **body).status_code == 200
        first, second = server.got
    assert (second.target, second.body) == ("/end", first.body)
    assert len(second.body) > len(content[7:]) - 1


def test_what_cannot_be_rewound_is_as_with_requests(session_bench: SessionBench) -> None:
    with RecordingServer({"/x": answer(308, b"", (("Location", "/end"),))}) as server:
        ours, theirs = session_bench.http(server.url), oracle()
        # Both send what is left of a generator: nothing.
        for session in (ours, theirs):
            assert session.post(f"{server.url}/x", data=iter([b"one"])).status_code == 200
        assert [each.body for each in server.got] == [b"3\r\none\r\n0\r\n\r\n", b"0\r\n\r\n"] * 2
        assert isinstance(ours.post("/x", data=Unseekable(b"one")).error, requests.exceptions.UnrewindableBodyError)
        with pytest.raises(requests.exceptions.UnrewindableBodyError):
            theirs.post(f"{server.url}/x", data=Unseekable(b"one"))
        failed = session_bench.fast(server.url).post("/x", data=iter([b"one"]))
        assert isinstance(failed.error, requests.exceptions.UnrewindableBodyError)


def test_authentication_sends_the_file_again(session_bench: SessionBench) -> None:
    challenge = answer(401, b"", (("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"'),))
    with RecordingServer({"/x": lambda got: answer() if got.header("authorization") else challenge}) as server:
        for files in (False, True):
            file = io.BytesIO(BYTES * 5)
            body: dict[str, Any] = {"files": {"f": file}} if files else {"data": file}
            session = session_bench.http(server.url)
            assert session.post("/x", auth=HTTPDigestAuth("me", "pass"), **body).status_code == 200
            first, second = server.got[-2:]
            assert second.body == first.body


def test_a_retry_rewinds_the_file(session_bench: SessionBench) -> None:
    bodies: list[bytes] = []

    def failing_once(got: Any) -> bytes | None:
        bodies.append(got.body)
        return answer() if len(bodies) > 1 else ClosingAnswer(answer(503, headers=(("Connection", "close"),)))

    with RecordingServer({"/x": failing_once}) as server:
        session = session_bench.http(server.url)
        retry = urllib3.Retry(total=1, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
        assert session.post("/x", data=io.BytesIO(b"again")).status_code == 200
    assert bodies == [b"again", b"again"]


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_other_users_run_while_a_body_is_sent_and_a_body_may_wait_for_them(
    kind: str, session_bench: SessionBench
) -> None:
    with RecordingServer() as server:
        session = getattr(session_bench, kind)(server.url)

        def nested() -> Iterator[bytes]:
            yield b"one"
            assert session.get("/inner").status_code == 200
            gevent.sleep(0.01)
            yield b"two"

        first, second = (gevent.spawn(session.post, "/outer", data=nested()) for _ in range(2))
        gevent.joinall([first, second], raise_error=True)
        assert [first.value.status_code, second.value.status_code] == [200, 200]
        outer = [each.body for each in server.got if each.target == "/outer"]
    assert outer == [b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"] * 2


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_user_that_is_stopped_leaves_its_upload(kind: str, session_bench: SessionBench) -> None:
    made: list[int] = []
    with Early(b"") as server:
        user = gevent.spawn(getattr(session_bench, kind)(server.url).post, "/x", data=_endless(made))
        with pytest.raises(gevent.Timeout), gevent.Timeout(0.5):
            user.get()
        user.kill()
        count = len(made)
        gevent.sleep(0.01)
        assert count == len(made) < 10_000, "the server reads nothing"
    assert session_bench.counts == {("POST", "/x", "unanswered"): 1}


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_server_that_takes_no_more_runs_into_the_timeout(kind: str, session_bench: SessionBench) -> None:
    with Early(b"") as server:
        settings = {} if kind == "http" else {"network_timeout": 0.2}
        session = getattr(session_bench, kind)(server.url, **settings)
        arguments = {"timeout": (5, 0.2)} if kind == "http" else {}
        assert session.post("/x", data=_endless([]), **arguments).status_code == 0
    assert session_bench.counts == {("POST", "/x", "timeout"): 1}


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_streamed_response_may_begin_before_the_body_has_ended(kind: str, session_bench: SessionBench) -> None:
    body = b"x" * BLOCK * 3
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with Early(head + b"early", reads=len(body)) as server:
        session = getattr(session_bench, kind)(server.url)
        with session.post("/x", data=io.BytesIO(body), stream=True, catch_response=True) as response:
            assert response.status_code == 200
            assert response.raw.read(5) == b"early"


def test_a_request_that_expects_100_sends_its_file_after_it(session_bench: SessionBench) -> None:
    with RecordingServer() as server:
        session = session_bench.http(server.url)
        response = session.post("/x", data=io.BytesIO(BYTES), headers={"Expect": "100-continue"})
        assert response.status_code == 200
        assert server.got[0].body == BYTES


def test_a_file_on_a_pipe_is_sent_while_it_is_written(session_bench: SessionBench) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    with RecordingServer() as server, os.fdopen(reading, "rb") as pipe:
        assert session_bench.http(server.url).post("/x", data=pipe).status_code == 200
        assert server.got[0].body == b"4\r\ntext\r\n0\r\n\r\n"
