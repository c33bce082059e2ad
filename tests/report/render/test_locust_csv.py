from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.record import CaughtException, Failure
from plimsoll.report.render import locust_csv
from plimsoll.report.render.locust_csv import CsvFiles, error_text
from plimsoll.report.reporting import Reporting
from plimsoll.stats.view import RunView

STATS = (
    "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
    "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%"
)
HISTORY = (
    "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%,"
    "Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,"
    "Total Min Response Time,Total Max Response Time,Total Average Content Size"
)

FRAMES = """  File "/load/locustfile.py", line 12, in browse
    price = 1 / count
            ~~^~~~~~~
  [Previous line repeated 3 more times]
"""


def lines(prefix, what) -> list[str]:
    """Without their ends, which are CRLF."""
    text = Path(f"{prefix}_{what}.csv").read_bytes().decode()
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n")
    return text.split("\r\n")[:-1]


@pytest.fixture
def prefix(tmp_path) -> str:
    return str(tmp_path / "out" / "todos")


def test_before_the_run_the_files_are_there_with_their_headers(prefix):
    CsvFiles(prefix).begin()
    assert lines(prefix, "stats") == [STATS]
    assert lines(prefix, "stats_history") == [HISTORY]
    assert lines(prefix, "failures") == ["Method,Name,Error,Occurrences,First Seen,Last Seen"]
    assert lines(prefix, "exceptions") == ["Count,Message,Traceback,Nodes"]
    assert lines(prefix, "validity") == ["Check,State,Value,Limit,Text"]
    assert len(list(Path(prefix).parent.iterdir())) == 5


def test_what_an_earlier_run_left_is_replaced(prefix, view):
    files = CsvFiles(prefix)
    files.begin()
    files.second(view, 1.0, 5)
    files.begin()
    assert [len(lines(prefix, what)) for what in ("stats", "stats_history", "failures", "exceptions")] == [1] * 4


@pytest.mark.parametrize("prefix", ["/proc/nowhere/todos", "/dev/null/todos"])
def test_a_place_that_cannot_be_written_is_told_before_the_run(prefix):
    with pytest.raises(UsageError, match=f"--csv {prefix}: cannot write {prefix}_stats.csv: "):
        CsvFiles(prefix).check()
    with pytest.raises(UsageError, match=f"--csv {prefix}: cannot write there: "):
        CsvFiles(prefix).begin()


def test_a_check_leaves_the_files_of_an_earlier_run_as_they_are(prefix):
    CsvFiles(prefix).check()
    assert list(Path(prefix).parent.iterdir()) == []
    Path(f"{prefix}_stats.csv").write_text("earlier")
    CsvFiles(prefix).check()
    assert [each.read_text() for each in Path(prefix).parent.iterdir()] == ["earlier"]


def test_stats_a_row_per_endpoint_and_one_for_all(prefix, make_interval, valid):
    view = RunView()
    view.add([make_interval([1.0, 2.0, 4.5], name="/b"), make_interval([0.5], name="/a", method="POST")])
    view.add([make_interval([0.1], name="/a", method="GET", outcome="connect", body=0)])
    files = CsvFiles(prefix)
    files.begin()
    files.finish(view, valid)
    assert lines(prefix, "stats") == [
        STATS,
        "GET,/a,1,1,0,0.0,0.0,0.0,0.0,1.0,1.0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A",
        "POST,/a,1,0,0.5,0.5,0.5,0.5,100.0,1.0,0.0,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5",
        "GET,/b,3,0,2,2.5,1.0,4.5,100.0,3.0,0.0,2,2,4.5,4.5,4.5,4.5,4.5,4.5,4.5,4.5,4.5",
        ",Aggregated,5,1,1,2.0,0.5,4.5,80.0,5.0,1.0,1,2,2,4.5,4.5,4.5,4.5,4.5,4.5,4.5,4.5",
    ]
    assert lines(prefix, "stats_history") == [HISTORY]


def test_the_verdict_a_line_per_check(prefix, view, invalid):
    files = CsvFiles(prefix)
    files.begin()
    files.second(view, 1.0, 5)
    assert len(lines(prefix, "validity")) == 1
    files.finish(view, invalid)
    rows = list(csv.DictReader(lines(prefix, "validity")))
    assert [row["Check"] for row in rows] == ["offered", "dropped", "cpu", "lag", "clock", "workers", "little"]
    assert list(rows[1].values()) == [
        "dropped",
        "failed",
        "12",
        "0",
        "12 arrivals dropped: due, but never sent; more users (--max-users), or a lower rate",
    ]
    assert (rows[4]["State"], rows[4]["Value"], rows[6]["State"]) == ("unknown", "", "n/a")


def test_percentiles_are_not_rounded_beyond_the_microsecond(prefix, make_interval, valid):
    view = RunView()
    view.add([make_interval([1.2345678])])
    files = CsvFiles(prefix)
    files.begin()
    files.finish(view, valid)
    row = next(csv.DictReader(lines(prefix, "stats")))
    assert row["50%"] == row["Median Response Time"] == "1.235"
    assert row["Max Response Time"] == "1.234568"


def test_history_of_the_whole_run(prefix, make_interval):
    files, view = CsvFiles(prefix), RunView()
    files.begin()
    for second in range(12):
        view.add([make_interval([100.0 if second < 1 else 1.0], second=second)])
        files.second(view, 1000.75 + second, second + 1)
    rows = list(csv.DictReader(lines(prefix, "stats_history")))
    assert [row["Timestamp"] for row in rows] == [str(1000 + second) for second in range(12)]
    last = rows[-1]
    assert (last["User Count"], last["Type"], last["Name"]) == ("12", "", "Aggregated")
    assert (last["Requests/s"], last["Failures/s"]) == ("1.000000", "0.000000")
    assert (last["100%"], last["Total Request Count"], last["Total Max Response Time"]) == ("100", "12", "100.0")


def test_full_history_has_every_endpoint_with_the_last_ten_seconds(prefix, make_interval):
    files, view = CsvFiles(prefix, full_history=True), RunView()
    files.begin()
    for second in range(12):
        name = "/old" if second < 1 else "/new"
        view.add([make_interval([100.0 if second < 1 else 1.0], second=second, name=name)])
        files.second(view, 1000 + second, 3)
    rows = list(csv.DictReader(lines(prefix, "stats_history")))[-3:]
    assert [row["Name"] for row in rows] == ["/new", "/old", "Aggregated"]
    assert [row["100%"] for row in rows] == ["1", "N/A", "1"]
    assert [row["Total Max Response Time"] for row in rows] == ["1.0", "100.0", "100.0"]


def test_failures_and_exceptions(prefix):
    failures = [
        Failure("GET", "/", "http", "CatchResponseError('no, \"really\"')", 2, 0.0, 1_795_176_000.25),
        Failure("POST", "/", "connect", "ConnectionRefusedError(111, 'Connection refused')", 5, 1.0, 2.0),
    ]
    view = RunView()
    view.add([], [], failures, [CaughtException("m", FRAMES + "ValueError: m\nand more\n", 3, {1, 0})])
    files = CsvFiles(prefix)
    files.begin()
    files.second(view, 1.0, 1)
    rows = lines(prefix, "failures")
    assert sorted(rows[1:]) == [
        'GET,/,"CatchResponseError(\'no, ""really""\')",2,1970-01-01T00:00:00Z,2026-11-20T12:00:00.250000Z',
        "POST,/,\"ConnectionRefusedError(111, 'Connection refused')\",5,1970-01-01T00:00:01Z,1970-01-01T00:00:02Z",
    ]
    text = Path(f"{prefix}_exceptions.csv").read_bytes().decode()
    quoted = FRAMES.replace('"', '""')
    assert text == f'Count,Message,Traceback,Nodes\r\n3,m,"{quoted}","worker-0, worker-1"\r\n'


@pytest.mark.parametrize(("workers", "node"), [(1, "local"), (2, "worker-0")])
def test_the_only_process_is_local(prefix, valid, make_health, workers, node):
    view = RunView()
    view.add([], [make_health(0, worker) for worker in range(workers)], [], [CaughtException("m", "no frames", 1, {0})])
    files = CsvFiles(prefix)
    files.begin()
    files.finish(view, valid)
    assert lines(prefix, "exceptions")[1:] == [f"1,m,no frames,{node}"]


def test_the_failures_of_a_locustfile_are_told_as_by_locust(prefix, valid):
    view = RunView()
    failures = ("price is 'wrong'", "HTTPError('404')", "(other messages)")
    view.add([], [], [Failure("GET", "/", "assertion", message, 1, 0.0, 0.0) for message in failures])
    for of_locustfile in (False, True):
        files = CsvFiles(prefix, of_locustfile=of_locustfile)
        files.begin()
        files.finish(view, valid)
        written = {row["Error"] for row in csv.DictReader(lines(prefix, "failures"))}
        caught = "CatchResponseError(\"price is 'wrong'\")" if of_locustfile else "price is 'wrong'"
        assert written == {caught, "HTTPError('404')", "(other messages)"}


@pytest.mark.parametrize(
    ("method", "message", "text"),
    [
        ("GET", "", "CatchResponseError('')"),
        ("patch", "wrong", "CatchResponseError('wrong')"),
        ("GET", "got (x)", "CatchResponseError('got (x)')"),
        ("GET", "one\n(two)", "CatchResponseError('one\\n(two)')"),
        ("GET", "OwnError('one\\n')", "OwnError('one\\n')"),
        ("GET", "<Own error\nof two lines>", "<Own error\nof two lines>"),
        ("GET", "own.Error(", "CatchResponseError('own.Error(')"),
        ("GET", "Error('" + "x" * 1993, "Error('" + "x" * 1993),
        ("GET", "Error('" + "µ" * 995, "Error('" + "µ" * 995),
        ("GET", "x" * 2000, f"CatchResponseError('{'x' * 2000}')"),
        ("WS", "lost", "lost"),
        ("", "lost", "lost"),
    ],
)
def test_what_was_given_to_failure_is_told_from_an_exception(method, message, text):
    assert error_text(method, message) == text


def test_the_order_of_failures_does_not_depend_on_their_count(prefix, valid):
    def order(counts):
        view = RunView()
        view.add([], [], [Failure("GET", f"/{n}", "http", "m", count, 0.0, 0.0) for n, count in enumerate(counts)])
        files = CsvFiles(prefix)
        files.begin()
        files.finish(view, valid)
        return [row["Name"] for row in csv.DictReader(lines(prefix, "failures"))]

    assert order([1, 2, 3, 4]) == order([4, 3, 2, 1])


def test_any_text_can_be_written(prefix, make_interval):
    view = RunView()
    view.add([make_interval([1], name="µ\ud800\r\n,")], [], [Failure("GET", "\ud800", "http", "\ud800", 1, 0.0, 0.0)])
    files = CsvFiles(prefix)
    files.begin()
    files.second(view, 1.0, 1)
    with Path(f"{prefix}_stats.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["Name"] == "µ\ufffd\ufffd\n,"


def test_the_percentiles_are_those_that_the_locustfile_wants(prefix, make_interval, valid):
    files, view = CsvFiles(prefix), RunView()
    files.begin()
    view.add([make_interval([1.0, 2.0, 3.0])])
    for second in range(2):
        files.second(view, 1000 + second, 1, Reporting(percentiles=(0.5, 0.999)))
    files.finish(view, valid)
    assert lines(prefix, "stats")[0].endswith("Requests/s,Failures/s,50%,99.9%")
    assert lines(prefix, "stats")[1].endswith(",2,3")
    header, *rows = lines(prefix, "stats_history")
    assert "Failures/s,50%,99.9%,Total Request Count" in header
    assert len(rows) == 2


def test_the_history_has_a_line_as_often_as_the_locustfile_wants(prefix, view):
    files = CsvFiles(prefix)
    files.begin()
    for second in range(7):
        files.second(view, 1000.2 + second, second, Reporting(csv_interval=3))
    rows = csv.DictReader(lines(prefix, "stats_history"))
    assert [row["Timestamp"] for row in rows] == ["1000", "1003", "1006"]


def test_tables_that_take_long_are_written_less_often(prefix, view, monkeypatch):
    # Only a second that writes asks for a second time, how long that took.
    stamps = iter((10.0, 10.5, 11.0, 12.0, 12.6, 12.7))
    monkeypatch.setattr(locust_csv, "monotonic", lambda: next(stamps))
    files = CsvFiles(prefix)
    files.begin()
    written = []
    for second in range(4):
        files.second(view, 1000.2 + second, 5)
        written.append(Path(f"{prefix}_stats.csv").stat().st_ino)
    assert written[0] == written[1] == written[2] != written[3]
    assert len(lines(prefix, "stats_history")) == 1 + 4, "the history has every second"
