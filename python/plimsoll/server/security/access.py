"""Access control: valid hosts, requests from our own pages, and users with the token.

It protects against three dangers, on every request and before any other code:

- A page of another site, open in a browser on this machine, sends requests here (CSRF), or makes its own name point at
  this machine (DNS rebinding). The Host must be one of ours, Origin and Sec-Fetch-Site must be those of our page, and
  every change needs a token that only our page can read.
- Another machine on the network sends requests. An address beyond loopback needs the token of `Access`.
- Data from a target runs as a script. Our pages have no inline scripts, and the policy forbids them.
"""

from __future__ import annotations

import functools
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from plimsoll.errors import UsageError
from plimsoll.server.answers import problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from plimsoll.server.security.login import Sessions

LOOPBACK = "127.0.0.1"
SHORTEST_TOKEN = 8
"""Characters. An address has ten guesses a minute."""
MOST_BODY = 1_000_000
"""Bytes of a request's body, unless its address takes more."""
CSRF_HEADER = "X-Plimsoll-Token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "style-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Defaults for the headers of every response."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use the page. host: the listening address; "" is loopback. token: required from everyone; None for no
    token. Raises UsageError if others could reach the page without a token, and for a token that is too short.

    With a token any Host is accepted: another site's page under one of our names does not have our cookie.
    """

    host: str = LOOPBACK
    token: str | None = field(default=None, repr=False)
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """The page sends it with every change."""

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise UsageError(f"{self.host} can be reached by others: they must need a token")
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise UsageError(f"a token needs at least {SHORTEST_TOKEN} characters")

    def knows(self, token: str) -> bool:
        """Whether this is the token, in constant time."""
        return self.token is not None and secrets.compare_digest(token.encode(), self.token.encode())

    def is_csrf(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self.csrf.encode())


def make_token() -> str:
    return secrets.token_urlsafe(18)


class Guard:
    """Middleware: rejects forbidden requests, and sets the headers of responses.

    most_body: the bytes of a request's body at addresses that take more than `MOST_BODY`.
    """

    def __init__(
        self, app: ASGIApp, access: Access, sessions: Sessions, base_path: str, most_body: Mapping[str, int]
    ) -> None:
        self._app = app
        self._access = access
        self._sessions = sessions
        self._base = base_path
        self._most_body = most_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._foreign(scope, headers) or self._stranger(scope, headers) or self._forged(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send_safely)
        else:
            most = self._most_body.get(scope["path"])
            bounded = _bounded(receive) if most is None else _bounded_file(receive, most)
            await self._app(scope, bounded, send_safely)

    def _foreign(self, scope: Scope, headers: Headers) -> Response | None:
        """The rejection of a request from another site's page, or None."""
        hosts = headers.getlist("host")
        name = hostname(hosts[0]) if len(hosts) == 1 else ""
        if not name:
            return problem(400, "the request must say for which host it is")
        if self._access.token is None and not is_of_this_machine(name, self._access.host):
            return problem(403, f"this machine is not called {name}: ask for it by its address")
        origin = headers.get("origin")
        if origin is not None and host_of_origin(origin).lower() != hosts[0].lower():
            return problem(403, "a page of another site may not do this")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not _is_link(scope, headers):
            return problem(403, "a page of another site may not do this")
        return None

    def _stranger(self, scope: Scope, headers: Headers) -> Response | None:
        """The response to a request without the token, or None."""
        if self._access.token is None or scope["path"] == f"{self._base}/login":
            return None
        if self._sessions.is_open(scope, headers):
            return None
        if _bearer(headers) is not None:
            return self._sessions.check(scope, _bearer(headers) or "")
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse(f"{self._base}/login", 303)
        text = f"a token is needed: log in at {self._base}/login, or send Authorization: Bearer TOKEN"
        return problem(401, text, headers={"WWW-Authenticate": "Bearer"})

    def _forged(self, scope: Scope, headers: Headers) -> Response | None:
        """Rejects changes that our page did not send. Programs send the bearer token instead."""
        if scope["method"] in SAFE_METHODS or not scope["path"].startswith(f"{self._base}/api/"):
            return None
        if self._access.token is not None and _bearer(headers) is not None:
            return None
        if self._access.is_csrf(headers.get(CSRF_HEADER, "")):
            return None
        return problem(403, f"the token of {self._base}/api/state must be in the header {CSRF_HEADER}")


def host_of_origin(origin: str) -> str:
    """The host and port of an Origin header; "" for an invalid one."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def hostname(host: str) -> str:
    """Without the port; "" for an invalid host."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether the request follows a link to this page, which reveals nothing to the other site."""
    target = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return scope["method"] == "GET" and target == ("navigate", "document")


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _bounded(receive: Receive) -> Receive:
    """The same body; if it is too long, reading it raises HTTPException."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > MOST_BODY:
                raise HTTPException(413)
        return message

    return bounded


def _bounded_file(receive: Receive, most: int) -> Receive:
    """The same body. One that is too long is read to its end and not kept: a browser that has not sent its whole file
    does not read the answer. Then HTTPException is raised."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            while message.get("more_body"):
                message = await receive()
            raise HTTPException(
                413, f"the file is longer than {most / 1e6:.0f} MB: record fewer pages, or leave out bodies"
            )
        return message

    return bounded


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect to this address; "" is loopback."""
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_of_this_machine(name: str, given: str) -> bool:
    """Whether this name in a request cannot be a foreign name pointed at this machine. given: the listening address."""
    name = name.lower()
    if name in ("localhost", given.lower()):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in _own_names()
    return True


@functools.cache
def _own_names() -> frozenset[str]:
    """Cached: the resolver may be slow."""
    return frozenset({socket.gethostname().lower(), socket.getfqdn().lower()})
