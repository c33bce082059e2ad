"""Calls of gRPC whose server streams: their replies, as they come."""

from __future__ import annotations

from io import BufferedReader
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcReader
from plimsoll.users.exceptions import GrpcError
from plimsoll.users.http.grpc_reply import GrpcReply
from plimsoll.users.http.stream import CHUNK, Incoming
from plimsoll.users.recording import report, report_cancelled, request_recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll._engine import Reply
    from plimsoll.users.http.grpc_reply import Call
    from plimsoll.users.http.sending import Sender


class GrpcStream(GrpcReply):
    """The replies of a call, as they come: iterate over it, once. The call is counted when they have ended, or as a
    success when the loop is left before. Each reply is counted in a row beside that of the call.

    A call that fails raises nothing: after the loop, `status` and `error` say how it ended.
    """

    _is_read = False

    def __init__(
        self,
        reply: Reply,
        session: Sender[Any],
        url: str,
        endpoint: tuple[str, str],
        call: Call,
        context: Mapping[str, Any],
    ) -> None:
        super().__init__(reply, session, url, endpoint, call)
        self._context = context or None
        self._body = None if session._client is None else session._client.stream(reply)
        if self.error is not None:
            if self._body is not None:
                self._body.close()
            report(self, self.error)
            return
        self._source = Incoming(reply, self._body, session._hub.wait)
        recorder = request_recorder(session.request_event)
        self._reader = GrpcReader(reply, *(() if recorder is None else recorder.place(endpoint)))

    def _read(self) -> GrpcError | None:
        # Nothing has come but the head.
        return None

    def __iter__(self) -> Iterator[Any]:
        if self.error is not None or self._is_read:
            return
        self._is_read = True
        incoming = BufferedReader(self._source, CHUNK)
        try:
            while piece := incoming.read1(CHUNK):
                yield from map(self._call.decode, self._reader.feed(piece, self._source.arrival))
            self.error = self._end()
        except GeneratorExit:
            # The loop was left.
            self._end()
            self.status, self.details = "CANCELLED", ""
        except ValueError as error:
            self._end()
            self.error = GrpcError(str(error), "protocol")
        except Exception:
            if self._body is None or self._body.error is None:
                raise
            self._end()
            self.error = GrpcError(self._body.error, self._body.outcome)
        except BaseException:
            # The user was stopped, or ran into a timeout of its own code.
            report_cancelled(self.session.request_event, self.endpoint)
            raise
        finally:
            incoming.close()
        report(self, self.error)

    def _end(self) -> GrpcError | None:
        """Give the reply the stamps of the end; why the call is a failure."""
        trailers = b"" if self._body is None else self._body.trailers
        try:
            code, self.details = self._reader.end(self.reply, self._source.arrival, trailers)
        except ValueError as error:
            return GrpcError(str(error), "protocol")
        return self._fault_of_status(code)
