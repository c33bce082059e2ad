"""Redirects of a FastHttpSession."""

from __future__ import annotations

from plimsoll.users.http.plain import ComposedRequest
from plimsoll.users.http.upload import Upload
from plimsoll.users.http.url import redirect_target, route_of

_ABOUT_THE_BODY = ("content-length", "content-type", "content-encoding", "transfer-encoding")
_SECRET = ("Authorization", "Proxy-Authorization")
"""Dropped if scheme, host or port changes."""


def redirected(method: str, message: ComposedRequest, status: int, location: str) -> tuple[str, ComposedRequest]:
    """The next hop. Raises RequestException for an invalid location, and for a body that cannot be read again."""
    route = route_of(redirect_target(message.route.url, location))
    lines, body, payload = message.extra or {}, message.body, message.payload
    dropped = {"cookie"}
    is_elsewhere = route.root != message.route.root
    if is_elsewhere:
        dropped.update(name.lower() for name in _SECRET)
    if status in (301, 302, 303):
        method = method if method == "HEAD" else "GET"
        body = payload = None
        dropped.update(_ABOUT_THE_BODY)
    elif isinstance(body, Upload):
        body = body.again()
    kept = {name: value for name, value in lines.items() if name.lower() not in dropped}
    if is_elsewhere:
        # Not the session's either.
        kept = dict.fromkeys(_SECRET) | kept
    return method, ComposedRequest(route, kept, body, None, payload)
