"""Language models behind OpenAI's API, with the package openai."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.users.events import EventHook

_OpenAI: Any = library("openai", "openai").OpenAI
_httpx: Any = library("httpx", "openai")

if "OPENAI_API_KEY" not in os.environ:
    raise Exception("You need to set OPENAI_API_KEY env var to use OpenAIUser")


class OpenAIClient(_OpenAI):  # type: ignore[misc]
    """openai's client; its requests are reported by method and path, including its own retries.

    response_length is the number of output tokens, which is more useful than a number of bytes.
    """

    def __init__(self, request_event: EventHook, user: User, *args: Any, **kwargs: Any) -> None:
        self.request_name: str | None = None
        self.user = user
        self._request_event = request_event
        hooks = {"request": [self._begin], "response": [self._end]}
        super().__init__(*args, **kwargs, http_client=_httpx.Client(event_hooks=hooks))

    @contextmanager
    def rename_request(self, name: str) -> Iterator[None]:
        """Report the requests of a block under this name."""
        self.request_name = name
        try:
            yield
        finally:
            self.request_name = None

    def _begin(self, request: Any) -> None:
        request.extensions["plimsoll"] = (time.time(), time.perf_counter())

    def _end(self, response: Any) -> None:
        # So far only the headers have arrived.
        response.read()
        start, started = response.request.extensions["plimsoll"]
        elapsed = time.perf_counter() - started
        error: Exception | None = None
        try:
            response.raise_for_status()
        except _httpx.HTTPStatusError as caught:
            error = caught
        self._request_event.fire(
            request_type=response.request.method,
            name=self.request_name or response.url.path,
            response_time=elapsed * 1000,
            response_length=_output_tokens(response),
            response=response,
            exception=error,
            start_time=start,
            url=response.url,
            context={},
        )


def _output_tokens(response: Any) -> int:
    """0 if the response does not contain it, e.g. when streamed, or an error page."""
    try:
        return int(response.json()["usage"]["output_tokens"])
    except (ValueError, KeyError, TypeError):
        return 0


class OpenAIUser(User):
    """Sends to the address in OPENAI_BASE_URL with the key in OPENAI_API_KEY."""

    abstract = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.client = OpenAIClient(self.environment.events.request, user=self)
