"""Functions of requests that a script replaces for all sessions: HttpUser's sessions call the replacements, too.

A replacement calls the function that it has found before. For an HttpSession that function has to send with the engine.
So ours stand in the places of requests' own from the import of this module on, which is before the script's. For all
other sessions they are requests' own.
"""

from __future__ import annotations

import logging
from functools import cache, wraps
from inspect import signature
from typing import Any

from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

import plimsoll.users.http.adapters  # noqa: F401 - it puts its own HTTPAdapter.send in place

logger = logging.getLogger(__name__)

_session_request, _session_send = Session.request, Session.send
_of_request = signature(_session_request)


class EngineSession:
    """A session whose requests the engine sends."""

    def request_itself(self, method: str, url: str, **arguments: Any) -> Response:
        """What `requests.Session.request` does, without a report."""
        raise NotImplementedError

    def send_itself(self, request: PreparedRequest, **settings: Any) -> Response:
        """What `requests.Session.send` does."""
        raise NotImplementedError


@wraps(_session_request)
def _request(self: Session, *args: Any, **kwargs: Any) -> Response:
    if not isinstance(self, EngineSession):
        return _session_request(self, *args, **kwargs)
    given = _of_request.bind(self, *args, **kwargs).arguments
    return self.request_itself(**{name: value for name, value in given.items() if name != "self"})


@wraps(_session_send)
def _send(self: Session, request: PreparedRequest, **kwargs: Any) -> Response:
    if not isinstance(self, EngineSession):
        return _session_send(self, request, **kwargs)
    return self.send_itself(request, **kwargs)


Session.request, Session.send = _request, _send  # type: ignore[method-assign]


def _as_they_are(*functions: tuple[type, str]) -> tuple[tuple[type, str, Any], ...]:
    return tuple((owner, name, owner.__dict__[name]) for owner, name in functions)


_HONOURED = _as_they_are(
    (Session, "request"), (Session, "send"), (Session, "prepare_request"), (Session, "merge_environment_settings"),
    (Session, "get_adapter"), (HTTPAdapter, "send"), (HTTPAdapter, "add_headers"),
)  # fmt: skip
_WITHOUT_EFFECT = _as_they_are(
    (HTTPAdapter, "init_poolmanager"), (HTTPAdapter, "get_connection_with_tls_context"), (HTTPAdapter, "cert_verify"),
    (HTTPAdapter, "build_response"), (HTTPConnectionPool, "urlopen"), (HTTPConnection, "request"),
)  # fmt: skip
"""They connect, send, or make a response of what a connection of urllib3 has read: all that is the engine's."""


def request_is_replaced() -> bool:
    """Whether a script has replaced `requests.Session.request`."""
    return Session.request is not _request


def send_is_replaced() -> bool:
    """Whether a script has replaced `requests.Session.send`."""
    return Session.send is not _send


def any_replaced() -> bool:
    """Whether requests must go through a replacement. Says once which other replacements have no effect."""
    for owner, name, original in _WITHOUT_EFFECT:
        if owner.__dict__.get(name) is not original:
            _warn(f"{owner.__module__.partition('.')[0]}'s {owner.__name__}.{name}", owner.__dict__.get(name))
    return any(owner.__dict__.get(name) is not original for owner, name, original in _HONOURED)


@cache
def _warn(called: str, replacement: Any) -> None:
    code = getattr(replacement, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    logger.warning(
        "%s is replaced%s; this has no effect on requests of HttpUser: Plimsoll's engine connects, sends and reads. "
        "Replacements of Session.request, Session.send and HTTPAdapter.send have an effect",
        called,
        where,
    )
