from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving

from plimsoll.outputs.kinds import parse_target
from plimsoll.outputs.output import OutputError
from plimsoll.outputs.transports import (
    DATAGRAM_BYTES,
    FileTransport,
    HttpTransport,
    RetryError,
    UdpTransport,
    datagrams,
    http_headers,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_datagrams_have_whole_lines() -> None:
    lines = b"".join(b"%04d %s\n" % (number, b"x" * 100) for number in range(100))
    pieces = datagrams(lines)
    assert b"".join(pieces) == lines
    assert all(len(piece) <= DATAGRAM_BYTES and piece.endswith(b"\n") for piece in pieces)
    assert datagrams(b"y" * 5000 + b"\na\n") == [b"y" * 5000 + b"\n", b"a\n"]


def test_lines_arrive_over_udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10.0)
        transport = UdpTransport("127.0.0.1", receiver.getsockname()[1])
        transport.reach()
        transport.send(b"a 1\nb 2\n")
        transport.close()
        assert receiver.recv(2000) == b"a 1\nb 2\n"


def test_a_user_in_a_url_is_basic_authentication() -> None:
    with receiving() as receiver:
        transport = HttpTransport(receiver.url.replace("//", "//ann:p%40ss@"), "text/plain")
        transport.send(b"x")
        transport.close()
    _, headers, _ = receiver.requests[0]
    assert headers["Authorization"] == "Basic YW5uOnBAc3M="


def test_headers_may_be_several() -> None:
    settings = parse_target("jsonl=http://h/,header=X-Scope-OrgID: team 7,header=Authorization: Bearer abc").settings
    assert http_headers(settings) == {"X-Scope-OrgID": "team 7", "Authorization": "Bearer abc"}


def test_a_certificate_is_checked(certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(certificate=certificate) as receiver:
        transport = HttpTransport(receiver.url, "text/plain")
        with pytest.raises(RetryError, match="the certificate of the receiver is not accepted: self"):
            transport.reach()
        # Where those of the system come from.
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        transport = HttpTransport(receiver.url, "text/plain")
        transport.reach()
        transport.send(b"x")
        transport.close()
    assert receiver.body == b"x"


def test_a_reader_that_is_gone_is_no_reason_to_try_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    transport = FileTransport(str(pipe))
    transport.send(b"a\n")
    assert os.read(reader, 10) == b"a\n"
    os.close(reader)
    with pytest.raises(OutputError, match="nobody reads it any more"):
        transport.send(b"b\n")
    transport.close()


def test_a_full_disk_is_a_reason_to_try_again() -> None:
    transport = FileTransport("/dev/full")
    transport.reach()
    with pytest.raises(RetryError, match="No space left"):
        transport.send(b"a\n")
    transport.close()
