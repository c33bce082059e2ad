"""Reads single keys from a terminal while a program runs."""

from __future__ import annotations

import logging
import os
import select
import sys
import termios
import tty
from typing import TYPE_CHECKING

import gevent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAUSE = 0.2
"""Interval in seconds between checks of the terminal."""


class InitError(Exception):
    """Standard input is no terminal."""


class KeyPoller:
    """Reads keys without waiting for Enter, until cleanup(). Raises InitError."""

    def __init__(self) -> None:
        if not sys.stdin.isatty():
            raise InitError("Terminal was not a tty. Keyboard input disabled")
        self._terminal = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal, termios.TCSANOW)

    def poll(self) -> str | None:
        """The next pressed key, if any."""
        # Not through sys.stdin: select() does not see the keys in its buffer.
        return os.read(self._terminal, 1).decode("latin-1") if select.select([self._terminal], [], [], 0)[0] else None

    def cleanup(self) -> None:
        """Restore the terminal."""
        termios.tcsetattr(self._terminal, termios.TCSANOW, self._before)


def get_poller() -> KeyPoller:
    return KeyPoller()


def input_listener(key_to_func_map: Mapping[str, Callable[[], object]]) -> Callable[[], None]:
    """A function to spawn that calls the function of every pressed key; without a terminal it returns."""

    def listen() -> None:
        try:
            poller = get_poller()
        except InitError as reason:
            logging.debug(reason)
            return
        try:
            while True:
                if key := poller.poll():
                    if key in key_to_func_map:
                        key_to_func_map[key]()
                else:
                    gevent.sleep(PAUSE)
        except Exception as error:
            logging.warning("Exception in keyboard input poller: %s", error)
        finally:
            poller.cleanup()

    return listen
