"""A session's default headers, encoded once and cached until they change."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn

from requests.exceptions import InvalidHeader
from requests.structures import CaseInsensitiveDict
from requests.utils import check_header_validity
from requests.utils import default_headers as requests_default_headers

from plimsoll._engine import Headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


ADDED_BELOW = frozenset({"accept-encoding", "user-agent"})
"""Always sent by requests: urllib3 adds them."""
_URLLIB3 = f"python-urllib3/{version('urllib3')}"


class SessionHeaders(CaseInsensitiveDict[Any]):
    """`session.headers`: the mapping of requests, which also notifies its session of changes."""

    def __init__(self, items: Mapping[str, Any], changed: Callable[[], None]) -> None:
        self._changed: Callable[[], None] = _nothing
        super().__init__(items)
        self._changed = changed

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._changed()

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._changed()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy belongs to no session.
        return CaseInsensitiveDict, (dict(self.items()),)


def _nothing() -> None:
    """Does nothing: changes are not reported while the mapping is filled."""


def default_headers() -> CaseInsensitiveDict[str]:
    """The headers of a new session: those of requests, and the content codings of Locust's users."""
    headers = requests_default_headers()
    headers["Accept-Encoding"] = "gzip, deflate, br"
    return headers


@cache
def defaults() -> Headers:
    """The default headers of a session."""
    return encode(default_headers().items())


_added: list[tuple[str, str]] = []


def add_to_all(name: str, value: str) -> None:
    """Add this header to all future requests of this process that do not set it themselves."""
    _added.append((name, value))
    defaults.cache_clear()


def encode(items: Iterable[tuple[str, Any]]) -> Headers:
    """Header lines for the engine. Raises requests' InvalidHeader."""
    lines = list(items)
    if _added:
        given = {name.lower() for name, _ in lines if isinstance(name, str)}
        lines += [line for line in _added if line[0].lower() not in given]
    try:
        return Headers(lines)
    except (TypeError, ValueError) as error:
        refuse(lines, error)


def completed(headers: Mapping[str, Any], *framing: tuple[str, str]) -> list[tuple[str, Any]]:
    """Header lines, preceded by those that urllib3 adds if they are missing, including `framing`."""
    given = {name.lower() for name in headers}
    added = [("Accept-Encoding", "identity"), *framing, ("User-Agent", _URLLIB3)]
    return [*(line for line in added if line[0].lower() not in given), *headers.items()]


def refuse(lines: Iterable[tuple[Any, Any]], error: Exception) -> NoReturn:
    """Raise requests' exception for headers that cannot be sent, or else InvalidHeader with the engine's message."""
    for line in lines:
        check_header_validity(line)
    raise InvalidHeader(str(error)) from error
