"""A session's cookies: requests' jar, which notifies its session of changes, and the Cookie headers made from it."""

from __future__ import annotations

import functools
import logging
from email.message import Message
from typing import TYPE_CHECKING, Any, NamedTuple

from requests import PreparedRequest
from requests.cookies import MockRequest, MockResponse, RequestsCookieJar, get_cookie_header
from requests.structures import CaseInsensitiveDict

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.cookiejar import Cookie, CookieJar, CookiePolicy


logger = logging.getLogger(__name__)

MOST_PER_DOMAIN = 180
"""Cookies of one user, as in browsers. A target may set new names in each response: the oldest are removed."""


class SessionCookies(RequestsCookieJar):
    """`session.cookies`. Notifies its session when a cookie is added, removed or replaced.

    In-place changes of a Cookie object from the jar are not noticed; `set` it again.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed: Callable[[], None] = changed

    def set_cookie(self, cookie: Cookie, *args: Any, **kwargs: Any) -> None:
        super().set_cookie(cookie, *args, **kwargs)
        self._changed()

    def clear(self, domain: str | None = None, path: str | None = None, name: str | None = None) -> None:
        super().clear(domain, path, name)
        self._changed()

    def set_policy(self, policy: CookiePolicy) -> None:
        super().set_policy(policy)
        self._changed()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy belongs to no session. The constructor of requests' jar takes no cookies.
        return _jar_of, (list(self),)


def _jar_of(cookies: list[Cookie]) -> RequestsCookieJar:
    jar = RequestsCookieJar()
    for cookie in cookies:
        jar.set_cookie(cookie)
    return jar


class CookieLine(NamedTuple):
    """The Cookie header for every URL of one root."""

    value: str | None
    until: float | None
    """Unix time at which the first cookie expires."""


NO_COOKIES = CookieLine(None, None)


def cookie_line(jar: CookieJar, root: str) -> CookieLine | None:
    """The Cookie header for every path of root; None if it depends on the path."""
    if any(cookie.path != "/" for cookie in jar):
        return None
    value = cookie_header(jar, f"{root}/")
    # Expiry of all, not only of those sent: too early costs one look at the jar, too late would be wrong.
    return CookieLine(value, min((cookie.expires for cookie in jar if cookie.expires is not None), default=None))


def cookie_header(jar: CookieJar, url: str) -> str | None:
    """The Cookie header for one URL."""
    value: str | None = get_cookie_header(jar, bare_request(url))
    return value


def bare_request(url: str) -> PreparedRequest:
    """A request with only those parts that a cookie jar reads."""
    request = PreparedRequest()
    request.url = url
    request.headers = CaseInsensitiveDict()
    return request


def store_cookies(jar: CookieJar, request: PreparedRequest, values: list[str]) -> None:
    """Add the cookies of a response to `request` to jar, if the jar's policy allows them."""
    lines = Message()
    for value in values:
        lines["Set-Cookie"] = value
    jar.extract_cookies(MockResponse(lines), MockRequest(request))  # type: ignore[arg-type] # the few methods it calls
    _remove_oldest(jar)


def _remove_oldest(jar: CookieJar) -> None:
    """Keep `MOST_PER_DOMAIN` cookies of each domain. Counting them cookie by cookie would cost each response more."""
    domains: dict[str, dict[str, dict[str, Cookie]]] = jar._cookies  # type: ignore[attr-defined] # by path and name
    for domain, paths in list(domains.items()):
        too_many = sum(map(len, paths.values())) - MOST_PER_DOMAIN
        if too_many > 0:
            _warn()
            oldest = [(path, name) for path, cookies in paths.items() for name in cookies][:too_many]
            for path, name in oldest:
                jar.clear(domain, path, name)


@functools.cache
def _warn() -> None:
    """Once in each process."""
    logger.warning(
        "the target sets more than %d cookies per domain: the oldest of each user are removed", MOST_PER_DOMAIN
    )
