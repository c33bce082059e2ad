"""`self.grpc`: calls of gRPC, sent, timed and counted by the engine as requests are."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcSchema, grpc_body, grpc_headers, grpc_timeout, json_text
from plimsoll.load.origins import http_url
from plimsoll.users.exceptions import LocustError
from plimsoll.users.http.grpc_reply import Call, GrpcReply
from plimsoll.users.http.grpc_stream import GrpcStream
from plimsoll.users.http.headers import encode
from plimsoll.users.http.plain import limits
from plimsoll.users.http.sending import NO_CONTEXT, RefusedError
from plimsoll.users.http.upload import BackgroundUpload
from plimsoll.users.http.url import origin_of

if TYPE_CHECKING:
    from plimsoll._engine import GrpcMethod, Headers, Reply
    from plimsoll.users.http.sending import Sender
    from plimsoll.users.user import HttpUser, User

GRPC = "gRPC"
"""The method of the rows."""
_LINES = (("User-Agent", "plimsoll"), *grpc_headers())

Metadata = Mapping[str, str | bytes] | Iterable[tuple[str, str | bytes]]


def _with_schema(method: GrpcMethod) -> Call:
    def encode(message: Any) -> bytes:
        if (known := _serialized(message)) is not None:
            return known
        text = json_text(message)
        return method.encode(json.dumps(message) if text is None else text)

    return Call(method.name, encode, method.decode, not method.server_streams)


def _without_schema(name: str) -> Call:
    def encode(message: Any) -> bytes:
        if (known := _serialized(message)) is not None:
            return known
        raise LocustError(f'{name}: a message as a dict needs a schema; write proto = "service.proto" into the class')

    return Call(name, encode, bytes, False)


def _serialized(message: Any) -> bytes | None:
    """A message of generated code, or bytes, as bytes."""
    if isinstance(message, bytes):
        return message
    write = getattr(message, "SerializeToString", None)
    return None if write is None else bytes(write())


class Grpc:
    """Calls methods of the user's host: `self.grpc("package.Service/Method", {"name": "x"})`.

    It stands in for a channel of grpcio, too: `GreeterStub(self.grpc)` has the methods of the service.
    """

    verify: bool | str = True
    """Whether certificates are checked, or the file of those that are accepted."""
    cert: str | tuple[str, str] | None = None
    """The client's own certificate: a file with it and its key, or one for each."""

    def __init__(self, user: HttpUser) -> None:
        self._user = user
        self._sender: Sender[Any] = user.client
        scheme, _, rest = http_url(str(user.host)).partition("://")
        self._root = f"{scheme}://{rest.partition('/')[0]}"
        self._calls: dict[str, Call] = {}
        self._headers: Headers | None = None

    def __call__(
        self,
        method: str,
        message: Any = None,
        name: str | None = None,
        catch_response: bool = False,
        context: Mapping[str, Any] = NO_CONTEXT,
        *,
        timeout: float | None = None,
        metadata: Metadata = (),
        compression: bool = False,
    ) -> GrpcReply:
        """Call a method and wait for its end. message: a dict, which the class attribute `proto` gives a type; a
        message of generated code; bytes. For a client that streams: a list of these, which are sent at once, or an
        iterator, each of which is sent when it comes.

        name, catch_response, context: as of requests; the name is by default the method's. timeout: seconds for the
        whole call, also sent to the server. metadata: headers; bytes are sent in base64, and their names end in -bin.
        compression: send messages with gzip.

        A call that fails raises nothing: the reply has a `status` and an `error`. Raises ValueError for a message that
        is none of the method's, and LocustError for a method that the schema does not have.
        """
        call = self._call(method)
        options = {"timeout": timeout, "metadata": metadata, "compression": compression}
        return self._send(call, _listed_messages(message), name, (catch_response, context), **options)

    def stream(
        self,
        method: str,
        message: Any = None,
        name: str | None = None,
        context: Mapping[str, Any] = NO_CONTEXT,
        *,
        timeout: float | None = None,
        metadata: Metadata = (),
        compression: bool = False,
    ) -> GrpcStream:
        """Call a method whose server streams; iterate over the result for the replies, as they come. The arguments are
        those of a call: `timeout` limits the whole stream, too. Raises what a call raises."""
        options = {"timeout": timeout, "metadata": metadata, "compression": compression}
        return self._open(self._call(method), _listed_messages(message), name, context, **options)

    def _send(
        self, call: Call, messages: Iterable[Any], name: str | None, caught: tuple[bool, Mapping[str, Any]],
        **options: Any,
    ) -> GrpcReply:  # fmt: skip
        upload = _upload(call, messages, options["compression"])
        try:
            reply, url, endpoint = self._transmit(call, messages, name, False, upload, **options)
        finally:
            if upload is not None:
                upload.stop()
        made = GrpcReply(reply, self._sender, url, endpoint, call)
        handed: GrpcReply = self._sender._hand_over(made, *caught, False)
        return handed

    def _open(
        self, call: Call, messages: Iterable[Any], name: str | None = None, context: Mapping[str, Any] = NO_CONTEXT,
        **options: Any,
    ) -> GrpcStream:  # fmt: skip
        upload = _upload(call, messages, options["compression"])
        try:
            reply, url, endpoint = self._transmit(call, messages, name, True, upload, **options)
        except BaseException:
            if upload is not None:
                upload.stop()
            raise
        return GrpcStream(reply, self._sender, url, endpoint, call, context, upload, options["timeout"])

    def _transmit(
        self, call: Call, messages: Iterable[Any], name: str | None, stream: bool, upload: BackgroundUpload | None, *,
        timeout: float | None, metadata: Metadata, compression: bool,
    ) -> tuple[Reply, str, tuple[str, str]]:  # fmt: skip
        body = upload or grpc_body([call.encode(message) for message in messages], compression)
        extra = _extra(metadata, timeout, compression)
        endpoint = (GRPC, name or self._sender.request_name or call.name)
        origin = origin_of(self._root, self.verify, self.cert, http2=True)
        try:
            reply = self._sender._transmit(
                endpoint, origin, "POST", f"/{call.name}", self._lines(), extra, body, None, limits(timeout), stream,
            )  # fmt: skip
        except RefusedError as error:
            raise ValueError(str(error)) from error
        return reply, f"{self._root}/{call.name}", endpoint

    def _call(self, method: str) -> Call:
        known = self._calls.get(method)
        if known is None:
            schema, name = schema_of(type(self._user)), method.removeprefix("/")
            try:
                known = _without_schema(name) if schema is None else _with_schema(schema.method(name))
            except ValueError as error:
                raise LocustError(str(error)) from error
            self._calls[method] = known
        return known

    def _lines(self) -> Headers:
        if self._headers is None:
            self._headers = encode(_LINES)
        return self._headers

    def unary_unary(self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any) -> Any:
        """For stubs of generated code: a function that calls the method and returns its reply, or raises GrpcError."""
        call = Call(method.removeprefix("/"), request_serializer, response_deserializer, True)
        return lambda request, **options: self._only_reply(call, [request], **options)

    def stream_unary(self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any) -> Any:
        """The same for a client that streams: the function takes an iterable of messages. Each is sent when it comes; a
        list at once."""
        call = Call(method.removeprefix("/"), request_serializer, response_deserializer, True)
        return lambda requests, **options: self._only_reply(call, requests, **options)

    def unary_stream(self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any) -> Any:
        """The same for a server that streams: the function returns an iterator of its replies, as they come."""
        call = Call(method.removeprefix("/"), request_serializer, response_deserializer, False)
        return lambda request, **options: self._all_replies(call, [request], **options)

    def stream_stream(self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any) -> Any:
        """The same for both. The generator of messages may wait for replies: the call begins with the first step of the
        returned iterator."""
        call = Call(method.removeprefix("/"), request_serializer, response_deserializer, False)
        return lambda requests, **options: self._all_replies(call, requests, **options)

    def _only_reply(
        self, call: Call, requests: Iterable[Any], timeout: Any = None, metadata: Any = None, **_: Any
    ) -> Any:
        options = {"timeout": timeout, "metadata": metadata or (), "compression": False}
        reply = self._send(call, requests, None, (False, NO_CONTEXT), **options)
        if reply.error is not None:
            raise reply.error
        return reply.message

    def _all_replies(
        self, call: Call, requests: Iterable[Any], timeout: Any = None, metadata: Any = None, **_: Any
    ) -> Iterator[Any]:
        stream = self._open(call, requests, timeout=timeout, metadata=metadata or (), compression=False)
        yield from stream
        if stream.error is not None:
            raise stream.error


def _upload(call: Call, messages: Iterable[Any], compression: bool) -> BackgroundUpload | None:
    """What sends messages as they come; None for those that are there already."""
    if isinstance(messages, (list, tuple)):
        return None
    return BackgroundUpload(grpc_body([call.encode(message)], compression) for message in messages)


def _listed_messages(message: Any) -> Iterable[Any]:
    if message is None:
        return [{}]
    return message if isinstance(message, (list, tuple, Iterator)) else [message]


def _extra(metadata: Metadata, timeout: float | None, compression: bool) -> dict[str, str | bytes | None]:
    extra: dict[str, str | bytes | None] = {}
    for name, value in metadata.items() if isinstance(metadata, Mapping) else metadata:
        extra[name] = base64.b64encode(value).decode("ascii").rstrip("=") if isinstance(value, bytes) else value
    if timeout is not None:
        extra["grpc-timeout"] = grpc_timeout(timeout)
    if compression:
        extra["grpc-encoding"] = "gzip"
    return extra


def schema_of(cls: type[User]) -> GrpcSchema | None:
    """The schema of the class attributes `proto` and `proto_path`; relative paths begin in the folder of the file with
    the class. Raises LocustError for one that cannot be read."""
    owner = next((each for each in cls.__mro__ if "proto" in vars(each)), cls)
    files, roots = _listed(getattr(cls, "proto", ())), _listed(getattr(cls, "proto_path", ()))
    if not files:
        return None
    module = getattr(sys.modules.get(owner.__module__), "__file__", None)
    folder = Path(module).parent if module else Path()
    return _read(tuple(str(folder / each) for each in files), tuple(str(folder / each) for each in roots))


def _listed(value: Any) -> list[str]:
    return [str(value)] if isinstance(value, (str, Path)) else [str(each) for each in value]


@cache
def _read(files: tuple[str, ...], roots: tuple[str, ...]) -> GrpcSchema:
    try:
        return GrpcSchema.read(files, roots)
    except ValueError as error:
        raise LocustError(f"proto: {error}") from error
