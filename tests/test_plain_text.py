"""Text from elsewhere steers neither a terminal nor a CI server, and has no password of a URL."""

from __future__ import annotations

import logging

import pytest
from tests.report.hostile import BEGINNINGS, NOT_STORED, PIECES

from plimsoll.plain_text import LogFormatter, one_line, plain_lines, printable, without_commands
from plimsoll.report.text import dumps

TEXTS = [f"{beginning}{piece}" for beginning in BEGINNINGS for piece in (*PIECES, *NOT_STORED)]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_text_has_what_is_not_seen(text: str) -> None:
    assert printable(text).replace("\u00a0", " ").isprintable()
    assert one_line(text).isprintable()
    assert len(plain_lines(text).split("\n")) == len(text.split("\n"))
    assert plain_lines(text).replace("\n", "").isprintable()
    assert dumps(text).isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", ": :error::x"),
        ("a\n  ::add-mask::x", "a\n  : :add-mask::x"),
        ("a ##[error]x", "a ## [error]x"),
        ("a::b ::error::", "a::b ::error::"),
    ],
)
def test_no_line_is_a_command_of_github_actions(text: str, shown: str) -> None:
    assert without_commands(text) == shown


def test_a_log_line_is_plain_and_has_no_password() -> None:
    message = "get http://ann:S3cr3t@host/ \x1b[31m\u202e\n::error::x"
    record = logging.LogRecord("x", logging.INFO, "", 1, message, None, None)
    assert LogFormatter("%(message)s").format(record) == "get http://ann:***@host/ \ufffd[31m\ufffd\n: :error::x"
