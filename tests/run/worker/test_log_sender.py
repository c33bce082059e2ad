from __future__ import annotations

import logging

from plimsoll.run.worker.log_sender import LONGEST, PER_SECOND, LogSender


class Wire:
    """Takes what is sent, at a time that is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.at = 0.0
        self._sender = LogSender(lambda level, text: self.sent.append((level, text)), lambda: self.at)

    def log(self, text: str, *arguments: object, level: int = logging.INFO) -> None:
        self._sender.handle(logging.LogRecord("shop", level, __file__, 1, text, arguments, None))


def test_a_line_is_passed_on_with_its_level_and_logger() -> None:
    wire = Wire()
    wire.log("%d carts", 3, level=logging.WARNING)
    assert wire.sent == [("WARNING", "shop: 3 carts")]


def test_more_lines_than_anybody_reads_are_counted_instead() -> None:
    wire = Wire()
    for _ in range(PER_SECOND + 7):
        wire.log("again")
    assert len(wire.sent) == PER_SECOND
    wire.at = 1.0
    wire.log("quiet")
    assert [text for _, text in wire.sent[PER_SECOND:]] == [
        "7 lines of the log are not shown here: too many in a second",
        "shop: quiet",
    ]


def test_a_line_of_any_length_is_cut() -> None:
    wire = Wire()
    wire.log("x" * 10 * LONGEST)
    assert len(wire.sent[0][1]) == LONGEST
