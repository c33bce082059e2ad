"""`plimsoll record` with the real mitmdump and a real browser, where they are installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
import requests
from tests.sources.recording_target import Answer, target

from plimsoll.sources.live.recording import BROWSERS

needs_proxy = pytest.mark.skipif(shutil.which("mitmdump") is None, reason="mitmproxy is not installed")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
PAGE = """<!doctype html><title>Start</title><script>
fetch('/api/token').then(r => r.json()).then(r => fetch('/api/orders', {method: 'POST', headers:
  {'Content-Type': 'application/json', 'X-Token': r.token}, body: JSON.stringify({item: 'milk'})}));
</script>"""


@contextmanager
def recording(folder, *words):
    """The process, and the URL of its proxy. It has ended after the block, by Ctrl-C."""
    command = [sys.executable, "-m", "plimsoll", "record", "-o", "made.toml", "--port", "0", *words]
    with (
        (folder / "out.txt").open("w") as out,
        subprocess.Popen(
            command,
            cwd=folder,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        ) as process,
    ):
        try:
            end = time.monotonic() + 120
            while "http://127.0.0.1:" not in (text := (folder / "out.txt").read_text()):
                assert process.poll() is None, text
                assert time.monotonic() < end, text
                time.sleep(0.05)
            yield process, text.partition("the proxy ")[2].partition(";")[0]
            process.send_signal(signal.SIGINT)
            process.wait(120)
        finally:
            process.kill()


@needs_proxy
def test_requests_through_the_proxy_become_a_scenario(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with target() as service, recording(tmp_path, "--prove") as (process, proxy):
        for path in ("/todos/", "/todos/1"):
            with requests.Session() as session:
                session.trust_env = False
                headers = {"Authorization": "Bearer t0ps3cret"}
                assert session.get(service.url + path, proxies={"http": proxy}, headers=headers).status_code == 200
    assert process.returncode == 0, (tmp_path / "out.txt").read_text()
    assert (tmp_path / "made.har").stat().st_mode & 0o777 == 0o600
    plan = (tmp_path / "made.toml").read_text()
    assert [line for line in plan.splitlines() if line.startswith("get")] == ['get = "/todos/"', 'get = "/todos/1"']
    assert "Proof: 2 of 2 steps proven" in (tmp_path / "out.txt").read_text()
    assert "t0ps3cret" not in plan + (tmp_path / "out.txt").read_text()


@needs_proxy
@pytest.mark.skipif(CHROMIUM is None, reason="no browser of the Chromium family is installed")
def test_a_browser_with_its_own_profile_is_recorded(tmp_path):
    def rules(request):
        match request.route:
            case "/":
                return Answer(200, PAGE)
            case "/api/token":
                return Answer(200, {"token": "3f9c2ab1d4e5f607"})
        return Answer(201 if request.headers.get("x-token") == "3f9c2ab1d4e5f607" else 403, {"id": 1})

    program = tmp_path / "headless"
    program.write_text(f'#!/bin/sh\nexec {CHROMIUM} --headless=new --disable-gpu "$@"\n')
    program.chmod(0o755)
    with target(rules) as service:
        words = (service.url, "--browser", "--browser-program", str(program))
        with recording(tmp_path, *words) as (process, _):
            end = time.monotonic() + 120
            while not any(request.method == "POST" for request in service.received):
                assert time.monotonic() < end, (tmp_path / "out.txt").read_text()
                time.sleep(0.05)
    assert process.returncode == 0, (tmp_path / "out.txt").read_text()
    plan = (tmp_path / "made.toml").read_text()
    assert 'extract.token = { json = "/token" }' in plan
    assert "headers = { X-Token = " in plan


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "x.txt"), "--output x.txt: write a plan (plan.toml) or a locustfile (locustfile.py)"),
        (("-o", "no/x.toml"), "--output: cannot write no/x.toml: there is no folder no; make it first"),
        (("-o", "x.toml", "shop.test"), "shop.test is no URL; write http://shop.test"),
        (("-o", "x.toml", "http://shop.test"), "http://shop.test: add --browser to open it"),
        (("-o", "x.toml", "--browser-program", "x"), "--browser-program is for --browser"),
        (("-o", "there.toml"), "there.toml exists; choose another name, or replace it with --force"),
        (("-o", "x.toml"), "plimsoll record needs mitmdump, a program of mitmproxy; install it with: pipx install"),
    ],
)
def test_mistakes(plimsoll, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "there.toml").write_text("")
    result = plimsoll("record", *words)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@needs_proxy
def test_a_port_that_is_taken(plimsoll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = plimsoll("record", "-o", "x.toml", "--port", port)
    assert (result.exit_code, f"--port {port}: Address already in use" in result.stderr) == (2, True), result.stderr
