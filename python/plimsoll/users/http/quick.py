"""The common calls of HttpSession: what the engine needs for them, and what it leaves to this session.

Each call that the engine makes is the same as `request` without its special cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll._engine import QuickSettings
from plimsoll.users.http.plain import dump_strictly
from plimsoll.users.http.prepared import Chain
from plimsoll.users.http.response import ResponseContextManager
from plimsoll.users.http.sending import NO_CONTEXT, Sender

if TYPE_CHECKING:
    from plimsoll._engine import Reply
    from plimsoll.users.http.plain import ComposedSetup

_NO_OPTIONS: dict[str, Any] = {"timeout": None, "verify": None, "cert": None, "stream": False}


class HttpCalls(Sender[ResponseContextManager]):
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

    def _quick_settings(self) -> QuickSettings | None:
        setup = self._setup
        if self._is_special or self._pacer._waits is not None or setup is None or setup.until is not None:
            return None
        return QuickSettings(
            **self._quick_parts(),
            fast=False,
            response=ResponseContextManager,
            dump=dump_strictly,
            routes=setup.routes,
            root=setup.root,
            prefix=setup.routes.prefix if setup.root == setup.routes.root else None,
            origin=setup.origin,
            headers=setup.headers,
            # requests puts Authorization after the lines about the body.
            only_without_body=setup.authorization is not None,
            extra=setup.extra,
        )

    def _finish(
        self, response: ResponseContextManager, is_named: bool, catch_response: bool, headers: Any, has_json: bool
    ) -> ResponseContextManager:
        method, name = response.endpoint
        reply = response.reply
        assert reply is not None
        chain = Chain((method, name if is_named else ""))
        chain.endpoint, chain.reply = response.endpoint, reply
        response._catch_response = False
        response = self._conclude(chain, reply, response, _NO_OPTIONS, allow_redirects=True)
        return self._hand_over(response, catch_response, NO_CONTEXT, False)
