"""Converts URLs of user code to an origin and a request target, quoted as in requests."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from requests import PreparedRequest
from requests.auth import HTTPBasicAuth, _basic_auth_str
from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema
from urllib3.util import parse_url

from plimsoll._engine import Origin, is_plain_path

ROUTES_KEPT = 4096
"""Cached routes per base URL. Above this the cache is cleared: a test with many paths must not fill the memory."""

ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_NOT_ASCII = re.compile("[\x80-\xff]")
_SCHEMES = ("http://", "https://", "http+unix://")
# Text that quoting does not change, as `is_plain_path` of a path.
_PLAIN_BASE = re.compile(r"(https?://[a-z0-9][a-z0-9.-]*(?::[1-9][0-9]*)?)((?:/[\w.~!$&'()*+,;=:@-]*)*)", re.ASCII)


UrlT = TypeVar("UrlT", str, str | None)


class Route:
    """A URL, parsed and quoted."""

    __slots__ = ("_url", "has_credentials", "name", "root", "target")

    def __init__(
        self, root: str, target: str, url: str | None = None, name: str | None = None, has_credentials: bool = False
    ) -> None:
        self.root = root
        """scheme://host[:port]; an `Origin` is made of it."""
        self.target = target
        """Path and query as sent."""
        self._url = url
        self.name = target if name is None else name
        """The name of the exchange if the call gives none."""
        self.has_credentials = has_credentials
        """The URL contains user:password@."""

    @property
    def url(self) -> str:
        """The value of `response.url`, including a fragment."""
        return f"{self.root}{self.target}" if self._url is None else self._url

    def with_params(self, params: Any) -> Route:
        """The URL with `params=` added in requests' encoding. Raises InvalidURL."""
        if isinstance(params, (str, bytes)) or "#" in self.url:
            return route_of(self.url, params)
        encoded = encode_form(params)
        if not encoded:
            return self
        suffix = ("&" if "?" in self.target else "?") + encoded
        return Route(self.root, self.target + suffix, self.url + suffix, self.name + suffix, self.has_credentials)


def encode_form(fields: Any) -> Any:
    """requests' encoding of `params=` and `data=`: a mapping or pairs are URL-encoded, anything else is unchanged."""
    return PreparedRequest._encode_params(fields)


def route_of(url: str, params: Any = None) -> Route:
    """The route of a full URL. Raises MissingSchema, InvalidSchema and InvalidURL, like requests."""
    prepared = PreparedRequest()
    prepared.prepare_url(url, params)
    return split(str(prepared.url))


def split(url: str) -> Route:
    """The route of a URL prepared by requests. Raises InvalidSchema for one that the engine cannot send."""
    if not url.lower().startswith(_SCHEMES):
        raise InvalidSchema(f"No connection adapters were found for {url!r}")
    parts = urlsplit(url)
    credentials, _, authority = parts.netloc.rpartition("@")
    name = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    # urllib3, which sends for requests, quotes some characters that requests does not.
    return Route(f"{parts.scheme}://{authority}", parse_url(url).request_uri, url, name, bool(credentials))


def as_ascii(location: str) -> str:
    """A Location header whose bytes above 0x7f are percent-encoded, as browsers and curl send them."""
    return _NOT_ASCII.sub(lambda found: f"%{ord(found[0]):02X}", location)


def redirect_target(url: str, location: str) -> str:
    """The target of a redirect of `url`. Raises InvalidSchema and InvalidURL for one that the engine cannot reach."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        # Both validate their input.
        _ = parts.port, parse_url(target)
    except ValueError as error:
        raise InvalidURL(f"a redirect to {location!r}: {error}") from error
    if parts.scheme not in ("http", "https", urlsplit(url).scheme):
        raise InvalidSchema(f"a redirect to {location!r}: only http and https can be followed")
    if not parts.hostname:
        raise InvalidURL(f"a redirect to {location!r}: it has no host")
    if parts.port == 0:
        raise InvalidURL(f"a redirect to {location!r}: nothing can listen on port 0")
    return target


class BaseUrlAuth(HTTPBasicAuth):
    """The user:password@ of a base URL; valid only for its scheme, host and port."""

    def __init__(self, base_url: str, username: str, password: str) -> None:
        super().__init__(username, password)
        self._root = _root(base_url)

    def for_root(self, root: str) -> tuple[str, str] | None:
        """(user, password) if this root may get them."""
        return (str(self.username), str(self.password)) if root == self._root else None

    def __call__(self, r: PreparedRequest) -> PreparedRequest:
        return r if self.for_root(split(str(r.url)).root) is None else super().__call__(r)


def without_credentials(url: UrlT) -> tuple[UrlT, tuple[str, str] | None]:
    """(the URL without user:password@, (user, password)), or the unchanged URL and None."""
    if url is None:
        return url, None
    parsed = urlsplit(url)
    if not (parsed.username and parsed.password):
        return url, None
    stripped = urlunsplit(parsed._replace(netloc=parsed.netloc.rpartition("@")[2]))
    return stripped, (unquote(parsed.username), unquote(parsed.password))


class RouteCache(dict[str, Route]):
    """The routes of one base URL: {path or absolute URL: Route}, created on first access."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.base_url = base_url
        """The prefix of every path, unchanged."""
        plain = _PLAIN_BASE.fullmatch(base_url)
        self.root: str = plain[1] if plain else _root(base_url)
        self.prefix: str | None = plain[2] if plain and "/." not in base_url else None
        """The path of the base URL; None if it needs quoting."""

    def __missing__(self, path: str) -> Route:
        if self.prefix is not None and is_plain_path(path):
            route = Route(self.root, self.prefix + path)
        else:
            route = route_of(path if ABSOLUTE.match(path) else f"{self.base_url}{path}")
        if len(self) >= ROUTES_KEPT:
            self.clear()
        self[path] = route
        return route


def _root(base_url: str) -> str:
    try:
        return route_of(f"{base_url}/").root
    except (InvalidSchema, InvalidURL, MissingSchema):
        return ""


@lru_cache(maxsize=256)
def routes_of(base_url: str) -> RouteCache:
    """Shared by all users of a base URL."""
    return RouteCache(base_url)


_accepts_any_certificate = False


def accept_any_certificate() -> None:
    """Disable certificate checks in this process, whatever the sessions' settings."""
    global _accepts_any_certificate
    _accepts_any_certificate = True


_speaks_http2 = False


def speak_http2() -> None:
    """Speak HTTP/2 with all targets in this process, whatever the sessions' settings."""
    global _speaks_http2
    _speaks_http2 = True


def origin_of(
    root: str, verify: Any, cert: Any, proxy: str | None = None, forwards: str | None = None, *, http2: bool = False
) -> Origin:
    """The Origin for these settings, which mean the same as in requests; cached. forwards: the root to which this
    origin, a proxy, forwards requests. http2: speak HTTP/2, and nothing else.

    Raises OSError for a missing certificate file, InvalidURL for an address that cannot be connected to.
    """
    http2 = http2 or _speaks_http2
    if not root.startswith("https:"):
        return _origin(root, True, None, proxy, forwards, http2)
    if _accepts_any_certificate:
        verify = False
    # A number or None is a truth value; a path stays a path.
    check = os.fspath(verify) if isinstance(verify, (str, os.PathLike)) and verify else bool(verify)
    return _origin(root, check, tuple(cert) if isinstance(cert, list) else cert or None, proxy, forwards, http2)


@lru_cache(maxsize=1024)
def _origin(
    root: str,
    verify: bool | str,
    cert: str | tuple[str, str] | None,
    proxy: str | None,
    forwards: str | None,
    http2: bool,
) -> Origin:
    if isinstance(verify, str):
        _require_file(verify, "a suitable TLS CA certificate bundle")
    for path in (cert,) if isinstance(cert, str) else cert or ():
        _require_file(path, "the TLS certificate file")
    try:
        return Origin(root, verify=verify, cert=cert, proxy=proxy, forwards=forwards, http2=http2)
    except ValueError as error:
        raise InvalidURL(str(error)) from error


class ProxiedRoute(NamedTuple):
    """How a plain http request reaches its target through a proxy, which gets the whole URL.

    For https the engine opens a tunnel through the proxy instead.
    """

    origin: Origin
    """How to reach the proxy."""
    target: str
    host: str
    """The Host header."""
    authorization: str | None
    """The Proxy-Authorization header."""


def by_way_of(proxy: str, route: Route) -> ProxiedRoute:
    """Raises InvalidURL for a proxy that cannot be connected to."""
    proxy, credentials = without_credentials(proxy)
    authorization = None if credentials is None else _basic_auth_str(*credentials)
    origin = origin_of(split(proxy).root, True, None, forwards=route.root)
    return ProxiedRoute(origin, route.root + route.target, route.root.partition("//")[2], authorization)


def _require_file(path: str, what: str) -> None:
    # The text and the type of requests' error.
    if not os.path.exists(path):  # noqa: PTH110 - takes any kind of path that the user's code gave
        raise OSError(f"Could not find {what}, invalid path: {path}")
