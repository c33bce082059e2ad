"""A gRPC server of the library grpcio, which counts what it has received. Its service is that of echo.proto."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import ReflectionServicer

from plimsoll._engine import GrpcSchema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROTO = Path(__file__).parent / "echo.proto"
SERVICE = "echo.v1.Echo"


def descriptors() -> descriptor_pool.DescriptorPool:
    """The types of echo.proto."""
    files = descriptor_pb2.FileDescriptorSet.FromString(GrpcSchema.read([str(PROTO)], []).descriptor_set)
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def message_classes() -> tuple[Any, Any]:
    """Request and Reply, as protoc's generated code has them."""
    find = descriptors().FindMessageTypeByName
    request, reply = (message_factory.GetMessageClass(find(f"echo.v1.{name}")) for name in ("Request", "Reply"))
    return request, reply


class Reflection(ReflectionServicer):
    """That of the library, under any version's name. Counts its calls, and keeps their metadata."""

    def __init__(self) -> None:
        super().__init__([SERVICE, "grpc.reflection.v1.ServerReflection"], descriptors())
        self.calls = 0
        self.metadata: dict[str, str] = {}

    def ask(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        self.calls += 1
        self.metadata = dict(context.invocation_metadata())
        yield from self.ServerReflectionInfo(requests, context)

    def handler(self, version: str) -> grpc.GenericRpcHandler:
        own = {
            "request_deserializer": reflection_pb2.ServerReflectionRequest.FromString,
            "response_serializer": reflection_pb2.ServerReflectionResponse.SerializeToString,
        }
        handlers = {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(self.ask, **own)}
        return grpc.method_handlers_generic_handler(f"grpc.reflection.{version}.ServerReflection", handlers)


class GrpcServer:
    """Echoes texts and numbers. Metadata that begin with x- are in the reply."""

    def __init__(
        self,
        tls: tuple[bytes, bytes] | None = None,
        threads: int = 16,
        reflection: Sequence[str] = (),
        service: Reflection | None = None,
        authority: bytes | None = None,
        **options: Any,
    ) -> None:
        """tls: key and certificate. authority: the certificate that signed those of clients, which must then have one.
        reflection: the versions of server reflection that it has. service: what answers
        them. options: of `grpc.server`."""
        self.reflection = Reflection() if service is None else service
        self.request, self.reply = message_classes()
        self.counts: Counter[str] = Counter()
        self.texts: list[str] = []
        self.deadlines: list[float | None] = []
        self.peers: set[str] = set()
        self.most_at_once = 0
        self.health: dict[bytes, int] = {}
        """The state of services by name, as the protocol of health checks numbers it; b"" is the whole server."""
        self._now = 0
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(threads), **options)
        own = {"request_deserializer": self.request.FromString, "response_serializer": self.reply.SerializeToString}
        handlers = {
            "Say": grpc.unary_unary_rpc_method_handler(self._say, **own),
            "Collect": grpc.stream_unary_rpc_method_handler(self._collect, **own),
            "List": grpc.unary_stream_rpc_method_handler(self._list, **own),
            "Chat": grpc.stream_stream_rpc_method_handler(self._chat, **own),
        }
        health = {"Check": grpc.unary_unary_rpc_method_handler(self._check)}
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(SERVICE, handlers),
                grpc.method_handlers_generic_handler("grpc.health.v1.Health", health),
                *(self.reflection.handler(version) for version in reflection),
            )
        )
        if tls is None:
            port = self._server.add_insecure_port("127.0.0.1:0")
        else:
            port = self._server.add_secure_port(
                "127.0.0.1:0", grpc.ssl_server_credentials([tls], authority, authority is not None)
            )
        self.place = f"127.0.0.1:{port}"
        self._server.start()

    def close(self) -> None:
        self._server.stop(None)

    def _received(self, method: str, request: Any, context: grpc.ServicerContext) -> Any:
        """The reply to one message; ends the call if that says so."""
        with self._lock:
            self.counts[method] += 1
            self.texts.append(request.text)
            self.deadlines.append(context.time_remaining())
            self.peers.add(context.peer())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        time.sleep(request.wait)
        with self._lock:
            self._now -= 1
        if request.code:
            code = next(each for each in grpc.StatusCode if each.value[0] == request.code)
            context.abort(code, f"requested: 100 % of {request.text}")
        metadata = [f"{name}: {value}" for name, value in context.invocation_metadata() if name.startswith("x-")]
        return self.reply(text=request.text, number=request.number, kind=1, metadata=metadata)

    def _check(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        # Both messages have one field: the name, which is short, and the state.
        name = request[2:]
        if name not in self.health:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
        return bytes((8, self.health[name]))

    def _say(self, request: Any, context: grpc.ServicerContext) -> Any:
        return self._received("Say", request, context)

    def _collect(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Any:
        replies = [self._received("Collect", request, context) for request in requests]
        return self.reply(text=" ".join(each.text for each in replies), number=len(replies))

    def _list(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        reply = self._received("List", request, context)
        for number in range(request.count):
            reply.number = number
            yield reply

    def _chat(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        for request in requests:
            yield self._received("Chat", request, context)
