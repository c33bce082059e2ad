"""The common calls of FastHttpSession: what the engine needs for them, and what it leaves to this session.

Each call that the engine makes is the same as `request` without its special cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll._engine import QuickSettings
from plimsoll.locust.fasthttp.body import BODY_METHODS
from plimsoll.locust.fasthttp.response import FastResponse
from plimsoll.users.http.plain import ComposedRequest, dump
from plimsoll.users.http.prepared import Chain
from plimsoll.users.http.sending import NO_CONTEXT, Sender

if TYPE_CHECKING:
    from plimsoll._engine import Headers, Origin, Reply, Timeouts
    from plimsoll.users.http.url import RouteCache


class FastCalls(Sender[FastResponse]):
    """The verbs of FastHttpSession."""

    max_redirects: int
    _timeouts: Timeouts

    def _bare(self) -> tuple[RouteCache, Origin, Headers, Headers | None] | None:
        """The routes and the origin of the base URL, all headers of a call without arguments, and those before the
        lines of a call; None if `request` has to compose these. None without a host: all URLs are absolute.
        """
        raise NotImplementedError

    def _lines(self, headers: Any, auth: Any, is_json: bool, root: str) -> dict[str, Any]:
        raise NotImplementedError

    def _received(self, chain: Chain, reply: Reply, message: ComposedRequest) -> FastResponse:
        raise NotImplementedError

    def _follow(
        self, chain: Chain, response: FastResponse, method: str, message: ComposedRequest, redirects: int
    ) -> FastResponse:
        raise NotImplementedError

    def _quick_settings(self) -> QuickSettings | None:
        if self._is_special or self._pacer._waits is not None or (bare := self._bare()) is None:
            return None
        routes, origin, headers, base = bare
        return QuickSettings(
            **self._quick_parts(),
            fast=True,
            response=FastResponse,
            dump=dump,
            routes=routes,
            root=routes.root,
            prefix=routes.prefix,
            origin=origin,
            headers=headers if base is None else base,
            bare=headers,
            composes=base is not None,
            timeouts=self._timeouts,
        )

    def _finish(
        self, response: FastResponse, is_named: bool, catch_response: bool, headers: Any, has_json: bool
    ) -> FastResponse:
        method = response.endpoint[0]
        route, text, reply = response._route, response._body, response.reply
        assert reply is not None
        lines = self._lines(headers, None, has_json, route.root)
        body = text.encode() if text else b"" if method in BODY_METHODS else None
        chain, message = Chain(response.endpoint), ComposedRequest(route, lines, body, None, text)
        response = self._received(chain, reply, message)
        response = self._follow(chain, response, method, message, self.max_redirects)
        return self._hand_over(response, catch_response, NO_CONTEXT, False)
