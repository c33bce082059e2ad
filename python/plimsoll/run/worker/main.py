"""The process of one worker, or of the main node: it carries out the coordinator's orders.

`plimsoll.locust.script.process` starts it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import traceback
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import gevent
from gevent import monkey, socket
from gevent.queue import SimpleQueue

from plimsoll.errors import PlimsollError
from plimsoll.load.guard_rails import HEADER
from plimsoll.run.limits import ensure_open_files, raise_open_files
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport.bundle import Bundle
from plimsoll.run.transport.frames import Frames, pack_report
from plimsoll.run.transport.kept import KeptSnapshots
from plimsoll.run.transport.messages import EncodedSnapshot, Exchanges, Logged, Quit
from plimsoll.run.transport.orders import ORDERS
from plimsoll.run.transport.own_folder import own_folder_of
from plimsoll.run.worker import log_sender
from plimsoll.run.worker.worker import Worker
from plimsoll.users import code_errors, log
from plimsoll.users.code_errors import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.orders import Order
    from plimsoll.run.worker.script import ScriptFactory

READ_BYTES = 65536
MAX_UNSENT_BYTES = 64 << 20
"""Bytes that may wait for the coordinator to take them in, before rows of exchanges are given up: four million rows."""
LAST_REQUESTS_S = 1.0
"""Seconds for requests under way once the coordinator is gone, if the stop timeout is not shorter."""
EXIT_TIMEOUT_S = 5.0
"""Seconds for on_stop and the like once the coordinator is gone."""

logger = logging.getLogger("locust.main")


class WorkerServer:
    """Carries out the coordinator's orders, one after the other; those that fire events go on beside them, as the
    user's listeners may take their time."""

    def __init__(
        self,
        stream: socket.socket,
        index: int,
        make_script: ScriptFactory,
        files: str | None = None,
        kept: KeptSnapshots | None = None,
        leave: Callable[[int], NoReturn] = os._exit,
    ) -> None:
        self._leave = leave
        self._stream = stream
        self._index = index
        self._files = files
        self._kept = kept
        self._incoming: SimpleQueue[bytes | None] = SimpleQueue()
        """b"" when the coordinator is gone, None when the run is over."""
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._unsent = 0
        """Bytes in it, and of the frame that is being sent."""
        self._gave_up = False
        """Rows of exchanges."""
        self._worker = Worker(index, self._tell, make_script)
        self._ending: gevent.Greenlet[[], None] | None = None
        self._is_main = False
        self._refused = False
        """It could not begin, and now only ends."""
        self._exit_code: int | None = None
        gevent.spawn(self._receive)
        self._sender = gevent.spawn(self._send)
        gevent.signal_handler(signal.SIGTERM, self._tell, Quit("stopped"))

    def serve(self) -> None:
        """Until the run is over, or the coordinator gone."""
        frames = Frames()
        while (data := self._next()) is not None:
            if not data:
                self._abandon()
            for name, arguments in frames.feed(data):
                order = ORDERS[name].from_list(arguments)
                if not self._refused or order.is_end:
                    self._carry_out(name, order)
        self._outgoing.put(None)
        self._sender.join()

    def _next(self) -> bytes | None:
        while True:
            try:
                return self._incoming.get()
            except SystemExit as error:  # gevent passes on that of any greenlet
                self._exit(error)
            except KeyboardInterrupt:  # raised by user code: SIGINT is ignored
                self._tell(Quit())

    def _carry_out(self, name: str, order: Order) -> None:
        method = getattr(self, f"_{name}", None) or getattr(self._worker, name)
        self._attempt(partial(self._beside, method) if order.fires_events else method, *order.to_list())

    def _beside(self, order: Callable[..., None], *arguments: Any) -> None:
        gevent.spawn(self._attempt, order, *arguments)
        # It begins before the next order is carried out.
        gevent.sleep(0)

    def _attempt(self, order: Callable[..., None], *arguments: Any) -> None:
        try:
            order(*arguments)
        except PlimsollError as error:
            self._refused = True
            self._tell(error)
        except SystemExit as error:
            self._exit(error)
        except Exception as error:
            traceback.print_exc()
            self._refused = True
            self._tell(broken(error, "an unexpected error of the worker"))

    def _prepare(
        self, plan: dict[str, Any], workers: int, bundle: Sequence[Any], environment: Mapping[str, str]
    ) -> None:
        os.environ.update(environment)
        decoded = replace(RunPlan.from_dict(plan), locustfiles=Bundle.from_list(bundle).open(self._files))
        if self._files is not None:
            # The folder of the log is one of the coordinator's machine; what is printed goes there.
            decoded = replace(decoded, logfile=None)
            if (brought := own_folder_of(self._files)) is not None:
                code_errors.note_brought(brought)
        if decoded.scenario is not None and not decoded.skip_log_setup:
            # A locustfile is imported first: it may set up logging itself, which counts until this is done.
            log.setup_logging(decoded.loglevel, decoded.logfile)
        if self._files is None:
            # The command has started this process before it knew how many users there are.
            ensure_open_files(decoded.most_users, decoded.processes)
        if decoded.scenario is None and decoded.header is not None:
            # Not before, here as below: a run of native users needs no HTTP client for Python.
            from plimsoll.users.http.headers import add_to_all

            add_to_all(HEADER, decoded.header)
        if decoded.scenario is None:
            # How many users there will be is the locustfile's to say.
            raise_open_files()
            if decoded.insecure:
                from plimsoll.users.http.url import accept_any_certificate

                accept_any_certificate()
            if decoded.http2:
                from plimsoll.users.http.sharing import use_http2

                use_http2(decoded.users_per_connection)
        self._is_main = self._index == workers
        self._worker.prepare(decoded, workers)
        if decoded.has_page:
            log_sender.install(lambda level, text: self._tell(Logged(level, text)))

    def _init(self) -> None:
        try:
            self._tell(self._worker.init())
        except SystemExit as error:
            raise broken(error, "starting the run") from error

    def _open(self, plan: dict[str, Any], shared: bytes | None) -> None:
        if self._kept is not None:
            self._kept.plan = plan
        try:
            self._tell(self._worker.open(RunPlan.from_dict(plan), shared))
        except SystemExit as error:
            raise broken(error, "starting the run") from error

    def _start(self, epoch: int, second: int, end: int | None) -> None:
        if self._kept is not None:
            self._kept.first = second
        self._worker.start(epoch, second, end)

    def _drain(self) -> None:
        if self._is_main:
            self._beside(self._worker.announce_end)
        else:
            self._finish()

    def _finish(self) -> None:
        self._ending = self._ending or gevent.spawn(self._end)

    def _stop(self) -> None:
        self._worker.stop()
        if not self._is_main:
            self._finish()

    def _end(self) -> None:
        try:
            ending = self._worker.drain()
            if ending.exit_code is None:
                ending = replace(ending, exit_code=self._exit_code)
            self._tell(ending)
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            self._tell(broken(error, "ending the run"))
        self._incoming.put(None)

    def _exit(self, error: SystemExit) -> None:
        logger.info("sys.exit(%s) called", error.code)
        self._exit_code = error.code if isinstance(error.code, int) else int(error.code is not None)
        self._tell(Quit())

    def _abandon(self) -> NoReturn:
        """The coordinator is gone: nobody asks for load any more."""
        logger.error("the coordinator is gone; stopping this worker")
        with contextlib.suppress(BaseException), gevent.Timeout(EXIT_TIMEOUT_S):
            if self._kept is None:
                self._worker.stop()
            else:
                # What is kept is to have the requests that are under way.
                gevent.spawn_later(LAST_REQUESTS_S, self._worker.stop)
            self._worker.drain()
        if self._kept is not None:
            self._kept.write()
        # As a rule not sys.exit: threads of the user's code must not keep the load alive.
        self._leave(1)

    def _tell(self, report: Report) -> None:
        data = pack_report(report)
        if self._kept is not None and isinstance(report, EncodedSnapshot):
            self._kept.add(data)
        if isinstance(report, Exchanges) and self._unsent + len(data) > MAX_UNSENT_BYTES:
            if not self._gave_up:
                logger.error("the file of exchanges is not complete: the coordinator takes the rows too slowly")
            self._gave_up = True
            return
        self._unsent += len(data)
        self._outgoing.put(data)

    def _receive(self) -> None:
        data = b"-"
        while data:
            try:
                data = self._stream.recv(READ_BYTES)
            except OSError:
                data = b""
            if data:
                # Here, and not where orders are carried out: with thousands of busy users that may be seconds later.
                self._worker.renew()
            self._incoming.put(data)

    def _send(self) -> None:
        with contextlib.suppress(OSError):  # a coordinator that is gone is noticed where orders are read
            while (data := self._outgoing.get()) is not None:
                self._stream.sendall(data)
                self._unsent -= len(data)


def _outlive_the_coordinator_only_so_long() -> None:
    """User code that never lets others run keeps `_abandon` from being reached; a real thread sees to it then."""
    parent = os.getppid()
    start, sleep = monkey.get_original("_thread", "start_new_thread"), monkey.get_original("time", "sleep")

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        sleep(2 * EXIT_TIMEOUT_S)
        os._exit(1)

    start(watch, ())


def main(
    fd: int,
    index: int,
    make_script: ScriptFactory,
    files: str | None = None,
    kept: str | None = None,
    *,
    is_program: bool = False,
) -> None:
    """Serve until the run is over. A fault of the machinery itself ends the process; the coordinator reports that.

    fd: this end of a socket pair; orders come in there, and snapshots go out. files: the folder of the locustfiles, if
    it is not where the coordinator found them. kept: the file for what it measured, if the coordinator is lost.
    is_program: it is the process of a program, which goes on afterwards.
    """
    # Ctrl-C and the end of the terminal reach the whole group; what follows from them is the coordinator's to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # It was blocked while this process came to be.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if not is_program:
        _outlive_the_coordinator_only_so_long()
    snapshots = KeptSnapshots(kept, index) if kept is not None else None
    with socket.socket(fileno=fd) as stream:
        leave: Callable[[int], NoReturn] = os._exit
        if is_program:
            leave = sys.exit
        WorkerServer(stream, index, make_script, files, snapshots, leave).serve()
        with contextlib.suppress(OSError):  # the coordinator is gone
            # A process that goes on may really close it only later.
            stream.shutdown(socket.SHUT_RDWR)
