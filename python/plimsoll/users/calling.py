"""`self.grpc` of both HTTP users."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.users.http.grpc import Grpc


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
