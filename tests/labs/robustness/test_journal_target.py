"""The target of trials by HTTP/2 answers what is asked, and prints no errors."""

import socket
import subprocess
import sys
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event, StreamEnded
from labs.truth.target_process import ROOT

HEAD = [(":method", "POST"), (":path", "/x"), (":scheme", "http"), (":authority", "a")]


def ask(client: H2Connection, connection: socket.socket, stream: int) -> None:
    client.send_headers(stream, HEAD)
    client.send_data(stream, b"body", end_stream=True)
    connection.sendall(client.data_to_send())


def wait_for_answer(client: H2Connection, connection: socket.socket, stream: int) -> None:
    seen: list[Event] = []
    while not any(isinstance(each, StreamEnded) and each.stream_id == stream for each in seen):
        data = connection.recv(65536)
        assert data, "the target closed the connection"
        seen += client.receive_data(data)


def test_a_cancelled_request_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "labs.robustness.journal_target", "h2", "none", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        host, port = process.stdout.readline().strip().split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            client = H2Connection(H2Configuration(client_side=True))
            client.initiate_connection()
            ask(client, connection, 1)
            client.reset_stream(1, ErrorCodes.CANCEL)
            # Answered after the first one would have been.
            ask(client, connection, 3)
            wait_for_answer(client, connection, 3)
        process.kill()
        _, errors = process.communicate()
    assert errors == ""
