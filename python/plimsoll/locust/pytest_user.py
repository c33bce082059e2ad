"""Users that call pytest functions: functions `test_…(session)` without user classes are also a locustfile."""

from __future__ import annotations

import http.client
import inspect
import logging
import socket
import ssl
import traceback
from typing import TYPE_CHECKING, Any, ClassVar

from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError

from plimsoll.distribution import pip_install
from plimsoll.errors import LocustfileError
from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.failure import LocustBadStatusCode
from plimsoll.users.tasks import async_advice, task
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pytest

logger = logging.getLogger("locust.user.users")

OPTIONS = ("--collect-only", "-s", "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider",
           "-p", "plimsoll.locust.pytest_plugin")  # fmt: skip
"""Collect without output, without the project's test settings, and without leaving files."""

REPORTED = (
    RequestException,
    CatchResponseError,
    LocustBadStatusCode,
    HTTPError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    socket.gaierror,
    ssl.SSLError,
)
"""Exceptions of `raise_for_status` and the like for a request already reported as failed."""


class PytestUser(User):
    """Calls its functions in a loop without waits.

    An exception caused by a failed request ends only this call. Other exceptions, including failed assertions, are
    those of a task.
    """

    abstract = True
    functions: ClassVar[Sequence[pytest.Function]] = ()

    def on_start(self) -> None:
        self._fixtures = Fixtures(self)
        self._calls = [(each.obj, self._fixtures.arguments_of(each)) for each in self.functions]

    def on_stop(self) -> None:
        self._fixtures.close()

    @task
    def call_functions(self) -> None:
        for function, arguments in self._calls:
            try:
                function(**arguments)
            except REPORTED as error:
                # E.g. requests' MissingSchema: nothing was sent, so nothing was reported.
                if isinstance(error, RequestException) and isinstance(error, ValueError):
                    raise
                logger.debug("%s\n%s", error, traceback.format_exc())


class Fixtures:
    """The fixture values of one user: each is created once, and torn down at the end."""

    def __init__(self, user: PytestUser) -> None:
        self._user = user
        self._values: dict[Any, Any] = {}
        """Fixture values by definition."""
        self._generators: list[Iterator[Any]] = []

    def arguments_of(self, item: pytest.Function) -> dict[str, Any]:
        """The arguments with which pytest would call the function."""
        given = _parameters(item)
        return {name: given[name] if name in given else self._value(name, item) for name in _wanted(item)}

    def close(self) -> None:
        """Run the code after each fixture's yield, the last one first."""
        while self._generators:
            next(self._generators.pop(), None)

    def _value(self, name: str, item: pytest.Function) -> Any:
        definition = _definition(name, item)
        if definition not in self._values:
            names = inspect.signature(definition.func).parameters
            made = definition.func(*(self._argument(each, item) for each in names))
            if inspect.isgenerator(made):
                self._generators.append(made)
                made = next(made)
            self._values[definition] = made
        return self._values[definition]

    def _argument(self, name: str, item: pytest.Function) -> Any:
        # As in Locust, a parameter that is no fixture gets the user.
        return self._user if _definition(name, item) is None else self._value(name, item)


def collect(path: str | Path) -> dict[str, type[PytestUser]]:
    """A user class for each test function of a file, by name. Raises LocustfileError."""
    try:
        import pytest
    except ImportError as error:
        reason = f"it has test functions, which are users where pytest is installed: {pip_install('locust')}"
        raise LocustfileError(f"{path}: no user class in it; {reason}") from error
    collected = _Collected()
    pytest.main([*OPTIONS, str(path)], plugins=[collected])
    if collected.failures:
        raise LocustfileError(collected.failures[0])
    classes: dict[str, type[PytestUser]] = {}
    for item in collected.items:
        if isinstance(item, pytest.Function):
            _check(item)
            cls = classes.setdefault(item.name, type(item.name, (PytestUser,), {"__module__": item.module.__name__}))
            cls.functions = [*cls.functions, item]
    return classes


class _Collected:
    """A plugin that keeps the items that pytest collects."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []
        self.failures: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = list(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failures.append(report.longreprtext)


def _check(item: pytest.Function) -> None:
    """Raises LocustfileError for a function that users cannot call."""
    where = f"{item.path}:{item.function.__code__.co_firstlineno}"
    if advice := async_advice(item.function):
        raise LocustfileError(advice)
    names = [name for name in _wanted(item) if name not in _parameters(item)]
    for name in names:
        definition = _definition(name, item)
        if definition is None:
            raise LocustfileError(f"{where}: there is no fixture {name!r} for {item.name} that a user can have")
        needs = inspect.signature(definition.func).parameters
        if "request" in needs:
            raise LocustfileError(
                f"{where}: {item.name} needs the fixture {name}, which needs pytest's `request`; a user has none"
            )
        # The list grows during the loop: fixtures needed by a fixture are checked too.
        names += [each for each in needs if each not in names and _definition(each, item) is not None]


# pytest has no public names for these attributes.


def _wanted(item: pytest.Function) -> Sequence[str]:
    """The names of the arguments of the test function."""
    return item._fixtureinfo.argnames


def _definition(name: str, item: pytest.Function) -> Any:
    """The definition of this fixture that is nearest to the function, or None."""
    definitions = item._fixtureinfo.name2fixturedefs.get(name)
    return definitions[-1] if definitions else None


def _parameters(item: pytest.Function) -> dict[str, Any]:
    """The values that `parametrize` gives to arguments, except those for fixtures (`indirect`)."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return {name: value for name, value in given.items() if _is_pytests_own(_definition(name, item))}


def _is_pytests_own(definition: Any) -> bool:
    return definition is None or definition.func.__module__.startswith("_pytest.")
