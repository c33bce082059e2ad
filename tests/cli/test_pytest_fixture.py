"""The fixture, in a project of its own that pytest runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from plimsoll.cli.pytest_fixture import is_asgi

APPLICATIONS = """
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

asgi = Starlette(routes=[Route("/", lambda request: PlainTextResponse("ok"))])
async def plain_asgi(scope, receive, send): ...
def wsgi(environ, start_response):
    start_response("200 OK" if environ["PATH_INFO"] == "/" else "404 Not Found", [("Content-Length", "2")])
    return [b"ok"]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "applications.py").write_text(APPLICATIONS)

    def run(test):
        (tmp_path / "test_load.py").write_text(f"from applications import *\n\n{test}")
        words = ["-q", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *words, "test_load.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("application", ["asgi", "wsgi"])
def test_an_application_that_keeps_its_thresholds(project, application):
    done = project(
        f"def test_it(load_test):\n"
        f"    result = load_test({application}, users=2, time='1s', thresholds=['p50 < 5s', 'errors < 1%'])\n"
        f"    assert result.requests > 0 and result.failures == 0\n"
        f"    assert load_test.store.exists()\n"
    )
    assert done.returncode == 0, done.stdout


def test_a_broken_threshold_fails_the_test_and_shows_the_figures(project):
    done = project("def test_it(load_test):\n    load_test(wsgi, '/nowhere', rate='20/s', time='1s')\n")
    assert done.returncode == 1
    assert "a threshold was broken" in done.stdout
    assert "errors < 1%" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'http://127.0.0.1:1', thresholds=['p99 is fast']", "p99 is fast"),
        ("'http://127.0.0.1:1', time='soon'", "is not a duration"),
        ("'http://127.0.0.1:1', time='1s'", "errors < 1%"),
    ],
)
def test_mistakes(project, arguments, message):
    done = project(f"def test_it(load_test):\n    load_test({arguments})\n")
    assert done.returncode == 1
    assert message in done.stdout
    assert "Traceback" not in done.stdout


def test_which_are_asgi():
    names: dict = {}
    exec(APPLICATIONS, names)
    assert [is_asgi(names[each]) for each in ("asgi", "plain_asgi", "wsgi")] == [True, True, False]
