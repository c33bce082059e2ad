"""Code shared by both sessions: pass a request to the engine, let other users run, return with the Reply."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakMethod

from greenlet import getcurrent

from plimsoll._engine import QuickCalls, now
from plimsoll.users import hub as hubs
from plimsoll.users.http.sharing import share, users_per_connection
from plimsoll.users.recording import RequestRecorder, report, report_unanswered, sole_recorder
from plimsoll.users.state import Pacer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plimsoll._engine import Client, Headers, Origin, QuickSettings, Reply, Timeouts
    from plimsoll.users.events import EventHook
    from plimsoll.users.http.catch_response import CatchResponse
    from plimsoll.users.http.sharing import Shared
    from plimsoll.users.http.upload import BackgroundUpload, Upload
    from plimsoll.users.hub import Hub


ResponseT = TypeVar("ResponseT", bound="CatchResponse")

NO_CONTEXT: Mapping[str, Any] = {}


class RefusedError(Exception):
    """The engine cannot send such a method, target or header."""


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """Call a method while its object exists, without keeping the object alive.

    Without a cycle a session is freed together with its last user, in the engine's thread.
    """
    reference = WeakMethod(method)

    def call() -> None:
        bound = reference()
        if bound is not None:
            bound()

    return call


def source_of(user: Any) -> str | None:
    """The local address of this user, if its class has any: the class's addresses are assigned in turn."""
    addresses = getattr(user, "source_address", None)
    if not addresses or isinstance(addresses, str):
        return addresses or None
    turns = _turns.setdefault(type(user), [0])
    address: str = addresses[turns[0] % len(addresses)]
    turns[0] += 1
    return address


_turns: WeakKeyDictionary[type, list[int]] = WeakKeyDictionary()
"""Number of users with an address, per class."""


def _note_step(sender: Any, name: str) -> None:
    """Mark that a subclass or other code has replaced this attribute of the sender."""
    if name in sender._steps:
        sender._is_special = sender._has_own_steps = True
    elif name == "request":
        sender._is_special = True


class Sender(QuickCalls[ResponseT], Generic[ResponseT]):
    """A user's own connections, and the verbs. Greenlets of the same user may share it."""

    user: Any
    request_event: EventHook
    request: Callable[..., ResponseT]
    _request: ClassVar[Callable[..., Any]]
    """`request` of the class whose shortcuts do the same; a script may put another one into the class."""

    _steps: ClassVar[frozenset[str]] = frozenset()
    """Methods that `request` calls only if one of them has been replaced."""
    _has_own_steps = False
    """Whether a subclass or a caller has replaced one of `_steps`."""
    _is_special = False
    """A setting or an override needs handling before a request; False: shortcuts are possible."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_steps" in vars(cls):
            cls._request = vars(cls)["request"]
        else:
            for name in tuple(vars(cls)):
                _note_step(cls, name)
            if "request_name" in vars(cls):
                # Common calls read that of the session alone.
                cls._is_special = True

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _note_step(self, name)
        if name == "_is_special":
            self._forget_settings()

    # The first request creates both: a user that sends none needs neither.
    _client: Client | None
    _hub: Hub
    _shared: Shared | None = None
    """The connections, if other users have them too."""

    def _attach(self, request_event: EventHook, user: Any) -> None:
        self.request_event = request_event
        self.user = user
        self._pacer = user if isinstance(user, Pacer) else Pacer()
        # As in `User`: what is set by the first request.
        self._client = self._hub = None  # type: ignore[assignment] # nobody asks for it before `_open`

    def _open(self) -> Client:
        self._hub = getattr(getattr(self.user, "environment", None), "hub", None) or hubs.current()
        most = users_per_connection(self.user)
        if most > 1:
            self._shared = share(self, self._hub, type(self.user), most, source_of(self.user))
            self._client = self._shared.client
        else:
            self._client = self._hub.engine.client(source_of(self.user))
        return self._client

    def _transmit(
        self,
        endpoint: tuple[str, str],
        origin: Origin,
        method: str,
        target: str,
        headers: Headers,
        extra: Mapping[str, str | bytes | None] | None = None,
        body: bytes | Upload | BackgroundUpload | None = None,
        content_type: str | None = None,
        timeouts: Timeouts | None = None,
        stream: bool = False,
        since: int = 0,
    ) -> Reply:
        """Send one request and wait for its Reply, which may be a failure. Raises RefusedError.

        since: start of the total limit, if an earlier request started it. stream: the Reply comes with the head; make a
        `Streamed` response of it.

        endpoint: counted if this greenlet is killed while it waits, or runs into a timeout of its own code.
        """
        client = self._client or self._open()
        data, upload = (body, None) if body is None or isinstance(body, bytes) else (None, body)
        pacer = self._pacer
        due = pacer._due
        if due and pacer._late is not None:
            # Only the wake-up can be late; how long user code then took to get here does not count.
            due = now() - pacer._late
        try:
            number = client.send(
                getcurrent() if upload is None else upload.waiter,
                origin,
                method,
                target,
                headers,
                extra,
                data,
                content_type,
                due,
                pacer._free,
                stream,
                timeouts,
                since,
                upload is not None,
            )
        except (TypeError, ValueError) as error:
            raise RefusedError(str(error)) from error
        if due:
            # Only the first exchange after a wait or an arrival was due because of it.
            pacer._due = pacer._late = pacer._free = 0
        waits = pacer._waits
        if waits is not None:
            waits.begin(now())
        try:
            reply = self._hub.wait() if upload is None else upload.run(self._hub, client, number)
        except BaseException:
            if stamps := client.cancel(number):
                report_unanswered(self.request_event, endpoint, *stamps)
            if waits is not None:
                waits.end(now())
            raise
        pacer._yielded = True
        if waits is not None:
            waits.end(reply.arrival)
        return reply

    def _quick_settings(self) -> QuickSettings | None:
        """What common calls need; None if `request` has to make all calls. Asked for again after each change."""
        raise NotImplementedError

    def _finish(
        self, response: ResponseT, is_named: bool, catch_response: bool, headers: Any, has_json: bool
    ) -> ResponseT:
        """Complete and report a common call whose reply needs more than to be recorded.

        is_named: the call or the session gave the name. headers: those of the call. has_json: it has `json=`.
        """
        raise NotImplementedError

    def _quick_parts(self) -> dict[str, Any]:
        """The part of the settings of common calls that all sessions have."""
        return {
            "client": self._client or self._open(),
            "hub": self._hub.greenlet,
            "pacer": self._pacer,
            "listeners": self.request_event._handlers,
            "recorder": RequestRecorder,
            "request": type(self)._request,
        }

    def _report_unanswered(self, endpoint: tuple[str, str], due: int, sent: int) -> None:
        report_unanswered(self.request_event, endpoint, due, sent)

    def _hand_over(
        self, response: ResponseT, catch_response: bool, context: Mapping[str, Any], stream: bool
    ) -> ResponseT:
        """Report an exchange, or leave that to the with-block of user code."""
        if context:
            response._context = context
        if stream:
            response._stream = True
        if not catch_response:
            report(response, response.fault())
            return response
        response._catch_response = True
        if sole_recorder(self.request_event) is None:
            # Listeners get the current state, not that at the end of the block.
            response.meta = response.request_meta
        return response

    def options(self, url: str, **kwargs: Any) -> ResponseT:
        return self.request("OPTIONS", url, **kwargs)

    def head(self, url: str, **kwargs: Any) -> ResponseT:
        return self.request("HEAD", url, **kwargs)

    @contextmanager
    def rename_request(self, name: str) -> Iterator[None]:
        """Name the exchanges of this block, unless the call gives a name."""
        self.request_name = name
        try:
            yield
        finally:
            self.request_name = None

    def close(self) -> None:
        """Close the connections; the next request opens new ones. Not while a greenlet waits for a reply on them. Those
        that other users share stay open."""
        if self._client is not None and self._shared is None:
            self._client.close()
