"""A session's settings: the attributes of a requests.Session, created on first use, and their resolved form."""

from __future__ import annotations

import os
from collections import OrderedDict
from http.cookiejar import CookieJar
from time import time
from typing import TYPE_CHECKING, Any

from requests.adapters import HTTPAdapter
from requests.exceptions import InvalidHeader
from requests.hooks import default_hooks
from requests.utils import get_environ_proxies, get_netrc_auth

from plimsoll.users.http.cookies import NO_COOKIES, SessionCookies, cookie_line
from plimsoll.users.http.headers import SessionHeaders, completed, default_headers, defaults, encode
from plimsoll.users.http.plain import ComposedSetup, basic_authorization
from plimsoll.users.http.sending import weakly
from plimsoll.users.http.url import BaseUrlAuth, origin_of, routes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll._engine import Headers

_DEFAULT_NAMES = frozenset(name.lower() for name in default_headers())
# requests sets these values itself, with rules of its own.
_LEFT_TO_REQUESTS = {"content-length", "transfer-encoding"}
_BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def _place(name: str) -> str:
    """Where a session keeps this setting. Not in its `__dict__`: access creates that, and before CPython 3.13 sessions
    have none."""
    return f"_{name}_setting"


class SessionSetting:
    """An attribute with a default. Assigning it makes the session read all its settings again."""

    def __init__(self, default: Any) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = _place(name)

    def __get__(self, session: Any, owner: type) -> Any:
        return self if session is None else getattr(session, self._place, self._default)

    def __set__(self, session: Any, value: Any) -> None:
        object.__setattr__(session, self._place, value)
        session._changed()


class ContainerSetting:
    """An attribute that is a mutable container, created on first use.

    It does not notify the session of changes: once it exists, the session reads it before every request.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = _place(name)

    def __get__(self, session: Any, owner: type) -> Any:
        if session is None:
            return self
        if not hasattr(session, self._place):
            self.__set__(session, self._make())
        return getattr(session, self._place)

    def __set__(self, session: SessionSettings, value: Any) -> None:
        object.__setattr__(session, self._place, value)
        session._is_special = True


def _adapters() -> OrderedDict[str, HTTPAdapter]:
    return OrderedDict((("https://", HTTPAdapter()), ("http://", HTTPAdapter())))


class SessionSettings:
    """Ten thousand idle sessions must be small: everything here is created on first use."""

    base_url = SessionSetting(None)
    auth = SessionSetting(None)
    verify = SessionSetting(True)
    cert = SessionSetting(None)
    http2 = SessionSetting(False)
    """Speak HTTP/2, and nothing else."""
    trust_env = SessionSetting(True)
    stream = SessionSetting(False)
    params = ContainerSetting(dict)
    proxies = ContainerSetting(dict)
    hooks = ContainerSetting(default_hooks)
    adapters = ContainerSetting(_adapters)
    """Accepted and unused: the engine sends."""

    max_redirects = 30

    _forget_settings: Callable[[], None]

    _headers: SessionHeaders | None = None
    _cookies: SessionCookies | None = None
    # See Sender.
    _is_special = _has_own_steps = False
    _setup: ComposedSetup | None = None
    """For the root of the last request; None after a change of a setting."""

    def _changed(self) -> None:
        # Not by assignment, which the session watches: this may happen for every request.
        object.__setattr__(self, "_setup", None)
        self._forget_settings()

    @property
    def headers(self) -> SessionHeaders:
        """Sent with every request. An assigned mapping is copied."""
        if self._headers is None:
            self._headers = SessionHeaders(default_headers(), weakly(self._changed))
        return self._headers

    @headers.setter
    def headers(self, items: Any) -> None:
        self._headers = SessionHeaders(items, weakly(self._changed))
        self._changed()

    @property
    def cookies(self) -> SessionCookies:
        """The cookies of this user. The cookies in an assigned jar or dict are copied."""
        if self._cookies is None:
            self._cookies = SessionCookies(weakly(self._changed))
        return self._cookies

    @cookies.setter
    def cookies(self, cookies: CookieJar | dict[str, str] | None) -> None:
        self._cookies = SessionCookies(weakly(self._changed))
        if isinstance(cookies, CookieJar):
            self._cookies.update(cookies)
        else:
            for name, value in (cookies or {}).items():
                self._cookies.set(name, value)
        self._changed()

    def setup_for(self, root: str) -> ComposedSetup | None:
        """The settings resolved for one root; None if requests has to prepare every request."""
        if self._is_special and (self._has_own_steps or self._containers_say_something()):
            return None
        setup = self._setup
        if setup is None or setup.root != root or (setup.until is not None and setup.until <= time()):
            setup = self._set_up(root)
            object.__setattr__(self, "_setup", setup)
            self._forget_settings()
        return setup

    def _containers_say_something(self) -> bool:
        params, proxies, hooks = (getattr(self, _place(name), None) for name in ("params", "proxies", "hooks"))
        return bool(params or proxies or any((hooks or {}).values()))

    def _set_up(self, root: str) -> ComposedSetup | None:
        given = _DEFAULT_NAMES if self._headers is None else frozenset(name.lower() for name in self._headers)
        auth = self.auth.for_root(root) if isinstance(self.auth, BaseUrlAuth) else self.auth
        authorization = basic_authorization(auth)
        if self._needs_requests(root, given) or (auth and authorization is None):
            return None
        line = cookie_line(self._cookies, root) if self._cookies else NO_COOKIES
        headers = self._encoded_headers()
        if line is None or headers is None:
            return None
        extra = {"Cookie": line.value, "Authorization": authorization}
        return ComposedSetup(
            routes=routes_of(self.base_url or ""),
            root=root,
            origin=origin_of(root, self.verify, self.cert, http2=self.http2),
            headers=headers,
            given=given,
            cookie=line.value,
            until=line.until,
            authorization=authorization,
            extra={name: value for name, value in extra.items() if value is not None} or None,
        )

    def _encoded_headers(self) -> Headers | None:
        if self._headers is None:
            return defaults()
        try:
            return encode(completed({name: value for name, value in self._headers.items() if value is not None}))
        except InvalidHeader:
            return None

    def _needs_requests(self, root: str, given: frozenset[str]) -> bool:
        return bool(
            given & _LEFT_TO_REQUESTS
            or self.stream
            or (self._cookies and given & {"cookie", "host"})
            or (self.trust_env and _environment_says_something(root))
        )


def _environment_says_something(root: str) -> bool:
    return bool(
        any(name in os.environ for name in _BUNDLE_VARIABLES)
        or get_environ_proxies(root, no_proxy=None)
        or get_netrc_auth(root)
    )
