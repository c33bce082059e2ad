"""WebSockets of Python users: messages in both directions, timed and counted by the engine."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import urlsplit

import gevent
from gevent.event import Event
from greenlet import GreenletExit
from requests import HTTPError

from plimsoll._engine import WebSocket as Socket
from plimsoll._engine import now, websocket_headers
from plimsoll.plain_text import one_line
from plimsoll.users import hub as hubs
from plimsoll.users.exceptions import WebSocketError
from plimsoll.users.recording import milliseconds, report_unanswered, request_recorder, sole_recorder
from plimsoll.users.state import noted

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
MESSAGE_BYTES = 200
"""Memory of a received message besides its own bytes."""
UNCOUNTED = 16 << 10
"""Unread bytes of a user that count in no limit of the worker."""
STREAK = 16
"""Pieces read before other users run, however fast messages arrive."""
LONG = 1 << 20
"""The same after a piece with messages of more than this many bytes, or with a compressed message that takes long."""
_SCHEMES = {"ws://": "http://", "wss://": "https://"}


MOST_OF_BODY = 1024
"""Bytes that are read of the body of a refusal."""
MOST_SHOWN = 200
"""Characters of them that its failure quotes."""
BODY_WAIT_S = 1.0
"""How long they are waited for."""
_FIRST_NS, _LONGEST_NS = 10_000_000, 1_000_000_000
"""Most that a user waits after the first refusal, and after any: the same as for connections that fail (backoff.rs)."""
_jitter = Random()


class Refusals:
    """The refused WebSockets of a user, by server: it waits before it asks again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        """Number of refusals in a row, and when to ask again (ns)."""

    def add(self, server: str) -> None:
        count, _ = self._known.get(server, (0, 0))
        most = min(_FIRST_NS << min(count, 20), _LONGEST_NS)
        self._known[server] = count + 1, now() + most // 2 + _jitter.randrange(most // 2)

    def forget(self, server: str) -> None:
        self._known.pop(server, None)

    def until(self, server: str) -> int:
        """When to ask again (ns); 0: at once."""
        return self._known.get(server, (0, 0))[1]


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
        self._is_counted = False
        """The engine counts the memory of the unread messages."""
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
            due, free, sent = self._asked(due, free, start)
            report_unanswered(self._session.request_event, (RECEIVE, self._name), due or sent, sent)
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
        due, free, sent = self._asked(due, free, start)
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
            if size > LONG or socket.is_pending:
                break
        self._session._hub.engine.wake(self, 0)

    def _next(self, timeout: float | None) -> _Found | None:
        """The oldest unread message; None after the timeout, or the end."""
        if not self._unread and self:
            pacer = self._session._pacer
            with gevent.Timeout(timeout, False):  # type: ignore[arg-type] # False is gevent's word for silence
                while not self._unread and self:
                    self._news.clear()
                    noted(pacer, self._news.wait)()
            pacer._yielded = True
        if not self._unread:
            return None
        found = self._take()
        self._hold()
        return found

    def _keep(self, found: list[_Found]) -> int:
        """Returns the length of these messages."""
        size = sum(len(each[0]) for each in found)
        self._unread.extend(found)
        self._unread_bytes += sum(_memory(each[0]) for each in found)
        while len(self._unread) > MOST_UNREAD or (self._unread_bytes > MOST_UNREAD_BYTES and len(self._unread) > 1):
            self._take()
        self._hold()
        return size

    def _take(self) -> _Found:
        found = self._unread.popleft()
        self._unread_bytes -= _memory(found[0])
        return found

    def _hold(self) -> None:
        """Count the memory of what is unread, unless it is as little as every user may have."""
        if self._socket is not None and (self._unread_bytes > UNCOUNTED or self._is_counted):
            self._is_counted = self._unread_bytes > UNCOUNTED
            self._socket.hold(self._unread_bytes)

    def _asked(self, due: int, free: int, start: int) -> tuple[int, int, int]:
        """When what is waited for was due, the user free for it, and it was asked for: the last message that was sent.
        Without one, the wait itself asks."""
        return self._sends[-1] if self._sends else (due, free, start)

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
        if self._recorder is not None and self._rows is not None and outcome != "unanswered":
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


def _memory(message: Message) -> int:
    """Bytes that a received message takes, at most."""
    return MESSAGE_BYTES + len(message) * (1 if isinstance(message, bytes) or message.isascii() else 4)


def _size(message: Message) -> int:
    """Bytes of its payload."""
    return len(message) if isinstance(message, bytes) or message.isascii() else len(message.encode())


def _refusals(session: HttpSession) -> Refusals:
    if session._refused_websockets is None:
        session._refused_websockets = Refusals()
    return session._refused_websockets


def _back_off(session: HttpSession, server: str) -> None:
    """Wait if this server refused this user's last WebSocket. The next request is due when the wait ends."""
    hub, start = session._hub, now()
    until = _refusals(session).until(server)
    if until <= start or not hub.backs_off:
        return
    hubs.sleep_until(hub, until)
    pacer = session._pacer
    pacer._due = pacer._late = pacer._free = 0
    hub.backed_off += now() - start


def _reason(response: StreamedResponse, refusal: str) -> str:
    """The beginning of the body of a refusal, with ": " before it; "" if there is none. It becomes a part of the
    failure."""
    fault = response.fault()
    # Of a user that is stopped meanwhile.
    response.failure(fault or WebSocketError(refusal))
    found = b""
    with suppress(Exception), gevent.Timeout(BODY_WAIT_S, False):  # type: ignore[arg-type] # False: no exception
        for piece in response.iter_content(None):
            found += piece
            if len(found) >= MOST_OF_BODY:
                break
    text = one_line(found[:MOST_OF_BODY].decode(errors="replace")).strip()
    if not text:
        return ""
    reason = f": {text[:MOST_SHOWN]}{'…' * (len(text) > MOST_SHOWN)}"
    if isinstance(fault, HTTPError):
        shown = HTTPError(f"{fault}{reason}")
        shown.response = response
        response.failure(shown)
    return reason


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
    server = urlsplit(url if "://" in url else str(session.base_url)).netloc
    _back_off(session, server)
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
    try:
        with response:
            try:
                if stream is None:
                    _refusals(session).add(server)
                    place = response.headers.get("location") if 300 <= response.status_code < 400 else None
                    redirects = f"; it redirects to {place}" if place else ""
                    status = f"status {response.status_code}, not 101{redirects}"
                    refusal = f"the server does not open a WebSocket: {status}"
                    raise WebSocketError(f"{refusal}{_reason(response, refusal)}")
                opened = stream.websocket(response.reply, list(subprotocols), compression)
            except (ValueError, WebSocketError) as error:
                socket.error = str(error)
                if response.status_code < 400:
                    response.failure(WebSocketError(socket.error))
                return socket
    finally:
        # An HTTPError refers to its response: together they would keep the body until the garbage is collected.
        response._manual_result = None
    _refusals(session).forget(server)
    socket._begin(opened)
    return socket
