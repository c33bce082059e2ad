"""FastHttpSession: Locust's second client. It shares the engine, but composes requests differently."""

from __future__ import annotations

import math
import ssl
from codecs import getincrementaldecoder
from functools import lru_cache
from time import time
from typing import TYPE_CHECKING, Any

import requests
from requests.auth import _basic_auth_str
from requests.exceptions import RequestException
from requests.structures import CaseInsensitiveDict

from plimsoll._engine import Timeouts
from plimsoll.locust.fasthttp.body import BODY_METHODS, CHUNKED_NAME, LENGTH_NAME, encode_body
from plimsoll.locust.fasthttp.quick import FastCalls
from plimsoll.locust.fasthttp.redirects import redirected
from plimsoll.locust.fasthttp.response import ErrorResponse, FastResponse, StreamedFastResponse
from plimsoll.users.failure import LocustBadStatusCode, RetriesExceeded, fast_error_of, undecodable
from plimsoll.users.http.cookies import (
    CookieLine,
    SessionCookies,
    bare_request,
    cookie_header,
    cookie_line,
    store_cookies,
)
from plimsoll.users.http.headers import encode
from plimsoll.users.http.plain import JSON, ComposedRequest, basic_authorization, dump
from plimsoll.users.http.prepared import Chain
from plimsoll.users.http.response import elapsed
from plimsoll.users.http.sending import NO_CONTEXT, RefusedError, weakly
from plimsoll.users.http.settings import SessionSetting
from plimsoll.users.http.upload import Upload
from plimsoll.users.http.url import (
    ABSOLUTE,
    Route,
    as_ascii,
    by_way_of,
    origin_of,
    routes_of,
    without_credentials,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll._engine import Headers, Origin, Reply
    from plimsoll.users.events import EventHook
    from plimsoll.users.http.url import RouteCache

USER_AGENT = "python/gevent-http-client-2.6.1"
"""That of Locust's client; some services depend on it."""
ACCEPT_ENCODING = "gzip, deflate, br"


class FastHttpSession(FastCalls):
    """`self.client` of a FastHttpUser.

    Differs from HttpSession as in Locust: exchanges are named by the unchanged url argument; only the statuses in
    `valid_response_codes` are successes; certificates are not checked; unknown arguments of request() become query
    parameters (form fields of a POST). Accepted without effect, since each user has its own connections and nothing is
    sent twice: concurrency, client_pool, ssl_context_factory, max_retries.

    Timeouts in seconds: connection_timeout for a new connection, network_timeout for each wait for bytes, timeout for
    the whole request including redirects. headers: sent with every request.
    """

    valid_response_codes = frozenset([*range(200, 209), 226, 301, 302, 303, 304, 307, 308])
    redirect_response_codes = frozenset([301, 302, 303, 307, 308])

    base_url = SessionSetting(None)
    auth_header = SessionSetting(None)
    """Authorization header of every request."""

    _steps = frozenset({"_build_url", "_send_request_safe_mode"})
    _cookiejar: SessionCookies | None = None
    _line: tuple[str, CookieLine] | None = None
    """The Cookie header for the root of the last request."""
    _base_authorization: str | None = None
    """The value of `auth_header` from the base URL, valid only for its scheme, host and port."""

    def __init__(
        self,
        base_url: str | None,
        request_event: EventHook,
        user: Any,
        insecure: bool = True,
        client_pool: Any = None,
        ssl_context_factory: Any = None,
        *,
        connection_timeout: float = 5.0,
        network_timeout: float = 5.0,
        timeout: float | None = None,
        max_redirects: int = 3,
        max_retries: int = 0,
        concurrency: int = 1,
        headers: Mapping[str, str] | None = None,
        proxy_host: str | None = None,
        proxy_port: int | None = None,
    ) -> None:
        self._attach(request_event, user)
        self.max_redirects = max_redirects
        self._max_retries = max_retries
        self._insecure = insecure
        self._timeouts = _timeouts(timeout or 0.0, connection_timeout or 0.0, network_timeout or 0.0)
        self._default_headers = tuple(_texts(headers).items()) if headers else ()
        self._has_own_host = any(name.lower() == "host" for name, _ in self._default_headers)
        self._proxy = f"http://{proxy_host}:{proxy_port}" if proxy_host else None
        if self._proxy is not None:
            self._is_special = True  # it needs the whole URL
        self.base_url, credentials = without_credentials(base_url)
        if credentials is not None:
            self.auth_header = self._base_authorization = basic_authorization(credentials)

    def _changed(self) -> None:
        self._line = None
        self._forget_settings()

    @property
    def cookiejar(self) -> SessionCookies:
        """The cookies of this user."""
        if self._cookiejar is None:
            self._cookiejar = SessionCookies(weakly(self._changed))
            self._is_special = True  # cookies may come
        return self._cookiejar

    @property
    def client(self) -> LocustUserAgent:
        """Scripts use it to close connections: `self.client.client.clientpool.close()`."""
        return LocustUserAgent(self)

    def request(
        self,
        method: str,
        url: str,
        name: str | None = None,
        data: Any = None,
        catch_response: bool = False,
        stream: bool = False,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str | bytes, str | bytes] | None = None,
        json: Any = None,
        allow_redirects: bool = True,
        context: Mapping[str, Any] = NO_CONTEXT,
        *,
        params: Any = None,
        files: Any = None,
        max_redirects: int | None = None,
        max_retries: int | None = None,
        debug_stream: Any = None,
        **fields: Any,
    ) -> FastResponse:
        """Send a request.

        name: counted under this instead of url. data: form (dict), text, bytes or a file. catch_response: use the
        response in a with-block, which decides whether it counts as a success. context: passed to the listeners of the
        request event. stream: return when the head of the response has arrived; user code reads the body as it arrives.
        max_retries and debug_stream are accepted without effect.

        A failed connection raises nothing: the response then has status_code 0 and an `error`. Raises MissingSchema,
        InvalidSchema and InvalidURL for an invalid url, ValueError for content that HTTP forbids.
        """
        if "payload" in fields:
            raise TypeError("request() has no argument 'payload'; the body is data= or json=")
        root = routes_of(self.base_url or "")[url].root
        lines = self._lines(headers, auth, json is not None and not data, root)
        content = dump(json) if json is not None and not data else data
        if fields:
            content, params = _with_fields(method, content, params, fields)
        limit = (self.max_redirects if max_redirects is None else max_redirects) if allow_redirects else 0
        chain = Chain((method, name or self.request_name or url))
        arguments = {"payload": content, "headers": lines, "params": params, "files": files, "stream": stream}
        if self._has_own_steps:
            given = {name: value for name, value in arguments.items() if value}
            with chain.of_this_call():
                response = self._send_request_safe_mode(method, self._build_url(url), max_redirects=limit, **given)
        else:
            response = self._send_content(chain, url, max_redirects=limit, **arguments)
        return self._hand_over(response, catch_response, context, stream)

    def _build_url(self, url: str) -> str:
        """The whole URL; Locust's session has this method."""
        return url if ABSOLUTE.match(url) else f"{self.base_url}{url}"

    def _send_request_safe_mode(self, method: str, url: str, **arguments: Any) -> FastResponse:
        """Send a request to a whole URL, and report nothing. Locust's session has this method, and scripts replace it.

        arguments: payload, headers, params, files, stream and max_redirects. A failed connection raises nothing.
        """
        chain = Chain.of_call() or Chain((method, url))
        return self._send_content(chain, url, **{"max_redirects": self.max_redirects, **arguments})

    def _send_content(
        self,
        chain: Chain,
        url: str,
        *,
        max_redirects: int,
        payload: Any = None,
        headers: Mapping[str, Any] | None = None,
        params: Any = None,
        files: Any = None,
        stream: bool = False,
    ) -> FastResponse:
        route, method, lines = routes_of(self.base_url or "")[url], chain.endpoint[0].upper(), dict(headers or {})
        body = encode_body(payload, files, lines, dict(self._default_headers))
        if body.about:
            lines = _merged({**lines, **body.about})
        if body.data is None and method in BODY_METHODS:
            body = body._replace(data=b"")
        message = ComposedRequest(route.with_params(params) if params else route, lines, body.data, None, body.payload)
        response = self._send(chain, method, message, stream)
        return self._follow(chain, response, method, message, max_redirects, stream)

    def _lines(self, headers: Mapping[str, str] | None, auth: Any, is_json: bool, root: str) -> dict[str, Any]:
        """Header lines of a request to `root`."""
        lines: dict[str, Any] = dict(headers) if headers else {}
        authorization = _basic_auth_str(auth[0], auth[1]) if auth else self.auth_header
        if authorization == self._base_authorization and not auth and root != routes_of(self.base_url or "").root:
            authorization = None
        if authorization is not None:
            lines["Authorization"] = authorization
        defaults = {"Accept-Encoding": ACCEPT_ENCODING}
        if is_json:
            defaults |= {"Content-Type": JSON, "Accept": JSON}
        # Only these two spellings, as in Locust: any other is overridden by the default.
        lines |= {name: it for name, it in defaults.items() if name not in lines and name.lower() not in lines}
        return _merged(_texts(lines))

    def _send(self, chain: Chain, method: str, message: ComposedRequest, stream: bool) -> FastResponse:
        """Send one message without further processing. Raises ValueError for content that HTTP forbids."""
        route = message.route
        origin, target, extra = self._origin(route.root), route.target, message.extra or {}
        host = origin.authority
        if self._proxy is not None and route.root.startswith("http:"):
            origin, target, host, _ = by_way_of(self._proxy, route)
        extra = self._with_cookie(extra, route)
        if not self._has_own_host:
            extra = _with_host(extra, host)
        try:
            reply = self._transmit(
                chain.endpoint,
                origin,
                method,
                target,
                base_headers(self._default_headers),
                extra,
                message.body,
                message.content_type,
                self._timeouts,
                bool(stream),
                chain.since,
            )
        except RefusedError as error:
            raise ValueError(str(error)) from error
        return self._received(chain, reply, message, stream)

    def _received(self, chain: Chain, reply: Reply, message: ComposedRequest, stream: bool = False) -> FastResponse:
        """The response of one hop, with its cookies stored and its status checked."""
        kind = StreamedFastResponse if stream and reply.error is None else FastResponse
        response = kind(reply, message.route, message.payload, self, chain.endpoint)
        if chain.reply is not None:
            # Before the reply represents the whole chain.
            response.elapsed = elapsed(reply)
        chain.add(reply)
        if reply.error is not None:
            unread = message.body.error if isinstance(message.body, Upload) else None
            error = unread or fast_error_of(reply, message.route.url, self._max_retries)
            return self._error_response(chain, message, error)
        if reply.damaged:
            return self._error_response(chain, message, undecodable(reply))
        if values := response.set_cookies:
            store_cookies(self.cookiejar, bare_request(message.route.url), values)
        if reply.status not in self.valid_response_codes:
            response.error = LocustBadStatusCode(message.route.url, reply.status)
        return response

    def _follow(
        self,
        chain: Chain,
        response: FastResponse,
        method: str,
        message: ComposedRequest,
        redirects: int,
        stream: bool = False,
    ) -> FastResponse:
        """The response after at most this many redirects; 0: redirects are not followed."""
        first = message
        while True:
            status = response.status_code
            if response.error or redirects <= 0 or status not in self.redirect_response_codes:
                return response
            location = as_ascii(response.headers.get("location") or "")
            if not location:
                return response
            history = [*response.history, response]
            if len(history) > redirects:
                reached = f"Redirection limit reached ({redirects})"
                return self._error_response(chain, first, RetriesExceeded(first.route.url, reached))
            try:
                method, message = redirected(method, message, status, location)
                if stream:
                    # Reading the body frees its connection for the next hop.
                    _ = response.content
                response = self._send(chain, method, message, stream)
            except RequestException as error:
                return self._error_response(chain, first, error)
            if response.error and not response.status_code:
                return self._error_response(chain, first, response.error)
            response.history = history

    def _error_response(self, chain: Chain, message: ComposedRequest, error: Exception) -> ErrorResponse:
        response = ErrorResponse(chain.reply, message.route, message.payload, self, chain.endpoint)
        response.status_code = 0
        response.error = error
        return response

    def _origin(self, root: str) -> Origin:
        http2 = bool(getattr(self.user, "http2", False))
        return origin_of(root, not self._insecure, None, self._proxy, http2=http2)

    def _with_cookie(self, lines: dict[str, Any], route: Route) -> dict[str, Any]:
        if not self._cookiejar or any(name.lower() == "cookie" for name in lines):
            return lines
        value = self._cookie(route.root, route)
        return lines if value is None else {**lines, "Cookie": value}

    def _cookie(self, root: str, route: Route) -> str | None:
        known = self._line
        if known is None or known[0] != root or (known[1].until or math.inf) <= time():
            line = cookie_line(self.cookiejar, root)
            if line is None:
                return cookie_header(self.cookiejar, route.url)
            known = self._line = root, line
        return known[1].value

    def _bare(self) -> tuple[RouteCache, Origin, Headers, Headers | None] | None:
        routes = routes_of(self.base_url or "")
        if not routes.root:
            return None
        origin = self._origin(routes.root)
        lines = {**dict(self._default_headers), **self._lines(None, None, False, routes.root)}
        headers = base_headers(tuple(_with_host(lines, origin.authority).items()))
        is_plain = not self._default_headers and self.auth_header is None
        return routes, origin, headers, base_headers(()) if is_plain else None

    def iter_lines(self, url: str, method: str = "GET", **kwargs: Any) -> Iterator[str]:
        """Send a request and yield the lines of the response without line ends. Raises the failure of the request."""
        response = self.request(method, url, stream=True, **kwargs)
        response.raise_for_status()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        rest = ""
        for piece in requests.Response.iter_content(response, 1024):
            *lines, rest = (rest + decode(piece)).split("\n")
            yield from lines
        rest += decode(b"", final=True)
        if rest:
            yield rest


class LocustUserAgent:
    """The attributes of Locust's user agent that scripts use."""

    valid_response_codes = FastHttpSession.valid_response_codes
    redirect_response_codes = FastHttpSession.redirect_response_codes

    def __init__(self, session: FastHttpSession) -> None:
        self.clientpool = session
        """Its close() closes the user's connections."""
        self.cookiejar = session.cookiejar


def insecure_ssl_context_factory() -> ssl.SSLContext:
    """A context without certificate checks for user code; the engine has its own."""
    return ssl._create_unverified_context()


@lru_cache(maxsize=64)
def _timeouts(total: float, connect: float, idle: float) -> Timeouts:
    """Shared by all users of a class."""
    return Timeouts(total, connect, idle)


@lru_cache(maxsize=256)
def base_headers(lines: tuple[tuple[str, str], ...]) -> Headers:
    """User-Agent and these lines; the last one of a name counts."""
    merged = CaseInsensitiveDict({"User-Agent": USER_AGENT})
    merged.update(lines)
    return encode(merged.items())


def _with_host(lines: dict[str, Any], authority: str) -> dict[str, Any]:
    """Lines with a Host added if missing, in geventhttpclient's position: before the lines that frame the body."""
    if any(name.lower() == "host" for name in lines):
        return lines
    if next(reversed(lines), None) not in (CHUNKED_NAME, LENGTH_NAME):
        return {**lines, "Host": authority}
    *others, framing = lines.items()
    return dict([*others, ("Host", authority), framing])


def _texts(lines: Mapping[str, Any]) -> dict[str, str]:
    """Header lines whose values may be of any type; Locust's client converts them with str()."""
    return {name: it if isinstance(it, str) else str(it) for name, it in lines.items()}


def _with_fields(method: str, data: Any, params: Any, fields: dict[str, Any]) -> tuple[Any, Any]:
    """(data, params) with the unknown arguments of request(); a body that is not a form takes precedence."""
    if method.upper() == "POST":
        return _joined(data, fields), params
    return data, _joined(params, fields)


def _joined(known: Any, fields: dict[str, Any]) -> Any:
    if known is None:
        return fields
    return {**known, **fields} if isinstance(known, dict) else known


def _merged(lines: dict[str, Any]) -> dict[str, Any]:
    """If a name has several spellings, the last one and its value replace the first."""
    merged = {name.lower(): (name, value) for name, value in lines.items()}
    return dict(merged.values())
