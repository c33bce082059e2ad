from __future__ import annotations

from plimsoll.record import CaughtException, Failure
from plimsoll.report.console import MOST_ROWS, generator_line, heading, tables, user_line
from plimsoll.report.table import cells
from plimsoll.stats.view import RunView

AT_80 = """\
Requests (ms, bytes)
                         #     #                       Average       Failures
Method Name       Requests Fails Average    Min    Max    size   RPS       /s
-----------------------------------------------------------------------------
GET    /slow             1     1  ≥30000 ≥30000 ≥30000       0  0.25     0.25
GET    /todos          204     4    12.3   5.00   40.0     245 51.00     1.00
POST   /todos           12     4    3.50   3.00   4.00      67  3.00     1.00
-----------------------------------------------------------------------------
       Aggregated      217     9    ≥153   3.00 ≥30000     234 54.25     2.25

Response time percentiles (ms)
Method Name          50%    60%    70%    80%    90%    95%    99%   100%
-------------------------------------------------------------------------
GET    /slow      ≥30000 ≥30000 ≥30000 ≥30000 ≥30000 ≥30000 ≥30000 ≥30000
GET    /todos       10.0   10.0   10.0   10.0   20.0   20.0   40.0   40.0
POST   /todos       3.00   4.00   4.00   4.00   4.00   4.00   4.00   4.00
-------------------------------------------------------------------------
       Aggregated   10.0   10.0   10.0   10.0   20.0   20.0   40.0 ≥30000

Failures by kind, and the time until they failed (ms)
Kind     # Fails  Share  Median     Max
---------------------------------------
connect        4  1.84%    0.25    0.25
http           4  1.84%    5.00    5.00
timeout        1  0.46%  ≥30000  ≥30000

Failures by message
    #
Fails Kind    Method Name   Message
-----------------------------------------------------------------------------
    4 http    GET    /todos 500 Server Error
    4 connect POST   /todos ConnectionRefusedError(111, 'Connection refused')

Exceptions in the users' code
      8 × ZeroDivisionError: division by zero
          /home/ann/load/locustfile.py:12, in browse: price = 1 / count

≥: at least; 1 timeout kept at the limit that ended the wait
cut off when their user stopped, and counted nowhere else: 3 exchanges
generator: 1 worker, lag p99 0.90 ms, delay p99 0.02 ms, CPU max 40%, stamps: kernel"""


def test_everything_about_a_run(view):
    assert tables(view, 80) == AT_80


def test_tables_fit_a_wider_terminal_too(view):
    lines = tables(view, 120).splitlines()
    assert lines[1].split("  ")[0] == "Method"
    assert all(cells(line) <= 120 for line in lines)


def test_long_names_are_cut_in_the_middle(make_interval):
    view = RunView()
    view.add([make_interval([1], name=f"/first/{'x' * 200}/last")])
    line = next(line for line in tables(view, 80).splitlines() if line.startswith("GET"))
    assert cells(line) <= 80
    assert "/firs" in line
    assert "/last" in line


def test_a_run_without_requests():
    assert tables(RunView(), 80) == "no requests were made\n\ngenerator: nothing is known of it"


def test_only_refusals_have_no_response_times(make_interval):
    view = RunView()
    view.add([make_interval([0.25] * 3, outcome="connect", body=0)])
    text = tables(view, 100)
    assert "GET     /                    3        3        –    –    –             0  3.00        3.00" in text
    assert "connect        3  100.00%    0.25  0.25" in text


def test_of_many_messages_the_most_frequent_are_shown_and_the_rest_is_counted():
    view = RunView()
    view.add([], [], [Failure("GET", "/", "http", f"error {n}", n + 1, 0.0, 0.0) for n in range(MOST_ROWS + 7)])
    text = tables(view, 80)
    assert f"error {MOST_ROWS + 6}" in text
    assert "error 0" not in text
    assert "… and 7 more" in text


def test_messages_are_one_line_and_cannot_steer_the_terminal(make_interval):
    view = RunView()
    view.add([make_interval([1], name="/\x1b[2J")], [], [Failure("GET", "/", "http", "two\nlines", 1, 0.0, 0.0)])
    text = tables(view, 80)
    assert "\x1b" not in text
    assert "two lines" in text


def test_an_hour_is_where_percentiles_end(make_interval):
    view = RunView()
    view.add([make_interval([3_700_000.0])])
    assert "longer than 1 h, where percentiles end: 1 exchange\n" in tables(view, 80)


def test_the_users_own_line():
    trace = CaughtException("", "", 1, set())
    assert user_line(trace.traceback) == ""
    library = '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n    raise JSONDecodeError\n'
    assert user_line(library) == ""
    own = '  File "/home/ann/locustfile.py", line 7, in on_start\n'
    assert user_line(own + library) == "/home/ann/locustfile.py:7, in on_start"


def test_an_exception_without_a_class_in_its_traceback():
    view = RunView()
    view.add([], [], [], [CaughtException("boom\nmore", "no traceback", 1, {0}), CaughtException("", "last", 1, {0})])
    assert "      1 × boom\n" in tables(view, 80)
    assert "      1 × last\n" in tables(view, 80)


def test_which_clock_stamped_the_arrivals(make_health):
    def line(**values):
        view = RunView()
        health = make_health(delay_us=[1, 2, 3, 4])
        for name, value in values.items():
            setattr(health, name, value)
        view.add([], [health])
        return generator_line(view.generator)

    assert line().endswith("stamps: kernel")
    assert line(user_stamps=4).endswith("stamps: user")
    assert line(user_stamps=3, rejected_stamps=1).endswith("stamps: kernel, 3 of 4 user, 1 of them rejected")
    assert line(dropped=5).endswith(", 5 dropped")


def test_the_heading_says_what_the_run_was(run, view, monkeypatch):
    run.notes = ["worker 1 died", "two\nlines"]
    first, *notes = heading(run, view).splitlines()
    assert first.startswith("run 20261120-1200-7f3k (finished), 20")
    assert first.endswith(", 4 s, 5 users, against http://127.0.0.1:8000")
    assert notes == ["note: worker 1 died", "note: two lines"]
    run.manifest = {}
    assert heading(run, view).splitlines()[0].endswith(", 4 s")
