"""For pytest: `import locust` is Plimsoll, with Locust's fixtures `session` and `fastsession` and its option --host.

`plimsoll python -m pytest` loads it, and so does `pytest -p plimsoll.locust.pytest_plugin`. Requests in a test are not
recorded. Under load each user has its own fixtures: see `plimsoll.locust.pytest_user`.
"""

from __future__ import annotations

from plimsoll.locust import install

install()

from typing import TYPE_CHECKING, Any  # noqa: E402 - gevent's patches come before everything that they patch

import pytest  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.locust.fasthttp.session import FastHttpSession
    from plimsoll.users.events import EventHook
    from plimsoll.users.http.session import HttpSession
    from plimsoll.users.user import User

_host: str | None = None
"""The value of --host; None without it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    try:
        parser.addoption("--host", "-H", default=None, help="Base URL of the fixtures session and fastsession.")
    except ValueError as error:
        # Another plugin, perhaps Locust's own, has already added it with the same meaning.
        if "already added" not in str(error):
            raise


def pytest_configure(config: pytest.Config) -> None:
    global _host
    _host = config.getoption("--host")


# `user` has a default, so pytest does not treat it as a fixture. A user that calls the function passes itself.
@pytest.fixture
def session(user: User | None = None) -> Iterator[HttpSession]:
    """Like the client of an HttpUser."""
    from plimsoll.users.http.session import HttpSession

    made = HttpSession(*_place(user), user)
    yield made
    made.close()


@pytest.fixture
def fastsession(user: User | None = None) -> Iterator[FastHttpSession]:
    """Like the client of a FastHttpUser."""
    from plimsoll.locust.fasthttp.session import FastHttpSession

    made = FastHttpSession(*_place(user), user)
    yield made
    made.client.clientpool.close()


def _place(user: User | None) -> tuple[Any, EventHook]:
    """The base URL, and the event for requests."""
    from plimsoll.users.events import EventHook

    return (_host, EventHook()) if user is None else (user.host, user.environment.events.request)
