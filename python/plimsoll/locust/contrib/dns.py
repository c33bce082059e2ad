"""Name servers over dnspython."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.exceptions import LocustError
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.locust.environment import Environment
    from plimsoll.users.events import EventHook

_query: Any = library("dns.query", "dnspython")
_DNSException: Any = library("dns.exception", "dnspython").DNSException


class DNSClient:
    """The functions of `dns.query` as methods; each call is reported as DNS."""

    def __init__(self, request_event: EventHook) -> None:
        self.request_event = request_event

    def __getattr__(self, function_name: str) -> Callable[..., Any]:
        function = getattr(_query, function_name)

        def ask(message: Any, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
            """name: the request's name, by default the function's. Returns None after an error."""
            response, error = None, None
            start, started = time.time(), time.perf_counter()
            try:
                response = function(message, *args, **kwargs)
            except _DNSException as caught:
                error = caught
            else:
                if not response.answer:
                    error = LocustError("No answer in DNS response")
            self.request_event.fire(
                request_type="DNS",
                name=name or function_name,
                response_time=(time.perf_counter() - started) * 1000,
                response_length=0,
                response=response,
                exception=error,
                start_time=start,
                context={},
            )
            return response

        return ask


class DNSUser(User):
    """Queries name servers::

    message = dns.message.make_query("example.com", dns.rdatatype.A)
    self.client.udp(message, "127.0.0.1")
    """

    abstract = True

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client = DNSClient(environment.events.request)
