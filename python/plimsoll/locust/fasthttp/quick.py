"""The hot path of FastHttpSession: calls with common arguments, on a session with common settings, in one frame.

Each call here is the same as `request` without its special cases. What it cannot do, it leaves to `request`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.locust.fasthttp.response import FastResponse
from plimsoll.users.http.json_text import dump
from plimsoll.users.http.plain import JSON, ComposedRequest
from plimsoll.users.http.prepared import Chain
from plimsoll.users.http.sending import NO_CONTEXT, RefusedError, Sender
from plimsoll.users.recording import sole_recorder

if TYPE_CHECKING:
    from plimsoll._engine import Headers, Origin, Reply, Timeouts
    from plimsoll.users.http.url import RouteCache

ACCEPT_ENCODING = "gzip, deflate, br"

_SPECIAL = {"accept-encoding", "content-length", "content-type", "cookie", "host", "transfer-encoding"}
"""Header names that `request` changes, or that change what it does."""


class ReadySettings(NamedTuple):
    """The settings of a session, prepared for requests to its base URL."""

    routes: RouteCache
    root: str
    origin: Origin
    headers: Headers
    """Of a request without arguments."""
    base: Headers | None
    """What is sent before the lines of a call; None if `request` has to compose these."""


class FastQuickCalls(Sender[FastResponse]):
    """The verbs of FastHttpSession."""

    valid_response_codes: frozenset[int]
    max_redirects: int
    _ready: ReadySettings | None = None
    _timeouts: Timeouts

    def _make_ready(self) -> ReadySettings | None:
        """None without a host: all URLs are absolute."""
        raise NotImplementedError

    def _received(self, chain: Chain, reply: Reply, message: ComposedRequest) -> FastResponse:
        raise NotImplementedError

    def _follow(
        self, chain: Chain, response: FastResponse, method: str, message: ComposedRequest, redirects: int
    ) -> FastResponse:
        raise NotImplementedError

    def get(self, url: str, **kwargs: Any) -> FastResponse:
        """Send a GET request."""
        if not self._is_special and (response := self._call("GET", url, kwargs)) is not None:
            return response
        return self.request("GET", url, **kwargs)

    def post(self, url: str, data: Any = None, json: Any = None, **kwargs: Any) -> FastResponse:
        """Send a POST request."""
        if data is None and not self._is_special and (response := self._call("POST", url, kwargs, json)) is not None:
            return response
        return self.request("POST", url, data=data, json=json, **kwargs)

    def _call(self, method: str, url: str, given: dict[str, Any], json: Any = None) -> FastResponse | None:
        """Send a request; None, with nothing sent, if `request` has to.

        given: the call's other arguments.
        """
        cls, ready = type(self), self._ready or self._make_ready()
        if ready is None or cls.request is not cls._request:
            return None
        route = ready.routes[url]
        if route.root != ready.root:
            return None
        name = self.request_name or url
        base, extra, text, body, catch_response = ready.headers, None, None, None, False
        if given or method != "GET":
            if ready.base is None:
                return None
            base = ready.base
            known = 0
            if (own := given.get("name")) is not None:
                name = own or name
                known = 1
            if (lines := given.get("headers")) is not None:
                if type(lines) is not dict:
                    return None
                for value in lines.values():
                    if type(value) is not str:
                        return None
                known += 1
            if "catch_response" in given:
                catch_response = given["catch_response"]
                known += 1
            added = _added(() if lines is None else tuple(lines), json is not None, ready.origin.authority)
            if known != len(given) or added is None:
                return None
            extra = {**lines, **added} if lines else added
            if json is not None:
                text = dump(json)
                body = text.encode()
            elif method != "GET":
                body = b""
        endpoint = method, name
        try:
            reply = self._transmit(
                endpoint, ready.origin, method, route.target, base, extra, body, None, self._timeouts
            )
        except RefusedError:
            return None
        if reply.ordinary and (recorder := sole_recorder(self.request_event)) is not None:
            response = FastResponse(reply, route, text, self, endpoint)
            if response.status_code in self.valid_response_codes:
                if catch_response:
                    response._catch_response = True
                else:
                    recorder.recorder.exchange(recorder.endpoints[endpoint], reply)
                return response
        own_lines = {"Accept-Encoding": ACCEPT_ENCODING} if extra is None else _without_host(extra)
        chain, message = Chain(endpoint), ComposedRequest(route, own_lines, body, None, text)
        response = self._received(chain, reply, message)
        response = self._follow(chain, response, method, message, self.max_redirects)
        return self._hand_over(response, catch_response, NO_CONTEXT, False)


def _without_host(lines: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in lines.items() if name != "Host"}


@lru_cache(maxsize=256)
def _added(names: tuple[Any, ...], has_json: bool, authority: str) -> dict[str, str] | None:
    """The lines after those with these names; None if the result is not simply both."""
    lowered = {name.lower() for name in names if type(name) is str}
    if len(lowered) < len(names) or lowered & _SPECIAL:
        return None
    added = {"Accept-Encoding": ACCEPT_ENCODING}
    if has_json:
        added["Content-Type"] = JSON
        if "accept" not in lowered:
            added["Accept"] = JSON
        elif "accept" not in names and "Accept" not in names:
            return None
    return {**added, "Host": authority}
