"""Socket.IO over python-socketio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gevent

from plimsoll.locust.contrib.libraries import library
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.users.events import EventHook

_Client: Any = library("socketio", "'python-socketio[client]'").Client


class SocketIOClient(_Client):  # type: ignore[misc]
    """socketio's client. It reports its actions with these request types:

    WS connecting, WSS send, WSE emit, WSC a call and its reply, WSR a message from the server. Sends and calls are also
    emits, and reported as both. Actions without a reply have response time 0, and their exceptions are only reported.
    """

    def __init__(self, request_event: EventHook, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request_event = request_event

    def connect(self, *args: Any, **kwargs: Any) -> None:
        with self.request_event.measure("WS", "connect"):
            super().connect(*args, **kwargs)

    def send(
        self, data: Any, namespace: str | None = None, callback: Callable[..., Any] | None = None, name: str = "Unnamed"
    ) -> None:
        self._report("WSS", name, data, lambda: super(SocketIOClient, self).send(data, namespace, callback))

    def emit(
        self,
        event: str,
        data: Any = None,
        namespace: str | None = None,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self._report(
            "WSE", str(event), data, lambda: super(SocketIOClient, self).emit(event, data, namespace, callback)
        )

    def call(self, event: str, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        with self.request_event.measure("WSC", event):
            return super().call(event, data, *args, **kwargs)

    def on_message(self, event: str, data: Any = None, *_: Any) -> None:
        """Reports an event of the server without a handler. A subclass may know more about it, e.g. its age."""
        self._fire("WSR", event, data, None)

    def _report(self, kind: str, name: str, data: Any, action: Callable[[], None]) -> None:
        error: Exception | None = None
        try:
            action()
        except Exception as caught:
            error = caught
        self._fire(kind, name, data, error)

    def _fire(self, kind: str, name: str, data: Any, error: Exception | None) -> None:
        self.request_event.fire(
            request_type=kind,
            name=name,
            response_time=0,
            response_length=len(data or []) if hasattr(data, "__len__") else 0,
            exception=error,
            context={},
        )


class SocketIOUser(User):
    """Has a client in `sio`; connect with `self.sio.connect(url)`."""

    abstract = True

    options: ClassVar[dict[str, Any]] = {}
    """Arguments for `socketio.Client`, e.g. {"reconnection_attempts": 1}."""

    sio: SocketIOClient

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sio = SocketIOClient(self.environment.events.request, **self.options)
        self.sio_greenlet = gevent.spawn(self.sio.wait)
        self.sio.on("*", self.sio.on_message)
