from __future__ import annotations

from plimsoll.record import CaughtException
from plimsoll.say.notes import generator_line, load_line, remarks, user_line, what_of
from plimsoll.stats.view import RunView

LIBRARY = '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError\n'
OWN = '  File "/home/ann/locustfile.py", line 7, in on_start\n'


def _view(make_health, *rows):
    view = RunView()
    for second, values in enumerate(rows):
        health = make_health(second, delay_us=[1, 2, 3, 4])
        for name, value in values.items():
            setattr(health, name, value)
        view.add([], [health])
    return view


def test_which_clock_stamped_the_arrivals(make_health):
    def line(**values):
        return generator_line(_view(make_health, values).generator)

    assert line().endswith("stamps: kernel")
    assert line(user_stamps=4).endswith("stamps: user")
    assert line(user_stamps=3, rejected_stamps=1).endswith("stamps: kernel, 3 of 4 user, 1 of them rejected")


def test_a_generator_that_ran_out_of_something_says_so(make_health):
    view = _view(make_health, {"exhausted": 1}, {"exhausted": 2})
    assert generator_line(view.generator).endswith(", out of files, ports or memory 3 times")


def test_what_became_of_the_arrivals(make_health):
    view = _view(
        make_health,
        {"offered": 900, "users": 20, "waiting": 7},
        {"offered": 902, "users": 512, "waiting": 37, "dropped": 4},
        {"users": 100},
    )
    assert load_line(view, 10_000) == (
        "load: offered 1\u202f802 (901.0/s), sent 1\u202f798, dropped 4, waiting peak 37, users peak 512 of max "
        "10\u202f000"
    )


def test_where_nothing_waited_nothing_is_said_of_it(make_health):
    view = _view(make_health, {"offered": 900, "users": 20})
    assert load_line(view, None) == "load: offered 900 (900.0/s), sent 900, dropped 0, users peak 20"
    assert load_line(RunView(), 5) == "load: offered 0 (0.0/s), sent 0, dropped 0, users peak 0 of max 5"


def test_a_back_off_is_named_with_the_time_that_it_took(make_health):
    view = _view(make_health, {"backoff_ms": 61_500}, {"backoff_ms": 500}, {})
    assert remarks(view, view.total.response) == [
        "users who could not connect waited before they tried again: 1 min 2 s in all (--no-connect-backoff: at once)"
    ]


def test_what_the_numbers_leave_out(make_interval):
    view = RunView()
    view.add([make_interval([3_700_000.0]), make_interval([9.0, 9.0], outcome="timeout")])
    view.add([make_interval(untimed=1, outcome="unanswered")])
    assert remarks(view, view.total.response) == [
        "≥: at least; 2 timeouts kept at the limit that ended the wait",
        "longer than 1 h, where percentiles end: 1 exchange",
        "no response when their user was stopped: 1 request, merely in flight",
    ]
    assert remarks(RunView(), RunView().total.response) == []


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
