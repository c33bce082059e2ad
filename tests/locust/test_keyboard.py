from __future__ import annotations

import os
import pty
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING

import gevent
import pytest

from plimsoll.locust import keyboard

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other side of standard input."""
    typist, screen = pty.openpty()
    with os.fdopen(screen, "r", buffering=1) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield typist
    os.close(typist)


def test_keys_call_their_functions_at_once(terminal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyboard, "PAUSE", 0.001)
    before = termios.tcgetattr(sys.stdin.fileno())
    pressed: list[str] = []
    listener = gevent.spawn(keyboard.input_listener({"w": lambda: pressed.append("w"), "s": listener_end}))
    gevent.sleep(0)  # so that it has the terminal
    os.write(terminal, b"wxw")
    while len(pressed) < 2:
        gevent.sleep(0.001)
    assert termios.tcgetattr(sys.stdin.fileno()) != before
    os.write(terminal, b"s")
    listener.join()
    assert pressed == ["w", "w"]
    assert termios.tcgetattr(sys.stdin.fileno()) == before


def listener_end() -> None:
    raise RuntimeError("enough")


def test_without_a_terminal_it_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        keyboard.input_listener({})()
        with pytest.raises(keyboard.InitError, match="not a tty"):
            keyboard.get_poller()
