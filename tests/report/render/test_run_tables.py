from __future__ import annotations

import re
from dataclasses import replace

from plimsoll.record import Failure
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.run_tables import INVALID, MOST_IN_SHORT, tables_document
from plimsoll.report.render.console import console
from plimsoll.report.text import UNLIMITED, cells
from plimsoll.say.validity import check_texts, omission_lines
from plimsoll.stats.view import RunView


def tables(view, assessment, width, *, colour=False, run=None):
    return console(tables_document(view, run, assessment), width, colour=colour)


AT_80 = """\
5 users · http://127.0.0.1:8000
===============================
run 20261120-1200-7f3k, finished, NOW, 4 s

Your code raises ZeroDivisionError: division by zero. The users' own code ends
its tasks with exceptions; the tracebacks are among the exceptions.

217 requests in 4 s (54.2 per second), 9 failed (4.1 %, mostly with 500 Server
Error). Half of the responses took at most 10.0 ms, 99 % at most 40.0 ms.

  Response times
  ≤   7.63 ms ██▍                               12   5.6 %
  ≤   12.3 ms ████████████████████████████████ 160  80.7 %
  ≤   16.9 ms                                    0  80.7 %
  ≤   21.5 ms ███████▎                          36  97.6 %
  ≤   26.1 ms                                    0  97.6 %
  ≤   30.8 ms                                    0  97.6 %
  ≤   35.4 ms                                    0  97.6 %
  ≤   40.0 ms ▊                                  4  99.5 %
  ≤ 30~000 ms ▎                                  1 100.0 %

The load was the load asked for
- Checks passed: 1.

Numbers
-------
Requests
                                 #     #            Average     Max
Method Name       Waiting Requests Fails Unanswered    (ms)    (ms)   RPS
-------------------------------------------------------------------------
GET    /slow         92 %        1     1          0 ≥30~000 ≥30~000 0.250
GET    /todos         8 %      204     4          3    12.3    40.0  51.0
POST   /todos        <1 %       12     4          0    3.50    4.00  3.00
-------------------------------------------------------------------------
       Aggregated   100 %      217     9          3    ≥153 ≥30~000  54.2

Response time percentiles (ms)
Method Name           50%     70%     80%     90%     95%     99%    100%
-------------------------------------------------------------------------
GET    /slow      ≥30~000 ≥30~000 ≥30~000 ≥30~000 ≥30~000 ≥30~000 ≥30~000
GET    /todos        10.0    10.0    10.0    20.0    20.0    40.0    40.0
POST   /todos        3.00    4.00    4.00    4.00    4.00    4.00    4.00
-------------------------------------------------------------------------
       Aggregated    10.0    10.0    10.0    20.0    20.0    40.0 ≥30~000

Failures
--------
Failures by kind, and the time until they failed
Kind     # Fails  Share  Median (ms)  Max (ms)
----------------------------------------------
connect        4  1.84%        0.250     0.250
http           4  1.84%         5.00      5.00
timeout        1  0.46%      ≥30~000   ≥30~000

Failures by message
    #
Fails Kind    Method Name   Message
-----------------------------------------------------------------------------
    4 http    GET    /todos 500 Server Error
    4 connect POST   /todos ConnectionRefusedError(111, 'Connection refused')

Exceptions in the users' code, by traceback, each with its first message
------------------------------------------------------------------------
8 × ZeroDivisionError: division by zero
  /home/ann/load/locustfile.py:12, in browse: price = 1 / count

Notes
-----
- ≥: at least; 1 timeout kept at the limit that ended the wait
- no response when their user was stopped: 3 requests, merely in flight
- service times (what the target took) agree with these response times within 2%
- generator: 1 worker, lag p99 0.900 ms, delay p99 0.020 ms, CPU max 40%,
  stamps: kernel

Your code raises ZeroDivisionError: division by zero. The users' own code ends
its tasks with exceptions; the tracebacks are among the exceptions.

217 requests · 54.2/s · 9 failed (4.1 %) · p50 10.0 ms · p99 40.0 ms""".replace("~", "\u202f")


def test_everything_about_a_run(view, run, valid):
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "NOW", tables(view, valid, 80, run=run)) == AT_80


def test_tables_fit_a_wider_terminal_too(view, valid):
    lines = tables(view, valid, 120).splitlines()
    assert any(line.startswith("Method  Name") for line in lines)
    assert all(cells(line) <= 120 for line in lines)


def test_long_names_are_cut_at_their_end_and_not_at_all_where_there_is_room(make_interval, valid):
    view = RunView()
    name = f"/first/{'x' * 200}/last"
    view.add([make_interval([1], name=name)])
    line = next(line for line in tables(view, valid, 80).splitlines() if line.startswith("GET"))
    assert cells(line) <= 80
    assert "/first/xx" in line
    assert name in tables(view, valid, UNLIMITED)


def test_a_run_without_requests(valid):
    text = tables(RunView(), valid, 80)
    assert "\nNo requests were made.\n" in text
    assert text.endswith("\n- generator: nothing is known of it")


def test_a_run_of_streams_that_did_not_end_has_the_rows_of_their_events(make_interval, valid):
    view = RunView()
    view.add(
        [make_interval([5.0] * 3, method="each event", name="/feed"), make_interval(outcome="unanswered", untimed=2)]
    )
    lines = tables(view, valid, 120).splitlines()
    assert any(line.split()[:5] == ["each", "event", "/feed", "–", "3"] for line in lines)


def test_only_refusals_have_no_response_times(make_interval, valid):
    view = RunView()
    view.add([make_interval([0.25] * 3, outcome="connect", body=0)])
    text = tables(view, valid, 100)
    assert re.search(r"^GET +/ +100 % +3 +3 +0 +– +– +– +0 +3\.00 +3\.00$", text, re.MULTILINE)
    assert "connect        3  100.00%        0.250     0.250" in text


def test_of_many_messages_the_most_frequent_are_shown_and_the_rest_is_counted(valid):
    view = RunView()
    view.add([], [], [Failure("GET", "/", "http", f"error {n}", n + 1, 0.0, 0.0) for n in range(MOST_IN_SHORT + 7)])
    text = tables(view, valid, 80)
    assert f"error {MOST_IN_SHORT + 6}" in text
    assert "error 0" not in text
    assert "\n7 more; `plimsoll show RUN --json` has all.\n" in text


def test_messages_are_one_line_and_cannot_steer_the_terminal(make_interval, valid):
    view = RunView()
    view.add([make_interval([1], name="/\x1b[2J")], [], [Failure("GET", "/", "http", "two\nlines", 1, 0.0, 0.0)])
    text = tables(view, valid, 80)
    assert "\x1b" not in text
    assert "two lines" in text


def test_an_hour_is_where_percentiles_end(make_interval, valid):
    view = RunView()
    view.add([make_interval([3_700_000.0])])
    assert "longer than 1 h, where percentiles end: 1 exchange\n" in tables(view, valid, 80)


def plain(text):
    """Without what only a terminal understands."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_an_invalid_run_says_so_first_and_last_and_why(view, invalid):
    lines = tables(view, invalid, 80).splitlines()
    assert lines[4] == "INVALID: the load was not the load asked for (dropped, cpu)"
    listed = " ".join(line.strip() for line in lines[5:])
    assert listed.startswith(" ".join(f"- {text}" for text in check_texts(invalid.validity.failed)))
    assert lines[-2:] == ["", "INVALID: the load was not the load asked for (dropped, cpu)"]


def test_of_a_valid_run_nobody_says_that_it_is_not(view, valid):
    assert "INVALID" not in tables(view, valid, 80)
    assert plain(tables(view, valid, 80, colour=True)) == tables(view, valid, 80)


def test_on_a_terminal_an_invalid_run_is_said_in_red_and_its_numbers_are_as_ever(view, valid, invalid, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = tables(view, invalid, 160, colour=True)
    assert plain(text) == tables(view, invalid, 160)
    assert f"\n\x1b[1;31m{INVALID} (dropped, cpu)\x1b[0m\n" in text
    assert text.endswith(f"{INVALID} (dropped, cpu)\x1b[0m")
    rows = [line for line in plain(text).splitlines() if re.match(r"GET|POST|  +Aggregated|http|connect", line)]
    assert len(rows) == 4 + 4 + 2
    assert all(line in tables(view, valid, 160) for line in rows)


def test_what_could_not_be_checked_is_named(view, invalid, valid):
    assert "- could not be checked: clock, workers" in tables(view, invalid, 80).splitlines()
    assert "could not be checked" not in tables(view, valid, 80)


def test_what_the_closed_model_hid_is_said(view, valid, omission):
    text = tables(view, replace(valid, omission=omission), 80)
    for line in omission_lines(omission):
        assert line in " ".join(text.split())
    assert "None" not in tables(view, replace(valid, omission=replace(omission, modelled=omission.recorded)), 80)


def test_thresholds_with_what_became_of_them(view, invalid):
    lines = tables(view, invalid, 100).splitlines()
    first = next(place for place, line in enumerate(lines) if "✓" in line)
    assert lines[first : first + 4] == [
        "  ✓ p99 < 300ms         p99 was 40 ms",
        "  ✗ p100 < 30s          p100 was ≥30000 ms, not < 30000 ms",
        "  ✗ fails of /shop = 0  /shop never occurred",
        "",
    ]


def test_thresholds_are_green_and_red_where_colours_are_wanted(view, invalid, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = tables(view, invalid, 100, colour=True)
    assert "\x1b[32m  ✓ p99 < 300ms" in text
    assert "\x1b[1;31m  ✗ p100 < 30s" in text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "[32m" not in tables(view, invalid, 100, colour=True)


def test_the_open_model_says_what_became_of_its_arrivals(view, valid, invalid):
    lines = tables(view, invalid, 80).splitlines()
    assert [line for line in lines if line.startswith("- load: ")] == [
        "- load: offered 0 (0.0/s), sent 0, dropped 0, users peak 5 of max 1\u202f000"
    ]
    assert "load: " not in tables(view, valid, 80)


def test_service_times_have_a_table_where_they_differ(make_interval, valid):
    interval = make_interval([100.0] * 10)
    interval.service = type(interval.service)()
    interval.service.record(60_000, 10)
    interval.service_sum = 600_000_000
    view = RunView()
    view.add([interval, make_interval([1.0], name="/other")])
    text = tables(view, valid, 100)
    title = "Service time percentiles (ms): what the target took\n"
    assert text.index("Response time percentiles (ms)\n") < text.index(title)
    service = text[text.index(title) :].splitlines()
    assert [line.split() for line in service[3:6:2]] == [
        ["GET", "/", *["60.0"] * 8],
        ["-" * len(service[2])],
    ]
    assert "agree" not in text


def test_where_nothing_was_timed_nothing_agrees(make_interval, valid):
    view = RunView()
    view.add([make_interval([0.25], outcome="connect", body=0)])
    assert "agree" not in tables(view, valid, 100)


def test_the_first_lines_say_what_the_run_was(run, view, valid):
    run.notes = ["worker 1 died", "two\nlines"]
    title, _, first, *notes = tables(view, valid, 200, run=run).splitlines()[:5]
    assert title.endswith("5 users · http://127.0.0.1:8000")
    assert first.startswith("run 20261120-1200-7f3k, finished, 20")
    assert first.endswith(", 4 s")
    assert notes == ["note: worker 1 died", "note: two lines"]
    run.manifest = Manifest()
    assert tables(view, valid, 200, run=run).splitlines()[2].endswith(", 4 s")


def test_the_first_lines_say_what_was_left_out_and_what_the_load_was(run, make_interval, valid):
    shape = {"kind": "constant", "values": {"level": 900}}
    phase = {"name": "main", "shape": shape, "start": 10.0, "seconds": 60.0, "poisson": False, "warmup": False}
    run.manifest = Manifest.from_json(
        {"warmup": 9.5, "load": {"model": "open", "phases": [{**phase, "name": "w", "warmup": True}, phase]}}
    )
    run.notes = ["a note"]
    view = RunView(9.5)
    view.add([make_interval([1.0], second=69)])
    first, *rest = tables(view, valid, 200, run=run).splitlines()[2:7]
    assert first.endswith(", 1 min")
    assert rest[0] == "warm-up: the first 10 s are left out"
    assert [line.partition(":")[0] for line in rest[1:]] == ["phase w", "phase main", "note"]
