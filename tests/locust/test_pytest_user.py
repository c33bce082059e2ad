"""Users that call test functions, each case in a process of its own: pytest runs inside."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = """
import json
from plimsoll.locust import install
install()
from gevent.pool import Group
from plimsoll.errors import LocustfileError
from plimsoll.locust.api import Environment
from plimsoll.locust.pytest_user import collect

errors = []
try:
    classes = collect("load.py")
    environment = Environment(user_classes=list(classes.values()), host="http://127.0.0.1:1")
    environment.events.user_error.add_listener(lambda exception, **_: errors.append(repr(exception)))
    for cls in classes.values():
        cls.host = environment.host
        user = cls(environment)
        user.start(Group())
        user.greenlet.join(timeout=30)
        assert user.greenlet.dead
    import load
    print(json.dumps({"classes": list(classes), "notes": getattr(load, "notes", None), "errors": errors}))
except LocustfileError as error:
    print(json.dumps(str(error)))
"""
HEAD = """
import gevent, pytest
from locust.exception import StopUser
notes = []
def note(what, limit=3):
    notes.append(what)
    if len(notes) >= limit:
        raise StopUser
"""


@pytest.fixture
def live(tmp_path: Path) -> Callable[[str], Any]:
    """Collect a file, let a user of each of its functions live until it stops, and return what was noted meanwhile."""

    def live(text: str, conftest: str = "") -> Any:
        (tmp_path / "load.py").write_text(HEAD + text)
        (tmp_path / "conftest.py").write_text(conftest)
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert done.stdout, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return live


def test_each_function_is_a_class_whose_user_calls_it_again_and_again(live):
    seen = live("def test_a(): note('a')\ndef test_b(): note('b', 5)\ndef helper(): note('never')\n")
    assert seen == {"classes": ["test_a", "test_b"], "notes": ["a", "a", "a", "b", "b"], "errors": []}


def test_the_sessions_of_a_user_are_its_own(live):
    seen = live(
        "def test_a(session, fastsession):\n"
        "    notes.append([type(each).__module__ for each in (session, fastsession)])\n"
        "    notes.append(session.base_url)\n"
        "    note(session.user is fastsession.user is not None)\n"
    )
    modules = ["plimsoll.users.http.session", "plimsoll.locust.fasthttp.session"]
    assert seen["notes"] == [modules, "http://127.0.0.1:1", True]


def test_a_fixture_is_made_once_per_user_and_undone_in_the_end(live):
    seen = live(
        "@pytest.fixture\n"
        "def token(session):\n"
        "    notes.append(f'login at {session.base_url}')\n"
        "    yield 'token'\n"
        "    notes.append('logout')\n"
        "@pytest.fixture\n"
        "def both(token, session): return token, session.base_url\n"
        "def test_a(both, token): note([*both, token])\n"
    )
    called = ["token", "http://127.0.0.1:1", "token"]
    assert seen["notes"] == ["login at http://127.0.0.1:1", called, called, "logout"]


def test_a_fixture_gets_the_user_whatever_it_calls_it(live):
    seen = live(
        "@pytest.fixture\ndef named(someone=None): return type(someone).__name__\ndef test_a(named): note(named, 1)\n"
    )
    assert seen["notes"] == ["test_a"]


def test_fixtures_and_options_of_a_conftest_count(live):
    seen = live("def test_a(name): note(name, 1)\n", "import pytest\n@pytest.fixture\ndef name(): return 'Ann'\n")
    assert seen["notes"] == ["Ann"]


def test_what_pytest_does_around_tests_is_not_done(live):
    seen = live(
        "def setup_module(): notes.append('setup')\n"
        "@pytest.fixture(autouse=True)\ndef always(request): notes.append('always')\n"
        "def test_a(): note('a', 1)\n"
    )
    assert seen["notes"] == ["a"]


def test_parameters_make_several_functions(live):
    seen = live("@pytest.mark.parametrize('path', ['/a', '/b'])\ndef test_a(path): note(path, 1)\n")
    assert seen == {"classes": ["test_a[/a]", "test_a[/b]"], "notes": ["/a", "/b"], "errors": []}


def test_methods_of_test_classes_are_functions_too(live):
    assert live("class TestShop:\n    def test_a(self): note('a', 1)\n")["notes"] == ["a"]


def test_a_failed_request_ends_only_this_call(live):
    seen = live(
        "def test_a(session):\n"
        "    notes.append('called')\n"
        "    if len(notes) > 2: raise StopUser\n"
        "    session.get('/').raise_for_status()\n"
        "    notes.append('never')\n"
        "def test_b(fastsession):\n"
        "    notes.append('called too')\n"
        "    if len(notes) > 5: raise StopUser\n"
        "    fastsession.get('/').raise_for_status()\n"
        "    notes.append('never')\n"
    )
    assert (seen["notes"], seen["errors"]) == (["called"] * 3 + ["called too"] * 3, [])


def test_other_exceptions_are_those_of_a_task(live):
    seen = live("def test_a():\n    note('called')\n    assert False\n")
    assert (seen["notes"], seen["errors"]) == (["called"] * 3, ["AssertionError('assert False')"] * 2)


def test_a_request_that_cannot_be_made_is_no_failed_one(live):
    seen = live("def test_a(session):\n    note('called', 2)\n    session.get('http://')\n")
    assert len(seen["errors"]) == 1
    assert "InvalidURL" in seen["errors"][0]


def test_what_the_project_has_set_for_its_tests_is_left_out(live, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert live("def test_a(): note('a', 1)\n")["notes"] == ["a"]
    assert not (tmp_path / ".pytest_cache").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def test_a(gone): pass\n", "load.py:9: there is no fixture 'gone' for test_a that a user can have"),
        ("def test_a(request): pass\n", "load.py:9: there is no fixture 'request' for test_a that a user can have"),
        (
            "def test_a(tmp_path): pass\n",
            "load.py:9: test_a needs the fixture tmp_path, which needs pytest's `request`; a user has none",
        ),
        (
            "@pytest.fixture\ndef path(request): return request.param\n"
            "@pytest.mark.parametrize('path', ['/a'], indirect=True)\ndef test_a(path): pass\n",
            "test_a[/a] needs the fixture path, which needs pytest's `request`; a user has none",
        ),
        ("async def test_a(session): pass\n", "write `def` instead of `async def`"),
        ("raise ValueError('broken')\n", "ValueError: broken"),
    ],
    ids=["no such fixture", "request", "needs request", "indirect", "async", "broken"],
)
def test_what_no_user_can_call_is_refused(live, text, message):
    assert message in live(text)
