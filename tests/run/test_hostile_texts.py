"""What a target sends, and what users' code makes of it, does not steer the terminal of who looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Command

HOSTILE = r"""
import logging
from locust import User, constant, task

class Reader(User):
    wait_time = constant(0.05)

    @task
    def read(self):
        self.environment.events.request.fire(
            request_type="\x1b[31mGET", name="na\x1b]0;title\x07me", response_time=1, response_length=0,
            exception=OSError("said \x1b[2J\x9b2J"),
        )
        logging.error("log \x1b[2J of a user\ttab")
        raise ValueError("raised \x1b[2J\r\x08")
"""


def _control(text: str) -> list[str]:
    return [
        line
        for line in text.split("\n")
        if any((ord(each) < 32 and each != "\t") or 127 <= ord(each) < 160 for each in line)
    ]


@pytest.fixture
def finished(plimsoll: Command) -> tuple[str, str]:
    plimsoll.write(HOSTILE)
    done = plimsoll("run", "--headless", "-u", "2", "-r", "2", "-t", "3s")
    return done.out, done.err


def test_no_control_character_reaches_the_terminal(plimsoll: Command, finished: tuple[str, str]) -> None:
    out, err = finished
    assert "raised \ufffd[2J" in err, "the texts are there"
    assert "log \ufffd[2J of a user" in err
    assert "\ufffd[31mG" in err, "also in the table while the run goes on"
    assert _control(out) == [] == _control(err)
    for words in (("show", "last"), ("runs",), ("report", "last"), ("report", "last", "--format", "md")):
        done = plimsoll(*words)
        assert done.code == 0, done
        assert _control(done.out + done.err) == [], words
