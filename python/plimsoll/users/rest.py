"""What both HTTP users have besides their client: `self.rest(…)`, JSON in and out with every error a failure of the
request, and `self.grpc(…)`."""

from __future__ import annotations

import re
import time
import traceback
from contextlib import contextmanager
from functools import cached_property
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.users.http.grpc import Grpc

ResponseT = TypeVar("ResponseT")

SHOWN = 200
"""Characters of the response that a failure quotes."""
SHOWN_OF_NO_JSON = 250

_HOME = re.compile(r"/(?:home|Users)/\w*/")


class RestMixin(Generic[ResponseT]):
    """Adds `rest` to User classes whose `client` is a session."""

    client: Any

    @contextmanager
    def rest(
        self, method: str, url: str, headers: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> Iterator[ResponseT]:
        """Send a request that expects JSON, for a with-block that judges the response::

            with self.rest("GET", "/todos") as response:
                assert response.js["count"] > 0, "nothing to do"

        `response.js` is the body as JSON; None for an empty body, for one that is no JSON (which is a failure) and
        without a response. kwargs are those of `client.request`. No exception leaves the block: that of an assertion
        becomes the failure with its message (which quotes the response if it ends with a comma), any other the failure
        with its place.
        """
        merged = dict(headers or {})
        for name in ("Content-Type", "Accept"):
            # Only these two spellings, as in Locust.
            if name not in merged and name.lower() not in merged:
                merged[name] = "application/json"
        with self.client.request(method, url, catch_response=True, headers=merged, **kwargs) as response:
            _parse(response)
            try:
                yield response
            except AssertionError as error:
                response.failure(_assertion(error, response))
            except Exception as error:
                places = ", ".join(_places(error))
                response.failure(f"{type(error).__name__}: {error} at {places}. Response was {_shown(response)}")

    @contextmanager
    def rest_(self, method: str, url: str, name: str | None = None, **kwargs: Any) -> Iterator[ResponseT]:
        """`rest` with a parameter `_=<milliseconds>`, so that no cache answers."""
        separator = "&" if "?" in url else "?"
        name = f"{url}{separator}_=..." if name is None else name
        with self.rest(method, f"{url}{separator}_={int(time.time() * 1000)}", name=name, **kwargs) as response:
            yield response


class GrpcMixin:
    """Adds `grpc` to User classes whose `client` is a session."""

    proto: str | Sequence[str] = ()
    """The .proto files, or descriptor sets, with the methods of `grpc`; relative to the folder of the locustfile."""
    proto_path: str | Sequence[str] = ()
    """Folders in which their imports begin; by default the folder of each file, or one above it."""

    @cached_property
    def grpc(self: Any) -> Grpc:
        """Calls methods of the host by gRPC."""
        from plimsoll.users.http.grpc import Grpc

        return Grpc(self)


def _parse(response: Any) -> None:
    response.js = None
    if response.content is None:
        response.failure(str(response.error))
    elif response.text:
        try:
            response.js = response.json()
        except JSONDecodeError as error:
            response.failure(
                f"Could not parse response as JSON. {response.text[:SHOWN_OF_NO_JSON]}, response code "
                f"{response.status_code}, error {error}"
            )


def _shown(response: Any) -> str | None:
    text: str | None = response.text
    return text[:SHOWN] if text else text


def _assertion(error: AssertionError, response: Any) -> str:
    message = str(error.args[0]) if error.args else "Assertion failed"
    return f"{message[:-1]}, response was {_shown(response)}" if message.endswith(",") else message


def _places(error: BaseException) -> list[str]:
    """Where it was raised, as file:line in function, outermost first; the exceptions that caused it come before."""
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return [
        *(_places(behind) if behind is not None else ()),
        *(
            f"{_HOME.sub('~/', frame.filename)}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename != __file__
        ),
    ]
