"""Adapters of requests that a locustfile mounts on its session: what they do to a request and its response counts.

An adapter with a `send` or an `add_headers` of its own is asked, and where it calls that of its base class, the engine
sends. Connections are the engine's business, and adapters that only say how to make them have no effect.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from requests.adapters import BaseAdapter, HTTPAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import PreparedRequest, Response

_send: ContextVar[Callable[..., Response]] = ContextVar("_send")
"""What sends for the session that is asking an adapter, in the greenlet that does."""


class EngineAdapter(HTTPAdapter):
    """Put between a locustfile's adapter and HTTPAdapter: its super().send() is this one."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send with the engine of the session that asks."""
        kwargs |= zip(("stream", "timeout", "verify", "cert", "proxies"), args, strict=False)
        self.add_headers(request, **kwargs)
        return _send.get()(request, **kwargs)


def takes_part(adapter: Any) -> bool:
    """Whether it does anything to requests or responses."""
    cls = type(adapter)
    if not isinstance(adapter, HTTPAdapter):
        return isinstance(adapter, BaseAdapter)
    return cls.send is not HTTPAdapter.send or cls.add_headers is not HTTPAdapter.add_headers


def join(adapter: BaseAdapter) -> None:
    """Have the engine send what the adapter gives to its base class."""
    cls = type(adapter)
    if isinstance(adapter, HTTPAdapter) and not isinstance(adapter, EngineAdapter):
        adapter.__class__ = type(cls.__name__, (cls, EngineAdapter), {"__module__": cls.__module__})


def ask(adapter: BaseAdapter, send: Callable[..., Response], request: PreparedRequest, **settings: Any) -> Response:
    """Its response to a request; `send` is what it gets to by way of its base class."""
    token = _send.set(send)
    try:
        return adapter.send(request, **settings)
    finally:
        _send.reset(token)
