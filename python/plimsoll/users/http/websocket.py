"""WebSockets of Python users: messages in both directions, timed and counted by the engine."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Self, cast

import gevent
from gevent.event import Event
from greenlet import GreenletExit

from plimsoll._engine import WebSocket as Socket
from plimsoll._engine import now, websocket_headers
from plimsoll.users.exceptions import WebSocketError
from plimsoll.users.recording import milliseconds, report_cancelled, request_recorder, sole_recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from plimsoll._engine import Reply, SocketRows
    from plimsoll.users.http.session import HttpSession
    from plimsoll.users.http.stream import StreamedResponse
    from plimsoll.users.recording import RequestRecorder

Message = str | bytes
_Found = tuple[Message, int, int, bool]
"""A message, the stamps of its arrival and read (ns), and whether the first one is the kernel's."""

CONNECT, RECEIVE = "WS", "WS receive"
"""Methods of the rows of requests."""
MOST_UNREAD = 10_000
"""Received messages that are kept until they are read, and times of sent ones that none has answered. The oldest are
discarded."""
MOST_UNREAD_BYTES = 64 << 20
"""The same for the bytes of received messages. The newest message is kept, whatever its length."""
STREAK = 16
"""Pieces read before other users run, however fast messages arrive."""
LONG = 1 << 20
"""The same after a piece with messages of more than this many bytes: they were compressed, which takes long to undo."""
_SCHEMES = {"ws://": "http://", "wss://": "https://"}


class Received:
    """The response in the request event of a received message."""

    broken: str | None = None

    def __init__(self, reply: Reply, message: Message | None) -> None:
        self.reply = reply
        self.content = message
        """None: no message came."""
        self.unrecorded = True


class WebSocket:
    """A connection for messages; False if it is not open. The end of its with-block closes it.

    Messages are received all the time, and pings answered, whatever the user does. A failure raises nothing, as with
    requests: `receive` returns None then, and `error` says why.
    """

    subprotocol: str | None = None
    """The one that the server chose."""
    error: str | None = None
    """Why it is not open: it could not be opened, or has ended."""
    close_code: int | None = None
    """The code of the end; 1006 without a close frame. None before the end."""

    def __init__(self, session: HttpSession, url: str, name: str, context: Mapping[str, Any]) -> None:
        self._session = session
        self._url = url
        self._name = name
        self._context = context
        self._socket: Socket | None = None
        self._unread: deque[_Found] = deque()
        self._unread_bytes = 0
        self._sends: deque[tuple[int, int, int]] = deque(maxlen=MOST_UNREAD)
        """Due, free and sent of the messages since the last one was received, ns. A user may never receive."""
        self._is_answered = False
        self._is_missed = False
        """The end was the failure of a `receive`."""
        self._closed_at = 0
        """When this end closed it, ns; 0 if it did not."""
        self._recorder: RequestRecorder | None = None
        self._rows: SocketRows | None = None
        self._message_row: int | None = None
        self._news = Event()
        """Something to receive, the end, or room to send."""

    def _begin(self, socket: Socket) -> None:
        self._socket = socket
        self.subprotocol = socket.protocol
        self._recorder = request_recorder(self._session.request_event)
        if self._recorder is not None:
            endpoint = self._recorder.endpoints[CONNECT, self._name]
            self._rows = self._recorder.recorder.socket_rows(endpoint)
            self._message_row = self._recorder.recorder.message_row(endpoint)
        self.switch()

    def __bool__(self) -> bool:
        return self._socket is not None and self.close_code is None

    def send(self, message: Message) -> bool:
        """Send a text or a binary message. Waits while the server takes no more. False: it is not open."""
        if self._socket is None or not self:
            return False
        due, free = self._due()
        sent = self._socket.send(message)
        if self._is_answered:
            self._sends.clear()
            self._is_answered = False
        self._sends.append((due, free, sent))
        while not self._socket.is_written and self:
            self._news.clear()
            self._news.wait()
        if not self:
            return False
        if self._recorder is not None and self._message_row is not None:
            self._recorder.recorder.message_out(self._message_row, sent, _size(message))
        return True

    def receive(self, timeout: float | None = None) -> Message | None:
        """The next message: counted as a request, whose time begins at the last `send` before its arrival, or else with
        this call. timeout in seconds. None: it did not come in time, or the connection has ended, which fails once."""
        if self._socket is None or self._is_missed:
            return None
        start = now()
        due, free = (0, 0) if self._sends else self._due()
        try:
            found = self._next(timeout)
        except GreenletExit:
            report_cancelled(self._session.request_event, (RECEIVE, self._name))
            raise
        end = self._socket.end
        if found is not None:
            message, arrival, read, kernel = found
            began = next((each for each in reversed(self._sends) if each[2] <= arrival), None)
            due, free, sent = began or (due, free, min(start, arrival))
            self._is_answered = True
            self._report(Socket.reply(due, free, sent, arrival, read, _size(message), kernel), message)
            return message
        self._is_missed = end is not None
        outcome, reason = ("timeout", f"no message within {timeout:g} s") if end is None else (end[0], end[2])
        due, free, sent = self._sends[-1] if self._sends else (due, free, start)
        at = now()
        self._report(Socket.reply(due, free, sent, at, at, 0, False, outcome, reason), None)
        return None

    def __iter__(self) -> Iterator[Message]:
        """Messages until the connection ends. They are not counted as requests: nobody waits for a certain one."""
        while (found := self._next(None)) is not None:
            yield found[0]

    def on_message(self, handle: Callable[[Message], object]) -> None:
        """Call `handle` with each message from now on, in a greenlet of its own, instead of `receive`."""
        gevent.spawn(lambda: [handle(message) for message in self])

    def close(self, code: int = 1000, reason: str = "", timeout: float = 10.0) -> None:
        """Close the connection, and wait for the answer, at most `timeout` seconds. Raises ValueError for a code that
        cannot be sent."""
        if self._socket is None or not self:
            return
        self._socket.close(code, reason)
        self._closed_at = now()
        with gevent.Timeout(timeout, False):  # type: ignore[arg-type] # False is gevent's word for silence
            while self:
                self._news.clear()
                self._news.wait()
        if self:
            self._socket.hang_up()
            self._ends()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, GreenletExit):
            # The user is stopped: it does not wait.
            if self._socket is not None:
                self._socket.hang_up()
        else:
            self.close()

    def switch(self, _: object = None) -> None:
        """Receive what has arrived. The engine calls it, within its loop."""
        socket, recorder = self._socket, self._recorder
        assert socket is not None
        self._news.set()
        for _turn in range(STREAK):
            found = socket.receive(self, None if recorder is None else recorder.recorder, self._rows)
            if found is None:
                return
            size = self._keep(found)
            if socket.end is not None:
                self._ends()
                return
            if size > LONG:
                break
        self._session._hub.engine.wake(self, 0)

    def _next(self, timeout: float | None) -> _Found | None:
        """The oldest unread message; None after the timeout, or the end."""
        if not self._unread and self:
            with gevent.Timeout(timeout, False):  # type: ignore[arg-type] # False is gevent's word for silence
                while not self._unread and self:
                    self._news.clear()
                    self._news.wait()
            self._session._pacer._yielded = True
        return self._take() if self._unread else None

    def _keep(self, found: list[_Found]) -> int:
        """Returns the length of these messages."""
        size = sum(len(each[0]) for each in found)
        self._unread.extend(found)
        self._unread_bytes += size
        while len(self._unread) > MOST_UNREAD or (self._unread_bytes > MOST_UNREAD_BYTES and len(self._unread) > 1):
            self._take()
        return size

    def _take(self) -> _Found:
        found = self._unread.popleft()
        self._unread_bytes -= len(found[0])
        return found

    def _due(self) -> tuple[int, int]:
        """When the user's next action was due, and when it was free for it; 0: now."""
        pacer = self._session._pacer
        due, free = pacer._due, pacer._free
        if due and pacer._late is not None:
            due = now() - pacer._late
        pacer._due = pacer._late = pacer._free = 0
        return due, free

    def _ends(self) -> None:
        assert self._socket is not None and self._socket.end is not None
        _, outcome, self.error, self.close_code = self._socket.end
        if self._recorder is not None and self._rows is not None and outcome != "cancelled":
            at = now()
            self._recorder.recorder.socket_closed(self._rows, self._closed_at or at, at, outcome, self.error)
        self._news.set()

    def _report(self, reply: Reply, message: Message | None) -> None:
        event, endpoint = self._session.request_event, (RECEIVE, self._name)
        error = None if reply.error is None else WebSocketError(reply.error)
        recorder = sole_recorder(event)
        if recorder is not None:
            recorder.exchange(endpoint, reply, error)
            return
        user = self._session.user
        event.fire(
            request_type=RECEIVE,
            name=self._name,
            response_time=milliseconds(reply),
            response_length=reply.body_size,
            response=Received(reply, message),
            context={**(user.context() if user else {}), **self._context},
            exception=error,
            start_time=time.time() - (now() - reply.sent) / 1e9,
            url=self._url,
        )


def _size(message: Message) -> int:
    """Bytes of its payload."""
    return len(message) if isinstance(message, bytes) or message.isascii() else len(message.encode())


def open_websocket(
    session: HttpSession,
    url: str,
    name: str | None,
    subprotocols: Sequence[str],
    compression: bool,
    context: Mapping[str, Any],
    options: dict[str, Any],
) -> WebSocket:
    """Send the request that opens a WebSocket. options: other arguments of `HttpSession.request`."""
    for scheme, plain in _SCHEMES.items():
        if url.lower().startswith(scheme):
            url = plain + url[len(scheme) :]
    options["headers"] = {**(options["headers"] or {}), **dict(websocket_headers(list(subprotocols), compression))}
    response = cast(
        "StreamedResponse",
        session.request("GET", url, name, True, context, stream=True, allow_redirects=False, **options),
    )
    response.endpoint = (CONNECT, response.endpoint[1])
    if response.meta is not None:
        response.meta["request_type"] = CONNECT
    socket = WebSocket(session, str(response.url or url), response.endpoint[1], context)
    if response.error is not None:
        with response:
            socket.error = str(response.error)
        return socket
    stream = response.upgraded() if response.status_code == 101 else None
    with response:
        try:
            if stream is None:
                place = response.headers.get("location") if 300 <= response.status_code < 400 else None
                redirects = f"; it redirects to {place}" if place else ""
                status = f"status {response.status_code}, not 101{redirects}"
                raise WebSocketError(f"the server does not open a WebSocket: {status}")
            opened = stream.websocket(response.reply, list(subprotocols), compression)
        except (ValueError, WebSocketError) as error:
            socket.error = str(error)
            if response.status_code < 400:
                response.failure(WebSocketError(socket.error))
            return socket
    socket._begin(opened)
    return socket
