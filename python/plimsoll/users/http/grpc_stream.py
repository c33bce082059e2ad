"""Calls of gRPC whose server streams: their replies, as they come."""

from __future__ import annotations

from io import BufferedReader
from typing import TYPE_CHECKING, Any

from plimsoll._engine import GrpcReader, now
from plimsoll.users.exceptions import GrpcError
from plimsoll.users.http.grpc_reply import GrpcReply
from plimsoll.users.http.stream import CHUNK, Incoming
from plimsoll.users.recording import report, report_unanswered, request_recorder
from plimsoll.users.state import noted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll._engine import Reply
    from plimsoll.users.http.grpc_reply import Call
    from plimsoll.users.http.sending import Sender
    from plimsoll.users.http.upload import BackgroundUpload


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
        upload: BackgroundUpload | None = None,
        timeout: float | None = None,
    ) -> None:
        """upload: sends the messages of the call. timeout: seconds for the whole call; None: no limit."""
        super().__init__(reply, session, url, endpoint, call)
        self._context = context or None
        self._upload = upload
        self._body = None if session._client is None else session._client.stream(reply)
        if self.error is not None:
            if self._body is not None:
                self._body.close()
            if upload is not None:
                upload.stop()
            report(self, self.error)
            return
        self._timeout = timeout
        self._deadline = reply.sent + round(timeout * 1e9) if timeout else 0
        if self._deadline and self._body is not None:
            self._body.end_by(self._deadline)
        wait = session._hub.wait if upload is None else upload.wait
        self._source = Incoming(reply, self._body, noted(session._pacer, wait))
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
                yield from self._replies(piece)
            self.error = self._end()
        except GeneratorExit:
            # The loop was left.
            self._end()
            self.status, self.details = "CANCELLED", ""
        except ValueError as error:
            self._end()
            self.error = GrpcError(str(error), "protocol")
        except GrpcError as error:
            self._source.arrival = self._deadline
            self._end()
            self.error = error
        except Exception:
            if self._body is None or self._body.error is None:
                self._give_up()
                raise
            self._end()
            self.error = GrpcError(self._body.error, self._body.outcome)
        except BaseException:
            # The user was stopped, or ran into a timeout of its own code.
            self._give_up()
            raise
        finally:
            incoming.close()
            if self._upload is not None:
                self._upload.stop()
        report(self, self.error)

    def _give_up(self) -> None:
        report_unanswered(self.session.request_event, self.endpoint, self.reply.due, self.reply.sent)

    def _replies(self, piece: bytes) -> Iterator[Any]:
        """The replies that end in these bytes. Other users run now and then: a small reply may become a large one.

        Raises GrpcError once the deadline has passed meanwhile."""
        yield from map(self._call.decode, self._reader.feed(piece, self._source.arrival))
        hub = self.session._hub
        while self._reader.is_pending:
            hub.engine.work_later(hub.greenlet, self._reader.is_in_message)
            if self._deadline and now() >= self._deadline:
                raise GrpcError(f"no decoded response within {self._timeout:g} s", "timeout")
            yield from map(self._call.decode, self._reader.feed(b"", self._source.arrival))

    def _end(self) -> GrpcError | None:
        """Give the reply the stamps of the end; why the call is a failure."""
        trailers = b"" if self._body is None else self._body.trailers
        try:
            code, self.details = self._reader.end(self.reply, self._source.arrival, trailers)
        except ValueError as error:
            return GrpcError(str(error), "protocol")
        return self._fault_of_status(code)
