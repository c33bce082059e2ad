from __future__ import annotations

import resource
import socket
import threading

import pytest

from plimsoll.run import calibration
from plimsoll.run.calibration import ANSWER, NATIVE, PYTHON, answer_all, calibrate, requests_per_second


@pytest.mark.parametrize("kind", [NATIVE, PYTHON])
def test_a_worker_is_measured_with_each_kind_of_user(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCUST_USERS", "nonsense")  # of the user's own runs
    monkeypatch.setattr(calibration, "TIMEOUT_S", 300)
    rate = requests_per_second(kind)
    assert rate is not None
    assert 100 < rate < 10_000_000


def test_what_limits_the_connections_of_this_machine_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.run.calibration.requests_per_second", lambda kind: 1.0)
    found = calibrate()
    assert (found["native"], found["python"]) == (1.0, 1.0)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert found["open_files"] == (None if hard == resource.RLIM_INFINITY else hard)
    assert found["ports"] is None or 0 < found["ports"] <= 65_536


def test_the_server_answers_all_requests_of_a_connection_and_goes_on_after_its_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer_all, args=(listener,), daemon=True).start()
        for _ in range(2):
            with socket.create_connection(listener.getsockname(), timeout=10) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 3)
                got = b""
                while len(got) < 3 * len(ANSWER):
                    got += connection.recv(4096)
                assert got == ANSWER * 3
