"""What SIGINT, SIGTERM and SIGHUP mean to a command, in each of its parts. No other module handles them.

    with command():           a signal ends the command: by KeyboardInterrupt, or `LIMIT_S` later without it
    with ending():            the same within a part whose caller has another meaning
    with orderly():           KeyboardInterrupt; only the second signal has the limit
    with passed_to(action):   a signal calls the action
    with finishing():         what is being written may be completed, within `LIMIT_S` of a signal

Python calls handlers in the main thread and only between two instructions, so a resolver, a database or a full pipe
can hold them up. A thread of this module sees each signal as well; it ends the process when the main thread does not.
"""

from __future__ import annotations

import logging
import math
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LIMIT_S = 2.5
"""Seconds from a signal that ends a command to the end of its process, in any case."""
BURST_S = 1.0
"""Signals within so many seconds of the first one are one request to end."""
UNHEARD_S = 0.5
"""Seconds after which a signal that the main thread has not taken counts as ignored."""
WAIT_S = 1.2
"""Seconds for which a command that a signal ends waits for others: for a store, an observer, a service."""
LOOK_S = 0.05
"""Seconds between looks whether a signal has come meanwhile."""
SHOW_CURSOR = b"\x1b[?25h"
BEING_WRITTEN = b"plimsoll: the report is being written, for 2 s more at most; once more to leave without it\n"
LEFT = b"plimsoll: ended at once, as something did not answer the signal\n"


def stop_signals() -> list[signal.Signals]:
    """Those that end what goes on. With nohup, SIGHUP goes on doing nothing at all."""
    return [each for each in SIGNALS if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN]


@dataclass(slots=True, eq=False)
class _Meaning:
    """act: is called in the main thread, with whether it is the first signal of this meaning. wake: is called in
    another thread, so that the main thread does not sleep on. is_limited: any signal ends the process soon. every: the
    signals of a burst count, and the action says when it has taken one."""

    act: Callable[[bool], None]
    wake: Callable[[], None] | None = None
    is_limited: bool = False
    every: bool = False
    has_acted: bool = False


class _Interrupts:
    """The signals of this process. Its methods are for the main thread, except where they say otherwise."""

    def __init__(self) -> None:
        self.meanings: list[_Meaning] = []
        """The innermost is the last one."""
        self._before: dict[signal.Signals, Any] = {}
        self._wakeup = -1
        self._hook = sys.unraisablehook
        self._poke: socket.socket | None = None
        self._reset()

    def _reset(self) -> None:
        self.count = 0
        """Signals since the outermost block began."""
        self.number = int(signal.SIGINT)
        """The last one."""
        self.is_noted = False
        """A signal came while a report was announced whose run had not begun."""
        self.waits_until = math.inf
        """After a signal nothing else is waited for any longer."""
        self.last_acts: list[Callable[[], None]] = []
        """What is done when the process ends without its main thread."""
        self._handled = self._burst = -math.inf
        """When the main thread took the last signal, and when the last burst began."""
        self._seen = self._seen_burst = -math.inf
        """When the watching thread saw the last signal and the begin of the last burst."""
        self._limit = self._limit_if_unheard = math.inf
        self._delayed = 0.0
        """Seconds for which threads had waited for a CPU when the limit was set."""

    def install(self) -> None:
        """From now on signals are handled here. There is a meaning already."""
        self._reset()
        reader, self._poke = socket.socketpair()
        self._poke.setblocking(False)
        threading.Thread(target=self._watch, args=(reader,), name="signals", daemon=True).start()
        self._before = {each: signal.signal(each, self._handle) for each in stop_signals()}
        self._wakeup = signal.set_wakeup_fd(self._poke.fileno(), warn_on_full_buffer=False)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._ignore_interrupts

    def uninstall(self) -> None:
        """Signals mean what they meant before. There still is a meaning."""
        signal.set_wakeup_fd(self._wakeup)
        for each, handler in self._before.items():
            signal.signal(each, handler)
        sys.unraisablehook = self._hook
        logging.disable(logging.NOTSET)
        self._limit = self._limit_if_unheard = math.inf
        assert self._poke is not None
        self._poke.close()
        self._poke = None

    def leave(self) -> None:
        """The command is over, and the interpreter still ends its threads. Signals change nothing any more, and what
        does not end has the limit."""
        for each in self._before:
            signal.signal(each, signal.SIG_IGN)
        self.hurry()

    @property
    def is_ending(self) -> bool:
        """The process ends soon in any case."""
        return self._limit < math.inf

    def hurry(self) -> None:
        """The process ends within `LIMIT_S`. From any thread."""
        if not self.is_ending:
            self._delayed = _cpu_delay()
            self._limit = time.monotonic() + LIMIT_S
            self._look()

    def take_noted(self) -> bool:
        """Whether there was one; it counts no more then."""
        noted, self.is_noted = self.is_noted, False
        if noted:
            self._limit = math.inf
        return noted

    def take(self) -> None:
        """The main thread carries out what the last signal wants."""
        self._handled = time.monotonic()
        self._limit_if_unheard = math.inf

    def _handle(self, number: int, _: FrameType | None) -> None:
        now, meaning = time.monotonic(), self.meanings[-1]
        self.count += 1
        self.number = number
        if not meaning.every:
            self.take()
        if now - self._burst >= BURST_S:
            self._burst = now
        elif not meaning.every:
            return
        is_first, meaning.has_acted = not meaning.has_acted, True
        meaning.act(is_first)

    def _ignore_interrupts(self, found: sys.UnraisableHookArgs) -> None:
        """A KeyboardInterrupt in a finalizer goes no further; the limit ends the process then."""
        if not issubclass(found.exc_type, KeyboardInterrupt):
            self._hook(found)

    def _look(self) -> None:
        """Have the watching thread look at the limits."""
        if self._poke is not None:
            with suppress(OSError):
                self._poke.send(b"\0")

    def _watch(self, reader: socket.socket) -> None:
        with reader:
            while True:
                left = min(self._limit, self._limit_if_unheard) - time.monotonic()
                if left <= 0 and (left := self._granted()) <= 0:
                    self._end()
                if not select.select([reader], [], [], None if left == math.inf else left)[0]:
                    continue
                data = reader.recv(64)
                if not data:
                    return
                if numbers := [each for each in data if each in SIGNALS]:
                    self.number = numbers[-1]
                    self._notice()

    def _notice(self) -> None:
        """A signal has come. The main thread may be about to take it, or may be held up."""
        meaning = next(reversed(self.meanings), None)
        if meaning is None:
            return
        now = time.monotonic()
        if now - self._seen_burst >= BURST_S:
            self._seen_burst = now
            if meaning.is_limited:
                self.hurry()
            elif self._seen - self._handled > UNHEARD_S:
                self._delayed = _cpu_delay()
                self._limit_if_unheard = now + LIMIT_S
        self._seen = now
        if meaning.wake is not None:
            meaning.wake()

    def _granted(self) -> float:
        """Seconds that are left because the machine had no CPU for this process meanwhile."""
        delayed = _cpu_delay()
        more, self._delayed = delayed - self._delayed, delayed
        self._limit += more
        self._limit_if_unheard += more
        return min(self._limit, self._limit_if_unheard) - time.monotonic()

    def _end(self) -> None:
        write(LEFT if not os.isatty(2) else SHOW_CURSOR + LEFT)
        for act in self.last_acts:
            with suppress(Exception):
                act()
        os._exit(128 + self.number)


_interrupts = _Interrupts()


@contextmanager
def command() -> Iterator[None]:
    """A whole process. Once a signal ends it, the limit holds up to the end of the process."""
    with _meaning(_Meaning(_interrupt, is_limited=True), is_process=True):
        yield


@contextmanager
def ending() -> Iterator[None]:
    """A signal within the block raises KeyboardInterrupt, and the process ends within `LIMIT_S`."""
    with _meaning(_Meaning(_interrupt, is_limited=True)):
        yield


@contextmanager
def orderly() -> Iterator[None]:
    """A signal within the block raises KeyboardInterrupt. After the first one the work may be ended in order, however
    long that takes."""
    with _meaning(_Meaning(_interrupt_in_order)):
        yield


@contextmanager
def passed_to(
    action: Callable[[bool], None], wake: Callable[[], None] | None = None, *, every: bool = False
) -> Iterator[None]:
    """A signal within the block calls the action, with whether it is the first one. wake: is called in another thread,
    so that the main thread does not sleep on. every: all signals of a burst count, and `take` says when one was taken.
    """
    with _meaning(_Meaning(action, wake, every=every)):
        yield


@contextmanager
def awaited() -> Iterator[threading.Event]:
    """Gives an event that is set once a signal has come since the block began."""
    over = threading.Event()

    def end(_: bool) -> None:
        over.set()
        hurry()

    with passed_to(end):
        yield over


@contextmanager
def finishing() -> Iterator[None]:
    """The block writes what must not be lost. The first signal within it is answered; the next one ends the command."""
    with _meaning(_Meaning(_note, is_limited=True)):
        yield


def take() -> None:
    """An action of `passed_to` with `every` carries out what the signal wants."""
    _interrupts.take()


def take_noted() -> bool:
    """Whether a signal came between the beginning of `finishing` and now; it is to be carried out then."""
    return _interrupts.take_noted()


def hurry() -> None:
    """The process ends within `LIMIT_S`, if a signal handler of this module is in place."""
    _interrupts.hurry()


def at_the_latest(act: Callable[[], None]) -> None:
    """Called in another thread if the process is ended without its main thread. It must not wait for anything."""
    _interrupts.last_acts.append(act)


def count() -> int:
    """Signals since the outermost block of this module began."""
    return _interrupts.count


def exit_code() -> int:
    """Of a command that the last signal has ended."""
    return 128 + _interrupts.number


def may_finish() -> None:
    """From now on others are waited for at most `WAIT_S` altogether, if a signal has come or comes."""
    _interrupts.waits_until = time.monotonic() + WAIT_S


def wait(look: Callable[[float], object], seconds: float) -> bool:
    """Wait until look(s) is true, which itself waits for s seconds. False: it was not within so many seconds, or not
    within what is left of `WAIT_S` after a signal."""
    until = time.monotonic() + seconds
    while True:
        limit = min(until, _interrupts.waits_until) if _interrupts.count else until
        left = limit - time.monotonic()
        if look(min(LOOK_S, max(0.0, left))):
            return True
        if left <= 0:
            return False


def write(text: bytes) -> None:
    """To stderr; not by `print`, as a signal may come in the middle of one. A pipe that nobody empties gets nothing."""
    with suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:
            os.write(2, text)


@contextmanager
def _meaning(meaning: _Meaning, *, is_process: bool = False) -> Iterator[None]:
    """In other threads than the main one nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_outermost = not _interrupts.meanings
    _interrupts.meanings.append(meaning)
    if is_outermost:
        _interrupts.install()
    try:
        yield
    finally:
        if is_outermost and is_process and _interrupts.count:
            _interrupts.leave()
        else:
            if is_outermost:
                _interrupts.uninstall()
            _interrupts.meanings.remove(meaning)


def _interrupt(_: bool) -> None:
    _interrupts.hurry()
    # A library in whose middle it is raised would print it as an error.
    logging.disable(logging.CRITICAL)
    raise KeyboardInterrupt


def _interrupt_in_order(is_first: bool) -> None:
    if not is_first:
        _interrupts.hurry()
    raise KeyboardInterrupt


def _note(is_first: bool) -> None:
    _interrupts.hurry()
    if not is_first:
        raise KeyboardInterrupt
    _interrupts.is_noted = True
    _interrupts.waits_until = min(_interrupts.waits_until, time.monotonic() + WAIT_S)
    write(BEING_WRITTEN)


def _cpu_delay() -> float:
    """Seconds for which threads of this process were ready to run and had no CPU; 0 where that is not counted."""
    delay = 0
    for each in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError, ValueError, IndexError):
            delay += int(each.read_text().split()[1])
    return delay / 1e9
