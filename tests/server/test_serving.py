from __future__ import annotations

import logging
import socket
import subprocess
import threading
import time

import psutil
import pytest
import requests
from tests.server.page_server import FakeControl, serve_page, wait_until

from plimsoll.errors import UsageError
from plimsoll.server.app import make_app
from plimsoll.server.live.live import Live
from plimsoll.server.security.access import Access
from plimsoll.server.serving import EXIT_TIMEOUT_S, PageServer
from plimsoll.store import Store


def app(**more):
    return make_app(**{"store": ":none:", "live": None, "control": None, "access": Access(), **more})


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")

    def make(name, *more):
        files = str(folder / f"{name}.pem"), str(folder / f"{name}.key")
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "2", "-subj", "/CN=127.0.0.1"]
        command += ["-addext", "subjectAltName=IP:127.0.0.1", *more, "-out", files[0], "-keyout", files[1]]
        subprocess.run(command, check=True, capture_output=True)
        return files

    return {
        "own": make("own", "-nodes"),
        "other": make("other", "-nodes"),
        "encrypted": make("encrypted", "-passout", "pass:x"),
    }


def test_the_address_is_that_of_the_page():
    with serve_page(Live(), FakeControl()) as page:
        assert page.url.startswith("http://127.0.0.1:")
        assert page.json("api/state")["mode"] == "run"
    with serve_page(Live(), FakeControl(), base_path="/load/test/") as page:
        assert page.url.endswith("/load/test/")
        assert page.json("api/state")["mode"] == "run"


def test_an_address_of_all_is_shown_as_one_that_can_be_asked():
    with serve_page(host="0.0.0.0", access=Access("0.0.0.0", "a-token-for-tests")) as page:
        assert page.url.startswith("http://127.0.0.1:")


def test_ipv6_is_served():
    with serve_page(host="::1", access=Access("::1")) as page:
        assert page.url.startswith("http://[::1]:")
        assert page.json("api/state")["mode"] == "serve"


def test_a_port_that_is_taken_is_said():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"cannot serve the page at 127\.0\.0\.1:{port}: Address already in use"):
            PageServer(app(), "127.0.0.1", port).start()


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("192.0.2.1", 0, "cannot serve the page at 192.0.2.1:0: Cannot assign requested address"),
        ("no.such.host.invalid", 0, "--web-host no.such.host.invalid: no such address"),
        ("127.0.0.1", 65536, "--web-port 65536: must be 0 to 65535"),
        ("127.0.0.1", -1, "--web-port -1: must be 0 to 65535"),
    ],
)
def test_an_address_that_cannot_be_is_said(host, port, words):
    with pytest.raises(UsageError, match=words.replace(".", r"\.")):
        PageServer(app(), host, port).start()


def test_the_thread_and_the_port_are_free_after_the_end():
    with serve_page(Live(), FakeControl()) as page:
        port = page.server_address[1]
        assert any(each.name == "page" for each in threading.enumerate())
        page.server.stop()
        page.server.stop()
        wait_until(lambda: not any(each.name == "page" for each in threading.enumerate()))
        socket.create_server(("127.0.0.1", port)).close()


def test_the_store_is_opened_by_the_first_who_asks_and_closed_at_the_end(tmp_path):
    file = tmp_path / "plimsoll.db"
    Store.open(str(file)).close()

    def is_open() -> bool:
        return str(file) in {each.path for each in psutil.Process().open_files()}

    with serve_page(store=str(file)) as page:
        assert not is_open()
        assert page.json("api/runs")["runs"] == []
        assert page.json("api/experiments")["experiments"] == []
        assert is_open()
        page.server.stop()
        assert not is_open()


def test_the_end_does_not_wait_for_those_who_do_not_read():
    live = Live()
    with serve_page(live, FakeControl()) as page, socket.create_connection(page.server_address) as stuck:
        stuck.sendall(b"GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: live.is_watched)
        began = time.monotonic()
        page.server.stop()
        assert time.monotonic() - began < EXIT_TIMEOUT_S + 30, "not for ever"


def test_a_server_that_was_never_started_can_be_stopped():
    PageServer(app(), "127.0.0.1", 0).stop()


def test_nothing_is_logged_about_who_asks_for_what(caplog):
    caplog.set_level(logging.DEBUG)
    with serve_page(Live(), FakeControl()) as page:
        page.get("api/state?token=hunter2")
        page.get("nothing?token=hunter2")
    assert not [each for each in caplog.records if "hunter2" in each.getMessage() and "urllib3" not in each.name]


def test_the_page_is_served_with_tls(tls):
    cert, key = tls["own"]
    with serve_page(Live(), FakeControl(), tls_cert=cert, tls_key=key) as page:
        page.verify = cert
        assert page.url.startswith("https://127.0.0.1:")
        assert page.json("api/state")["mode"] == "run"
        with page.stream() as stream:
            assert stream.moment()["is_whole"]
        with pytest.raises(requests.ConnectionError):
            requests.get(page.url.replace("https", "http"), timeout=60)


def test_a_session_over_tls_is_for_tls_only(tls):
    cert, key = tls["own"]
    with serve_page(
        Live(), FakeControl(), tls_cert=cert, tls_key=key, access=Access(token="a-token-for-tests")
    ) as page:
        page.verify = cert
        form = {"token": "a-token-for-tests"}
        assert "Secure" in page.ask("post", "login", data=form, allow_redirects=False).headers["Set-Cookie"]


def test_tls_files_that_do_not_do_are_named(tls, tmp_path):
    (cert, key), (_, other), (locked, locked_key) = tls["own"], tls["other"], tls["encrypted"]
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("no certificate")
    wrong = [
        (cert, None, "TLS needs both files"),
        (None, key, "TLS needs both files"),
        (str(tmp_path / "missing"), key, "--tls-cert .*missing: cannot be read: No such file"),
        (cert, str(tmp_path / "missing"), "--tls-key .*missing: cannot be read: No such file"),
        (cert, other, "--tls-key .*other.key: is not the key of"),
        (str(nothing), key, "not a certificate and its key in PEM"),
        (cert, str(nothing), "not a certificate and its key in PEM"),
        (locked, locked_key, "--tls-key .*encrypted.key: is encrypted"),
    ]
    for each_cert, each_key, words in wrong:
        with pytest.raises(UsageError, match=words):
            PageServer(app(), "127.0.0.1", 0, each_cert, each_key).start()
