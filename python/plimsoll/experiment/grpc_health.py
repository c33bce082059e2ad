"""gRPC's protocol of health checks: whether a target says that it serves."""

from __future__ import annotations

import json

from plimsoll._engine import (
    Engine,
    GrpcSchema,
    Headers,
    Origin,
    Timeouts,
    grpc_body,
    grpc_codes,
    grpc_encodings,
    grpc_read,
)
from plimsoll.load.origins import http_url

CHECK = "grpc.health.v1.Health/Check"
_SCHEMA = """
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
"""
_LINES = (
    ("User-Agent", "plimsoll"), ("TE", "trailers"), ("Content-Type", "application/grpc"),
    ("grpc-accept-encoding", grpc_encodings()),
)  # fmt: skip


def ask_grpc(url: str, service: str | None, within: float) -> str:
    """What is wrong with the service, or with the whole server if it is ""; "" for nothing. None: the server need not
    know of health checks, any answer of gRPC will do. Certificates are not checked: the request goes to the system
    under test."""
    method = GrpcSchema.from_text(_SCHEMA).method(CHECK)
    body = grpc_body([method.encode(json.dumps({"service": service or ""}))], False)
    engine = Engine()
    client = engine.client()
    origin = Origin(http_url(url), verify=False, http2=True)
    client.send(
        None, origin, "POST", f"/{CHECK}", Headers(_LINES), body=body, timeouts=Timeouts(within, within, within)
    )
    while True:
        engine.poll(within)
        for _, reply in engine:
            if reply is None:
                continue
            if reply.error is not None:
                return f"{CHECK}: {reply.error}"
            if reply.status != 200:
                return f"{CHECK}: status {reply.status}"
            try:
                code, details, messages = grpc_read(reply)
                if service is None:
                    return ""
                if code:
                    return f"{CHECK}: {grpc_codes()[code]}{': ' * bool(details)}{details}"
                status = method.decode(messages[0])["status"] if messages else "UNKNOWN"
            except ValueError as error:
                return f"{CHECK}: {error}"
            return "" if status == "SERVING" else f"{CHECK}: {status}"
