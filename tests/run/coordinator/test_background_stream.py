from __future__ import annotations

import io
import os
from threading import Event

import pytest

from plimsoll.run.coordinator import background_stream
from plimsoll.run.coordinator.background_stream import BackgroundStream


class Blocked(io.StringIO):
    """Takes nothing until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.is_written = Event()
        self.released = Event()

    def write(self, text: str) -> int:
        self.is_written.set()
        assert self.released.wait(20)
        return super().write(text)


def test_texts_arrive_in_order_before_it_is_left() -> None:
    below = io.StringIO()
    with BackgroundStream(below) as stream:
        for number in range(1000):
            print(number, file=stream)
    assert below.getvalue() == "".join(f"{number}\n" for number in range(1000))


def test_a_reader_that_takes_nothing_holds_up_nobody_and_costs_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_stream, "MOST_CHARACTERS", 100)
    monkeypatch.setattr(background_stream, "LAST_WRITE_S", 0.01)
    below = Blocked()
    with BackgroundStream(below) as stream:
        stream.write("first")
        assert below.is_written.wait(20)
        for _ in range(1000):
            stream.write("ten chars ")
    below.released.set()
    stream._thread.join(20)  # type: ignore[attr-defined]
    assert below.getvalue() == "first" + "ten chars " * 10, "what does not fit is left out"


def test_a_reader_that_is_gone_is_no_error() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with BackgroundStream(Gone()) as stream:
        stream.write("nobody reads this")
        stream.write("nor this")


def test_it_looks_like_the_stream_below() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w", encoding="utf-8") as below, BackgroundStream(below) as stream:
        assert (stream.isatty(), stream.fileno(), stream.encoding) == (False, writing, "utf-8")
        assert stream.writable()
