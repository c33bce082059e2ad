"""Sessions by way of a SOCKS 5 proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.socks_proxy import PROGRAM, USER, proxy
from tests.users.recording_server import RecordingServer

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


@pytest.mark.skipif(PROGRAM is None, reason="microsocks is not installed")
def test_sessions_take_a_proxy_as_requests_does(session_bench: SessionBench) -> None:
    with RecordingServer() as server, proxy(*USER) as port:
        session = session_bench.http(server.url)
        session.proxies = {"all": f"socks5h://me:p%40ss7w0rd@127.0.0.1:{port}"}
        assert session.get("/a?b=1").status_code == 200
        assert session.get("/c", proxies={"http": f"socks5://me:wrong@127.0.0.1:{port}"}).status_code == 0
    assert [(got.target, got.header("Proxy-Authorization")) for got in server.got] == [("/a?b=1", None)]
    assert "the proxy refused the user or the password" in session_bench.failures[0][1]
