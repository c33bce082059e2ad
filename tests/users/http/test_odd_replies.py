"""What curl and requests read of odd replies is read here."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import requests
from tests.users.http.odd_replies import REPLIES
from tests.users.http.oracle import oracle
from tests.users.recording_server import ClosingAnswer, RecordingServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.users.conftest import SessionBench

CURL = shutil.which("curl")

REFUSED = {
    "a length with a plus": "RFC 9112 §6.3: a length that is no number is an error that a client cannot mend",
    "a length with a fraction": "the same",
    "a length with a unit": "the same",
    "gzip that is cut": "a part of the data is missing: the request has failed",
    "deflate that is cut": "the same",
    "deflate without its checksum": "zlib does not tell whether data are missing",
}
"""What curl and requests read, and is a failure here, with the reason."""


@pytest.fixture(scope="module")
def server() -> Iterator[RecordingServer]:
    answers = {f"/{number}": ClosingAnswer(reply) for number, reply in enumerate(REPLIES.values())}
    with RecordingServer(dict(answers)) as server:
        yield server


def _by_curl(url: str) -> tuple[int, bytes] | None:
    assert CURL is not None
    words = [CURL, "--silent", "--compressed", "--max-time", "20", "--write-out", "\n%{http_code}", url]
    done = subprocess.run(words, capture_output=True, check=False)
    body, _, status = done.stdout.rpartition(b"\n")
    return None if done.returncode else (int(status), body)


def _by_requests(url: str) -> tuple[int, bytes] | None:
    try:
        response = oracle().get(url, timeout=20)
    except requests.RequestException:
        return None
    return response.status_code, response.content


@pytest.mark.skipif(CURL is None, reason="there is no curl")
@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_as_curl_and_requests_read_it(
    name: str, session_bench: SessionBench, server: RecordingServer
) -> None:
    url = f"{server.url}/{list(REPLIES).index(name)}"
    curl, theirs = _by_curl(url), _by_requests(url)
    with session_bench.http(server.url).get(url, catch_response=True) as response:
        ours = (response.status_code, response.content or b"") if response.error is None else None
        response.success()
    if name in REFUSED:
        assert (ours, curl, theirs) == (None, curl or (), theirs or ())
    elif (curl is None) == (theirs is None):
        # Two clients that read it differently leave the choice.
        assert ours in (curl, theirs)
    else:
        assert ours in (curl, theirs, None)


def test_headers_are_those_of_requests(session_bench: SessionBench, server: RecordingServer) -> None:
    """Control characters become blanks (RFC 9110 §5.5)."""
    session = session_bench.http(server.url)
    for name, expected in (
        ("a blank before the colon", "a"),
        ("a folded line", "a   b"),
        ("a value with a tab", "a\tb"),
        ("a value with a control character", "a b"),
        ("a value in Latin-1", "ü"),
        ("an empty value", ""),
    ):
        assert session.get(f"/{list(REPLIES).index(name)}").headers["X"] == expected, name
