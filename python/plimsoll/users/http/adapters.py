"""Adapters of requests that a locustfile mounts on its session: their changes to requests and responses take effect.

An adapter with its own `send` or `add_headers` is called, and so is a function with which a script replaces that of
HTTPAdapter. When they call the method of the base class, the engine sends, with retries as in the adapter's
`max_retries`: for that, HTTPAdapter's own `send` is replaced here. The engine manages the connections; adapters that
only configure connections have no effect.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import RequestException, RetryError
from urllib3.exceptions import MaxRetryError
from urllib3.util.request import set_file_position

from plimsoll.users.failure import pool_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import PreparedRequest, Response
    from urllib3 import Retry

_asked: ContextVar[tuple[BaseAdapter, Callable[..., Response]] | None] = ContextVar("_asked", default=None)
"""The adapter that a session calls in this greenlet, and the session's function that sends with the engine."""


_requests_send, _requests_add_headers = HTTPAdapter.send, HTTPAdapter.add_headers


@wraps(_requests_send)
def _send(self: HTTPAdapter, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
    """Send with the engine if a session of HttpUser has asked this adapter, else as requests does."""
    asked = _asked.get()
    if asked is None or asked[0] is not self:
        return _requests_send(self, request, *args, **kwargs)
    kwargs |= zip(("stream", "timeout", "verify", "cert", "proxies"), args, strict=False)
    self.add_headers(request, **kwargs)
    send, retries, position = asked[1], self.max_retries, None
    while True:
        position = set_file_position(request.body, position)
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


# What a locustfile's adapter, or a function that replaces this one, calls in the end.
HTTPAdapter.send = _send  # type: ignore[method-assign]


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
    own = cls.send is not _send or cls.add_headers is not _requests_add_headers
    return own or bool(adapter.max_retries.total)


def ask(adapter: BaseAdapter, send: Callable[..., Response], request: PreparedRequest, **settings: Any) -> Response:
    """The adapter's response to a request; `send` does what the method of its base class would do."""
    token = _asked.set((adapter, send))
    try:
        return adapter.send(request, **settings)
    finally:
        _asked.reset(token)
