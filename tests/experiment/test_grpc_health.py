"""Targets that are asked by gRPC whether they serve."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.grpc_server import GrpcServer

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.health import ask_grpc, wait_until_healthy
from plimsoll.experiment.spec import Healthy

SOON_S = 20.0


@pytest.mark.parametrize(
    ("service", "wrong"),
    [
        ("", ""),
        ("shop", ""),
        ("slow", "grpc.health.v1.Health/Check: NOT_SERVING"),
        ("other", "grpc.health.v1.Health/Check: NOT_FOUND: unknown service"),
        (None, ""),
    ],
)
def test_a_service_is_healthy_if_it_says_that_it_serves(
    grpc_server: GrpcServer, service: str | None, wrong: str
) -> None:
    grpc_server.health = {b"": 1, b"shop": 1, b"slow": 2}
    assert ask_grpc(f"grpc://{grpc_server.place}", service, SOON_S) == wrong
    assert ask_grpc(f"http://{grpc_server.place}", service, SOON_S) == wrong


def test_nobody_there_is_a_reason_and_so_is_a_server_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"grpc://127.0.0.1:{listener.getsockname()[1]}"
        assert ask_grpc(place, "", 0.1).startswith("grpc.health.v1.Health/Check: no ")
    assert ask_grpc(place, "", SOON_S) == "grpc.health.v1.Health/Check: Connection refused"


def test_certificates_are_not_checked(certificate: tuple[str, str]) -> None:
    chain, key = (Path(each).read_bytes() for each in certificate)
    server = GrpcServer((key, chain))
    assert ask_grpc(f"grpcs://{server.place}", None, SOON_S) == ""
    server.close()


def test_a_target_is_asked_until_it_serves(grpc_server: GrpcServer) -> None:
    grpc_server.health = {b"": 2}

    def serve(_: float) -> None:
        grpc_server.health = {b"": 1}

    url = f"grpc://{grpc_server.place}"
    wait_until_healthy(Healthy(grpc="", within=SOON_S), url, None, sleep=serve)
    assert grpc_server.health == {b"": 1}


def test_without_a_way_to_ask_a_target_of_grpc_must_answer(grpc_server: GrpcServer) -> None:
    wait_until_healthy(Healthy(within=SOON_S), f"grpc://{grpc_server.place}", None)
    grpc_server.close()
    with pytest.raises(CellError, match=r"the target is not healthy after 0\.1 s: grpc\.health\.v1\.Health/Check: "):
        wait_until_healthy(Healthy(within=0.1), f"grpc://{grpc_server.place}", None)
