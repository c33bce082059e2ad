"""Single calls of gRPC, apart from a run."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from tests.grpc_server import SERVICE

from plimsoll._engine import AllowedHosts, Origin
from plimsoll.run.grpc_call import CallResult, call

if TYPE_CHECKING:
    from tests.grpc_server import GrpcServer

SOON_S = 20.0


def origin(place: str) -> Origin:
    return Origin(f"http://{place}", http2=True)


def test_an_answer_has_its_status_and_its_messages(grpc_server: GrpcServer) -> None:
    where = origin(grpc_server.place)
    messages = [grpc_server.request(text=text).SerializeToString() for text in ("a", "b")]
    answer = call(where, f"{SERVICE}/Chat", messages, SOON_S, headers=[("x-a", "1")])
    replies = [grpc_server.reply.FromString(each) for each in answer.messages]
    assert (answer.wrong, answer.code, [each.text for each in replies]) == ("", "OK", ["a", "b"])
    assert replies[0].metadata == ["x-a: 1"]

    failing = call(where, f"{SERVICE}/Say", [grpc_server.request(code=5, text="it").SerializeToString()], SOON_S)
    assert (failing.fault, failing.code) == ("", "NOT_FOUND")
    assert failing.wrong == "NOT_FOUND: requested: 100 % of it"
    assert CallResult(code="INTERNAL").wrong == "INTERNAL"


def test_no_answer_is_a_fault(grpc_server: GrpcServer) -> None:
    elsewhere = AllowedHosts([(["10.0.0.0/8"], "the list")])
    answer = call(origin(grpc_server.place), f"{SERVICE}/Say", [b""], SOON_S, allowed=elsewhere)
    assert answer == CallResult("not allowed: 127.0.0.1 is not in the list")
    assert grpc_server.counts.total() == 0
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
    assert call(origin(place), f"{SERVICE}/Say", [b""], SOON_S).wrong == "Connection refused"
    with pytest.raises(ValueError, match="header"):
        call(origin(place), f"{SERVICE}/Say", [b""], SOON_S, headers=[("x a", "1")])
