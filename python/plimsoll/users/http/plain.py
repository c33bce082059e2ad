"""Requests composed from the call's arguments without the requests library, byte for byte as requests would."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from functools import lru_cache
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, NamedTuple

from requests.auth import HTTPBasicAuth, _basic_auth_str
from urllib3 import Timeout

from plimsoll._engine import Timeouts, json_text
from plimsoll.users.http.headers import ADDED_BELOW
from plimsoll.users.http.url import encode_form

if TYPE_CHECKING:
    from plimsoll._engine import Headers, Origin
    from plimsoll.users.http.upload import Upload
    from plimsoll.users.http.url import Route, RouteCache

FORM, JSON = "application/x-www-form-urlencoded", "application/json"

_BODILESS = ("GET", "HEAD")
# requests sets these itself and replaces those of the call; calls with them go to requests.
DECIDED_BY_REQUESTS = {"content-length", "transfer-encoding"}


class ComposedSetup(NamedTuple):
    """A session's settings resolved for one root, valid until one of them changes."""

    routes: RouteCache
    root: str
    origin: Origin
    headers: Headers
    given: frozenset[str]
    """Header names, in lower case."""
    cookie: str | None
    until: float | None
    """Unix time at which the first cookie expires."""
    authorization: str | None
    extra: dict[str, str | bytes | None] | None
    """Cookie and Authorization, if present."""


class ComposedRequest(NamedTuple):
    """What a call sends in addition to the setup."""

    route: Route
    extra: dict[str, Any] | None
    body: bytes | Upload | None
    content_type: str | None
    payload: Any = None
    """The body as `response.request.body` shows it."""


def basic_authorization(auth: Any) -> str | None:
    """The Authorization header of basic authentication; None for any other kind, which only requests supports."""
    if isinstance(auth, tuple) and len(auth) == 2:
        return _basic_auth_str(*auth)
    if type(auth) is HTTPBasicAuth:
        return _basic_auth_str(auth.username, auth.password)
    return None


def compose(
    setup: ComposedSetup, route: Route, method: str, params: Any, headers: Any, data: Any, json: Any, auth: Any
) -> ComposedRequest | None:
    """The message of a call; None if it needs requests. method: upper case."""
    authorization = setup.authorization
    if auth:
        authorization = basic_authorization(auth)
        if authorization is None:
            return None
    if params:
        route = route.with_params(params)
    body, content_type, payload = None, None, None
    if data or json is not None:
        try:
            payload, content_type = _encode_body(data, json)
        except _NotPlainError:
            return None
        body = payload.encode() if isinstance(payload, str) else payload
    elif method not in _BODILESS:
        body = b""
    if not headers:
        if headers is not None and not isinstance(headers, Mapping):
            # "" or [] make requests drop the session's headers, too.
            return None
        if authorization is None or (body is None and not auth):
            return ComposedRequest(route, setup.extra, body, content_type, payload)
        headers = {}
    elif _is_decided_elsewhere(headers, setup, authorization):
        return None
    extra = dict(headers)
    # In requests' order.
    if setup.cookie is not None:
        extra["Cookie"] = setup.cookie
    if authorization is not None:
        if body is not None:
            _describe_body(extra, setup, body, content_type)
        extra["Authorization"] = authorization
    return ComposedRequest(route, extra, body, content_type, payload)


def _describe_body(extra: dict[str, Any], setup: ComposedSetup, body: bytes, content_type: str | None) -> None:
    """Add the body headers that the engine would add at the end, before Authorization."""
    extra["Content-Length"] = str(len(body))
    is_given = "content-type" in setup.given or any(name.lower() == "content-type" for name in extra)
    if content_type is not None and not is_given:
        extra["Content-Type"] = content_type


class _NotPlainError(Exception):
    """Needs requests, which handles it or raises the proper error."""


def _encode_body(data: Any, json: Any) -> tuple[bytes | str, str | None]:
    if not data:
        try:
            return dump_strictly(json).encode(), JSON
        except ValueError as error:
            raise _NotPlainError from error
    if isinstance(data, (str, bytes)):
        return data, None
    # An empty form (of None values only) is a special case of requests.
    if isinstance(data, (dict, list, tuple)) and (form := encode_form(data)):
        return form, FORM
    raise _NotPlainError


def _is_decided_elsewhere(headers: Any, setup: ComposedSetup, authorization: str | None) -> bool:
    if not isinstance(headers, Mapping):
        return True
    seen: set[str] = set()
    for name, value in headers.items():
        if not isinstance(name, str):
            return True
        lowered = name.lower()
        if lowered in seen:
            return True
        seen.add(lowered)
        if (
            lowered in DECIDED_BY_REQUESTS
            or (lowered == "authorization" and authorization is not None)
            or (lowered in ("cookie", "host") and setup.cookie is not None)
            or (lowered in ADDED_BELOW and (value is None or lowered not in setup.given))
        ):
            return True
    return False


# A script may have replaced it: then its own is called.
_DUMPS = json_module.dumps

_strictly = JSONEncoder(allow_nan=False).encode


def dump(value: Any) -> str:
    """json.dumps of a value, without options. Raises TypeError and ValueError."""
    if json_module.dumps is _DUMPS and (text := json_text(value)) is not None:
        return text
    return json_module.dumps(value)


def dump_strictly(value: Any) -> str:
    """JSON without NaN and infinity, which requests refuses. Raises TypeError and ValueError."""
    text = json_text(value)
    return _strictly(value) if text is None else text


def limits(timeout: Any) -> Timeouts | None:
    """The limits of `timeout=`: a number limits the whole request; a pair and a urllib3.Timeout mean the same as in
    requests. Raises ValueError for a limit of zero or below."""
    if timeout is None:
        return None
    if type(timeout) in (int, float) and timeout > 0:
        return whole(timeout)
    if not isinstance(timeout, Timeout):
        if isinstance(timeout, tuple) and len(timeout) != 2:
            raise ValueError(
                f"Invalid timeout {timeout}. Pass a (connect, read) timeout tuple, or a single float to set both "
                "timeouts to the same value."
            )
        connect, read = timeout if isinstance(timeout, tuple) else (timeout, timeout)
        if type(connect) in (int, float) and type(read) in (int, float) and connect > 0 and read > 0:
            return Timeouts(0.0, connect, read)
        timeout = Timeout(connect=connect, read=read)
    return Timeouts(_seconds(timeout.total), _seconds(timeout.connect_timeout), _seconds(timeout._read))


@lru_cache(maxsize=64)
def whole(seconds: float) -> Timeouts:
    """The limit of a whole request. When streaming, it covers only the head, and then each wait for more data."""
    return Timeouts(seconds, 0.0, seconds)


def _seconds(value: Any) -> float:
    # urllib3's "default" is an object; it means no limit here.
    return value if isinstance(value, (int, float)) else 0.0
