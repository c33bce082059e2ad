"""Connections that several Python users share, with HTTP/2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet, ref

from plimsoll.users.http.url import speak_http2

if TYPE_CHECKING:
    from plimsoll._engine import Client
    from plimsoll.users.hub import Hub


class Shared:
    """The connections of several users. They are closed when the last of the sessions is gone."""

    __slots__ = ("__weakref__", "client", "sessions")

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sessions: WeakSet[Any] = WeakSet()


_shares: WeakKeyDictionary[Hub, dict[type, list[ref[Shared]]]] = WeakKeyDictionary()
"""Those of each class of users; the next user is likely to join the last one."""

_most: int | None = None
"""Users of a connection by an option of the run; None: not given."""


def use_http2(users_per_connection: int) -> None:
    """Speak HTTP/2 with all targets in this process. users_per_connection: 1 leaves it to the user classes."""
    global _most
    speak_http2()
    _most = users_per_connection if users_per_connection > 1 else None


def users_per_connection(user: Any) -> int:
    """How many users like this one share their connections."""
    if _most is not None:
        return _most
    return getattr(user, "users_per_connection", 1) if getattr(user, "http2", False) else 1


def share(session: Any, hub: Hub, cls: type, most: int, source: str | None) -> Shared:
    """The connections of a new session of this class of users: others have them too, up to `most`. source: the local
    address of connections that are new."""
    shares = _shares.setdefault(hub, {}).setdefault(cls, [])
    shared = shares[-1]() if shares else None
    if shared is None or len(shared.sessions) >= most:
        known = [each for each in (reference() for reference in shares) if each is not None]
        free = next((each for each in known if len(each.sessions) < most), None)
        shared = free or Shared(hub.engine.client(source))
        shares[:] = [ref(each) for each in known if each is not shared]
        shares.append(ref(shared))
    shared.sessions.add(session)
    return shared
