from __future__ import annotations

from plimsoll.record import CaughtException
from plimsoll.report.document.exceptions import user_line, what_of

LIBRARY = '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError\n'
OWN = '  File "/home/ann/locustfile.py", line 7, in on_start\n'


def test_the_users_own_line():
    assert user_line("") == ""
    assert user_line(LIBRARY) == ""
    assert user_line(OWN + LIBRARY) == "/home/ann/locustfile.py:7, in on_start"


def test_what_happened_is_the_last_line_which_names_the_class():
    assert what_of(CaughtException("no such key", f"{OWN}KeyError: no such key\n", 12, {0})) == "KeyError: no such key"


def test_without_a_class_in_its_traceback():
    assert what_of(CaughtException("boom\nmore", "no traceback", 1, {0})) == "boom"
    assert what_of(CaughtException("", "last", 1, {0})) == "last"
    assert what_of(CaughtException("", "", 1, {0})) == ""
