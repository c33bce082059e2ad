"""Adapters of requests that a locustfile mounts on its session: their changes to requests and responses take effect.

An adapter with its own `send` or `add_headers` is called. When it calls the method of its base class, the engine sends,
with retries as in the adapter's `max_retries`. The engine manages the connections; adapters that only configure
connections have no effect.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import RequestException, RetryError
from urllib3.exceptions import MaxRetryError

from plimsoll.users.failure import pool_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import PreparedRequest, Response
    from urllib3 import Retry

_send: ContextVar[Callable[..., Response]] = ContextVar("_send")
"""The send function of the session that calls an adapter, in the calling greenlet."""


class EngineAdapter(HTTPAdapter):
    """Inserted between a locustfile's adapter and HTTPAdapter: super().send() of the adapter is this one."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send with the engine of the calling session."""
        kwargs |= zip(("stream", "timeout", "verify", "cert", "proxies"), args, strict=False)
        self.add_headers(request, **kwargs)
        send, retries = _send.get(), self.max_retries
        while True:
            try:
                response = send(request, **kwargs)
            except RequestException as error:
                retries = _after_error(retries, request, error)
                continue
            if not retries.is_retry(str(request.method), response.status_code, "Retry-After" in response.headers):
                return response
            try:
                pool = pool_of(str(request.url))
                retries = retries.increment(request.method, request.path_url, response=response.raw, _pool=pool)
            except MaxRetryError as error:
                if not retries.raise_on_status:
                    return response
                raise RetryError(error, request=request) from error
            retries.sleep(response.raw)


def _after_error(retries: Retry, request: PreparedRequest, error: RequestException) -> Retry:
    """The retries left after a failed attempt, after the pause before the next. Raises error if none are left."""
    cause = error.args[0] if error.args else error
    cause = cause.reason if isinstance(cause, MaxRetryError) else cause
    if not retries.total or not isinstance(cause, Exception):
        raise error
    try:
        left = retries.increment(request.method, request.path_url, error=cause)
    except Exception as exhausted:
        raise error from exhausted
    left.sleep()
    return left


def takes_part(adapter: Any) -> bool:
    """Whether it changes requests or responses."""
    cls = type(adapter)
    if not isinstance(adapter, HTTPAdapter):
        return isinstance(adapter, BaseAdapter)
    own = cls.send is not HTTPAdapter.send or cls.add_headers is not HTTPAdapter.add_headers
    return own or bool(adapter.max_retries.total)


def join(adapter: BaseAdapter) -> None:
    """Make the engine send what the adapter passes to its base class."""
    cls = type(adapter)
    if isinstance(adapter, HTTPAdapter) and not isinstance(adapter, EngineAdapter):
        bases = (EngineAdapter,) if cls is HTTPAdapter else (cls, EngineAdapter)
        adapter.__class__ = type(cls.__name__, bases, {"__module__": cls.__module__})


def ask(adapter: BaseAdapter, send: Callable[..., Response], request: PreparedRequest, **settings: Any) -> Response:
    """The adapter's response to a request; `send` replaces the method of its base class."""
    token = _send.set(send)
    try:
        return adapter.send(request, **settings)
    finally:
        _send.reset(token)
