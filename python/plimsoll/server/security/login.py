"""The login form, the sessions, and the limit on wrong tokens."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections import OrderedDict
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from plimsoll.server.answers import problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import Headers
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from plimsoll.server.security.access import Access

SESSION = 24 * 3600
"""Lifetime of a login in seconds."""
MOST_SESSIONS = 1000
"""Above this, the oldest are dropped."""
GUESSES = 10
"""Wrong tokens per address within LOCKOUT_S; after that even the right one is rejected."""
LOCKOUT_S = 60.0
"""How long wrong tokens of an address count."""
MOST_ADDRESSES = 10_000

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; min-height: 100vh; place-items: center; }
main { width: min(22rem, 90vw); } h1 { font-size: 1.25rem; } label, input, button { display: block; width: 100%; }
input, button { font: inherit; box-sizing: border-box; padding: .5rem .75rem; margin: .25rem 0 1rem; }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plimsoll: log in</title><style>{style}</style></head><body><main><h1>Plimsoll</h1>
<form method="post" action="login">{wrong}<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button></form><p>The token was given to, or printed by, the process that serves this page.</p>
</main></body></html>
"""


class FailedLogins:
    """Recent wrong tokens per address. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 for now."""
        times = [each for each in self._wrong.get(address, ()) if each > self._clock() - LOCKOUT_S]
        return times[-GUESSES] + LOCKOUT_S - self._clock() if len(times) >= GUESSES else 0.0

    def count(self, address: str) -> None:
        """Count a wrong token of this address."""
        times = self._wrong.setdefault(address, [])
        times.append(self._clock())
        del times[:-GUESSES]
        self._wrong.move_to_end(address)
        while len(self._wrong) > MOST_ADDRESSES:
            self._wrong.popitem(last=False)


class Sessions:
    """Logins, by the value of their cookie. clock: seconds."""

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._ends: OrderedDict[str, float] = OrderedDict()
        self._guesses = FailedLogins(clock)

    def is_open(self, scope: Scope, headers: Headers) -> bool:
        """Whether the request has the cookie of a session."""
        cookie = SimpleCookie()
        try:
            cookie.load(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookie.get(_cookie_name(scope))
        return found is not None and self._ends.get(found.value, 0.0) > self._clock()

    def check(self, scope: Scope, token: str) -> Response | None:
        """The rejection for a wrong token or after too many; None if the token is right."""
        address = (scope.get("client") or ("", 0))[0]
        if wait := self._guesses.wait(address):
            headers = {"Retry-After": f"{wait:.0f}"}
            return problem(429, f"too many wrong tokens; the next is read in {wait:.0f} s", headers=headers)
        if self._access.knows(token):
            return None
        self._guesses.count(address)
        return problem(401, "this is not the token", headers={"WWW-Authenticate": "Bearer"})

    def open(self, scope: Scope, base_path: str) -> Response:
        """Redirect to the page with a cookie, after the right token."""
        value = secrets.token_urlsafe(24)
        self._ends[value] = self._clock() + SESSION
        while len(self._ends) > MOST_SESSIONS:
            self._ends.popitem(last=False)
        response = RedirectResponse(f"{base_path}/", 303)
        response.set_cookie(
            _cookie_name(scope),
            value,
            max_age=SESSION,
            path=base_path or "/",
            secure=scope["scheme"] == "https",
            httponly=True,
            samesite="strict",
        )
        return response


def _cookie_name(scope: Scope) -> str:
    """One cookie per port: for browsers all ports are the same host."""
    return f"plimsoll-{(scope.get('server') or ('', 0))[1]}"


def routes(access: Access, sessions: Sessions, base_path: str) -> list[Route]:
    """None without a token."""
    if access.token is None:
        return []

    def form(_: Request) -> Response:
        return _page("")

    async def log_in(request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))
        refusal = sessions.check(request.scope, fields.get("token", [""])[0])
        if refusal is None:
            return sessions.open(request.scope, base_path)
        many = refusal.status_code == 429
        text = "Too many attempts: wait for a minute." if many else "This is not the token."
        return _page(f'<p role="alert">{text}</p>', refusal.status_code)

    return [Route("/login", form, methods=["GET"]), Route("/login", log_in, methods=["POST"])]


def _page(wrong: str, status: int = 200) -> Response:
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return HTMLResponse(PAGE.format(style=STYLE, wrong=wrong), status, headers)
