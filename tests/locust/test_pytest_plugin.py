"""Locust's fixtures in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TESTS = """
from locust.clients import HttpSession
from locust.contrib.fasthttp import FastHttpSession

def test_plain(session: HttpSession):
    assert type(session) is HttpSession
    assert session.get("/").text == "hello"

def test_fast(fastsession: FastHttpSession):
    assert type(fastsession) is FastHttpSession
    with fastsession.get("/", catch_response=True) as response:
        assert response.text == "hello"

def test_failing(session):
    session.get("/missing").raise_for_status()
"""
WAYS = {
    "plimsoll python": ["-c", "from plimsoll.cli import main; main()", "python", "-m", "pytest"],
    "the plugin": ["-m", "pytest", "-p", "plimsoll.locust.pytest_plugin"],
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"hello" if self.path == "/" else b"gone"
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def tests(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    (tmp_path / "test_shop.py").write_text(TESTS)

    def run(*arguments: str, way: str = "plimsoll python") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *WAYS[way], "-q", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)

    return run


@pytest.mark.parametrize("option", ["--host", "-H"])
@pytest.mark.parametrize("way", WAYS)
def test_tests_make_requests_to_the_host(tests, url, way, option):
    done = tests(option, url, way=way)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert f"404 Client Error: Not Found for url: {url}/missing" in done.stdout


def test_absolute_urls_need_no_host(tests, url, tmp_path):
    (tmp_path / "test_absolute.py").write_text(
        f"def test_plain(session):\n    assert session.get({url!r} + '/').text == 'hello'\n"
        f"def test_fast(fastsession):\n    assert fastsession.get({url!r} + '/').text == 'hello'\n"
    )
    done = tests("test_absolute.py")
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_another_plugin_may_have_the_option(tests, url, tmp_path):
    (tmp_path / "theirs.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--host', '-H', default=None)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "theirs", "-p", "plimsoll.locust.pytest_plugin", "-k", "fast"]
    done = subprocess.run(
        [*command, "-q", "-H", url, "test_shop.py"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_an_option_that_cannot_be_added_for_another_reason_is_told(tmp_path):
    code = (
        "import pytest\n"
        "from plimsoll.locust import pytest_plugin\n"
        "class Parser:\n"
        "    def addoption(self, *_, **__): raise ValueError('short options are reserved')\n"
        "pytest_plugin.pytest_addoption(Parser())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1] == "ValueError: short options are reserved"


def test_without_it_pytest_knows_nothing_of_us(tests, url):
    done = subprocess.run([sys.executable, "-m", "pytest", "--host", url], capture_output=True, text=True, timeout=60)
    assert done.returncode == 4
    assert "unrecognized arguments: --host" in done.stderr
