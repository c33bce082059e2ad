from __future__ import annotations

import socket
from pathlib import Path

import pytest

from plimsoll.experiment import ports
from plimsoll.experiment.cell_values import CellError


def test_a_port_is_free_and_not_one_that_outgoing_connections_get() -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    found = {ports.free_port() for _ in range(5)}
    assert len(found) > 1
    assert not any(low <= port <= high for port in found)
    for port in found:
        socket.create_server(("127.0.0.1", port)).close()


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not ports.is_free(port)
    assert ports.is_free(port)


def test_without_room_beside_the_ephemeral_ports_one_of_them_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_ephemeral", lambda: (ports.LOWEST, ports.HIGHEST))
    assert ports.LOWEST <= ports.free_port() <= ports.HIGHEST


def test_when_none_is_free_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _: False)
    with pytest.raises(CellError, match="none of 200 ports"):
        ports.free_port()
