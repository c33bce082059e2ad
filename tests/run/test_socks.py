"""Plans and locustfiles by way of a real SOCKS 5 proxy (microsocks)."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING

import pytest
from tests.run.http2_servers import SERVERS, running
from tests.run.joined import free_port
from tests.socks_proxy import PASSWORD, PROGRAM, USER, proxy
from tests.users.recording_server import RecordingServer

if TYPE_CHECKING:
    from tests.command import Command

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="microsocks is not installed")

PLAN = """
http2 = {http2}
[target]
url = "{url}"
verify = false
proxy = "{proxy}"
[[request]]
get = "/item/${{iteration}}"
[[phase]]
users = 3
[stop]
iterations = 30
"""


def _run(plimsoll: Command, url: str, proxy_url: str, *options: str, http2: bool = False) -> dict[str, object]:
    plimsoll.write(PLAN.format(url=url, proxy=proxy_url, http2=str(http2).lower()), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "--summary", "-", *options)
    assert PASSWORD not in done.out + done.err
    summary: dict[str, object] = json.loads(done.out)
    return summary


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_each_request_of_a_plan_reaches_its_target(
    plimsoll: Command, certificate: tuple[str, str], scheme: str, secure: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if secure else None
    if context:
        context.load_cert_chain(*certificate)
    with RecordingServer(context=context) as server, proxy(*USER) as port:
        url = server.url.replace("127.0.0.1", "localhost")
        total = _run(plimsoll, url, f"{scheme}://me:p%40ss7w0rd@127.0.0.1:{port}")["total"]
    assert isinstance(total, dict)
    assert (total["requests"], total["failures"]) == (30, 0)
    assert len(server.got) == 30
    # Plain requests go through the tunnel as to the target itself.
    assert {got.header("Host") for got in server.got} == {f"localhost:{server.port}"}
    assert all(got.target.startswith("/item/") and got.header("Proxy-Authorization") is None for got in server.got)


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_http2_goes_through_the_tunnel(plimsoll: Command, certificate: tuple[str, str], secure: bool) -> None:
    if SERVERS["nginx"][1] is None:
        pytest.skip("nginx is not installed")
    with running("nginx", certificate) as urls, proxy() as port:
        total = _run(plimsoll, urls[secure], f"socks5h://127.0.0.1:{port}", http2=True)["total"]
    assert isinstance(total, dict)
    assert (total["requests"], total["failures"]) == (30, 0)


def test_a_refusal_is_a_failure_to_connect_in_the_words_of_the_proxy(plimsoll: Command) -> None:
    with proxy(*USER) as port:
        for user, url, message in (
            ("", "http://127.0.0.1:1", "the proxy wants a user and a password"),
            ("me:wrong@", "http://127.0.0.1:1", "the proxy refused the user or the password (code "),
            ("me:p%40ss7w0rd@", f"http://127.0.0.1:{free_port()}", "the proxy refused with code 5: connection refused"),
        ):
            summary = _run(plimsoll, url, f"socks5h://{user}127.0.0.1:{port}")
            failures = summary["failures"]
            assert isinstance(failures, list)
            assert {failure["outcome"] for failure in failures} == {"connect"}, user
            assert all(message in failure["message"] for failure in failures), failures


def test_the_password_of_a_proxy_is_in_no_description(plimsoll: Command) -> None:
    with proxy() as port:
        text = PLAN.format(url="http://127.0.0.1:1", proxy=f"socks5h://me:{PASSWORD}@127.0.0.1:{port}", http2="false")
        plimsoll.write(text, "plan.toml")
        for more in ((), ("--summary", "-")):
            done = plimsoll("run", "plan.toml", "--dry-run", *more)
            assert (done.code, PASSWORD in done.out + done.err) == (0, False), done
            assert f"socks5h://me:***@127.0.0.1:{port}" in done.out
        plimsoll("run", "plan.toml", "--headless")
        shown = plimsoll("show", "1", "--format", "json")
    assert PASSWORD not in shown.out
    assert PASSWORD.encode() not in plimsoll.store.read_bytes()


def test_allowed_hosts_hold_for_the_proxy_and_behind_it(plimsoll: Command) -> None:
    with RecordingServer() as server, proxy() as port:
        for scheme, host, allowed, refusal in (
            ("socks5h", "localhost", "127.0.0.0/8", "localhost (behind a proxy, so by name only)"),
            ("socks5", "localhost", "192.0.2.0/24", "the proxy 127.0.0.1"),
            ("socks5", "192.0.2.1", "127.0.0.0/8", "192.0.2.1"),
            ("socks5", "localhost", "127.0.0.0/8,::1", None),
            ("socks5h", "localhost", "127.0.0.0/8,localhost", None),
        ):
            url = f"http://{host}:{server.port}"
            plimsoll.write(PLAN.format(url=url, proxy=f"{scheme}://127.0.0.1:{port}", http2="false"), "plan.toml")
            done = plimsoll("run", "plan.toml", "--headless", "--allow-hosts", allowed)
            assert done.code == (0 if refusal is None else 2), done
            assert refusal is None or f"not allowed: {refusal}" in done.err, done
    assert len(server.got) == 60
