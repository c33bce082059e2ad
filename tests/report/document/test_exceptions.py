from __future__ import annotations

from plimsoll.record import CaughtException
from plimsoll.report.document.exceptions import exception_lines, user_line
from plimsoll.report.text import cells

LIBRARY = '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError\n'
OWN = '  File "/home/ann/locustfile.py", line 7, in on_start\n'


def test_the_users_own_line():
    assert user_line("") == ""
    assert user_line(LIBRARY) == ""
    assert user_line(OWN + LIBRARY) == "/home/ann/locustfile.py:7, in on_start"


def test_what_how_often_and_where():
    caught = CaughtException("no such key", f"{OWN}KeyError: no such key\n", 12, {0})
    assert exception_lines(caught, 80) == [
        "     12 × KeyError: no such key",
        "          /home/ann/locustfile.py:7, in on_start",
    ]


def test_without_a_class_in_its_traceback():
    assert exception_lines(CaughtException("boom\nmore", "no traceback", 1, {0}), 80) == ["      1 × boom"]
    assert exception_lines(CaughtException("", "last", 1, {0}), 80) == ["      1 × last"]
    assert exception_lines(CaughtException("", "", 1, {0}), 80) == ["      1 × "]


def test_long_lines_are_cut():
    caught = CaughtException("x" * 200, OWN.replace("ann", "a" * 200), 1, {0})
    assert [cells(line) for line in exception_lines(caught, 60)] == [60, 60]
