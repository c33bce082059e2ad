"""The hot path of HttpSession: calls with common arguments, on a session with common settings, in one frame.

Each call here is the same as `request` without its special cases. What it cannot do, it leaves to `request`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from plimsoll.users.http.headers import ADDED_BELOW
from plimsoll.users.http.json_text import dump_strictly
from plimsoll.users.http.plain import DECIDED_BY_REQUESTS, JSON
from plimsoll.users.http.prepared import Chain
from plimsoll.users.http.response import ResponseContextManager
from plimsoll.users.http.sending import NO_CONTEXT, RefusedError, Sender
from plimsoll.users.recording import sole_recorder

if TYPE_CHECKING:
    from plimsoll._engine import Reply
    from plimsoll.users.http.plain import ComposedSetup

_NO_OPTIONS: dict[str, Any] = {"timeout": None, "verify": None, "cert": None, "stream": False}

_LEFT_TO_COMPOSE = ADDED_BELOW | DECIDED_BY_REQUESTS


class QuickCalls(Sender[ResponseContextManager]):
    """The verbs of HttpSession."""

    _setup: ComposedSetup | None

    def _conclude(
        self,
        chain: Chain,
        reply: Reply,
        response: ResponseContextManager,
        options: dict[str, Any],
        allow_redirects: bool,
    ) -> ResponseContextManager:
        raise NotImplementedError

    def get(self, url: str, **kwargs: Any) -> ResponseContextManager:
        """Send a GET request."""
        if not self._is_special and (response := self._call("GET", url, kwargs)) is not None:
            return response
        return self.request("GET", url, **kwargs)

    def post(self, url: str, data: Any = None, json: Any = None, **kwargs: Any) -> ResponseContextManager:
        """Send a POST request."""
        if not self._is_special and (response := self._call("POST", url, kwargs, data, json)) is not None:
            return response
        return self.request("POST", url, data=data, json=json, **kwargs)

    def put(self, url: str, data: Any = None, **kwargs: Any) -> ResponseContextManager:
        """Send a PUT request."""
        if not self._is_special and (response := self._call("PUT", url, kwargs, data)) is not None:
            return response
        return self.request("PUT", url, data=data, **kwargs)

    def patch(self, url: str, data: Any = None, **kwargs: Any) -> ResponseContextManager:
        """Send a PATCH request."""
        if not self._is_special and (response := self._call("PATCH", url, kwargs, data)) is not None:
            return response
        return self.request("PATCH", url, data=data, **kwargs)

    def delete(self, url: str, **kwargs: Any) -> ResponseContextManager:
        """Send a DELETE request."""
        if not self._is_special and (response := self._call("DELETE", url, kwargs)) is not None:
            return response
        return self.request("DELETE", url, **kwargs)

    def _call(
        self, method: str, url: str, given: dict[str, Any], data: Any = None, json: Any = None
    ) -> ResponseContextManager | None:
        """Send a request; None, with nothing sent, if `request` has to.

        given: the call's other arguments.
        """
        cls, setup = type(self), self._setup
        if setup is None or setup.until is not None or cls.request is not cls._request:
            return None
        route = setup.routes[url]
        if route.root != setup.root or route.has_credentials:
            return None
        name = self.request_name
        headers = setup.extra
        catch_response = False
        if given:
            known = 0
            if (own := given.get("name")) is not None:
                name = own or name
                known = 1
            if (own := given.get("headers")) is not None:
                if headers is not None or type(own) is not dict or not _are_common(tuple(own)):
                    return None
                headers = own
                known += 1
            if (own := given.get("json")) is not None:
                json = own
                known += 1
            if "catch_response" in given:
                catch_response = given["catch_response"]
                known += 1
            if known != len(given):
                return None
        body = content_type = None
        if json is not None and not data:
            try:
                body, content_type = dump_strictly(json).encode(), JSON
            except ValueError:
                return None  # requests raises an error of its own
        elif data is not None:
            if type(data) is not bytes or not data:
                return None
            body = data
        elif method != "GET":
            body = b""
        if body is not None and setup.authorization is not None:
            return None
        endpoint = method, name or route.name
        try:
            reply = self._transmit(
                endpoint, setup.origin, method, route.target, setup.headers, headers, body, content_type
            )
        except RefusedError:
            return None
        response = ResponseContextManager(reply, route, body or None, self, endpoint)
        if reply.ordinary and (recorder := sole_recorder(self.request_event)) is not None:
            if catch_response:
                response._catch_response = True
            else:
                recorder.recorder.exchange(recorder.endpoints[endpoint], reply)
            return response
        chain = Chain((method, name or ""))
        chain.endpoint, chain.reply = endpoint, reply
        response = self._conclude(chain, reply, response, _NO_OPTIONS, allow_redirects=True)
        return self._hand_over(response, catch_response, NO_CONTEXT, False)


@lru_cache(maxsize=256)
def _are_common(names: tuple[Any, ...]) -> bool:
    """Whether header lines with these names can be sent as they are, after those of the session."""
    lowered = {name.lower() for name in names if type(name) is str}
    return len(lowered) == len(names) and not lowered & _LEFT_TO_COMPOSE
