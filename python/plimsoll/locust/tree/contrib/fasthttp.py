from plimsoll.locust.fasthttp.response import ErrorResponse, FastResponse
from plimsoll.locust.fasthttp.response import FastResponse as ResponseContextManager
from plimsoll.locust.fasthttp.response import FastResponse as RestResponseContextManager
from plimsoll.locust.fasthttp.session import FastHttpSession, LocustUserAgent, insecure_ssl_context_factory
from plimsoll.locust.fasthttp.user import FastHttpUser
from plimsoll.locust.legacy import FastHttpLocust
from plimsoll.users.failure import FAST_FAILURES as FAILURE_EXCEPTIONS
from plimsoll.users.failure import HTTPConnectionClosed, HTTPParseError, LocustBadStatusCode
from plimsoll.users.url import ABSOLUTE as absolute_http_url_regexp  # noqa: N811 - Locust calls it so

__all__ = [
    "FAILURE_EXCEPTIONS",
    "ErrorResponse",
    "FastHttpLocust",
    "FastHttpSession",
    "FastHttpUser",
    "FastResponse",
    "HTTPConnectionClosed",
    "HTTPParseError",
    "LocustBadStatusCode",
    "LocustUserAgent",
    "ResponseContextManager",
    "RestResponseContextManager",
    "absolute_http_url_regexp",
    "insecure_ssl_context_factory",
]
