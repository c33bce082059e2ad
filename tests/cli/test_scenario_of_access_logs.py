"""`plimsoll scenario access.log`: a service is asked for what the log has, as often."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.sources.recording_target import target

REQUESTS = 400
CLF = '203.0.113.{client} - - [01/Nov/2020:10:{minute:02}:{second:02} +0000] "{request} HTTP/1.1" {status} 5 "-" "x"\n'
ASKED = (
    [f"GET /todos/{number}" for number in range(50)]
    + [f"GET /todos/?limit={limit}&q=a%20b%26c" for limit in (10, 20, 10, 10)] * 5
    + ["GET /"] * 25
    + ["HEAD /health"] * 5
)
"""Requests that a plan sends."""
LEFT_OUT = [("POST /orders", 201)] * 3 + [("DELETE /todos/1", 204), ("GET /a.css", 200), ("GET /wp.php", 404)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [*((request, 200) for request in ASKED), *LEFT_OUT]
    (tmp_path / "access.log").write_text(
        "".join(
            CLF.format(client=number % 7, minute=number // 60, second=number % 60, request=request, status=status)
            for number, (request, status) in enumerate(lines)
        )
    )
    return tmp_path


def test_a_plan_asks_for_what_the_log_has(plimsoll, folder):
    with target() as service:
        result = plimsoll("scenario", "access.log", "-o", "mix.toml", "-H", service.url)
        assert result.exit_code == 0, result.stderr
        assert result.stdout.splitlines() == [
            "4 endpoints of 100 requests from 2020-11-01 10:00:00 UTC to 2020-11-01 10:01:39 UTC: "
            "GET /todos/{todo_id} 50 %, GET / 25 %, GET /todos/ 20 %, HEAD /health 5 %.",
            "6 left out: 3 with a body that a log does not have, 1 that delete, 1 of assets, 1 that failed.",
            "1.00/s on average, 1.00/s in the busiest minute.",
            "note: a log does not have the bodies of POST /orders 2.83 %: add these requests to the plan yourself",
            "Written: mix.toml, and 2 files of values beside it.",
            "Run it: plimsoll run mix.toml -t 1m --headless",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", "run", "mix.toml", "--headless", "--only-summary", "-u", "4",
             "--requests", str(REQUESTS)],
            env=os.environ | {"PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}, capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        received = Counter(f"{request.method} {request.path}" for request in service.take())
    assert received.total() == REQUESTS
    assert received.keys() <= set(ASKED)
    for prefix, share in (("GET /todos/?", 0.2), ("HEAD ", 0.05), ("GET /todos/", 0.7)):
        sent = sum(number for request, number in received.items() if request.startswith(prefix))
        # Within five standard deviations of the log's share.
        assert abs(sent - share * REQUESTS) < 5 * (share * (1 - share) * REQUESTS) ** 0.5


def test_a_plan_without_values_has_no_files_beside_it(plimsoll, folder):
    (folder / "one.log").write_text(CLF.format(client=1, minute=0, second=0, request="GET /", status=200))
    assert "Written: one.toml.\n" in plimsoll("scenario", "one.log", "-o", "one.toml", "-H", "http://h").stdout


def test_rotated_and_packed_logs_are_one(plimsoll, folder):
    text = (folder / "access.log").read_bytes()
    (folder / "access.log.1.gz").write_bytes(gzip.compress(text))
    result = plimsoll("scenario", "access.log", "access.log.1.gz")
    assert "4 endpoints of 200 requests" in result.stderr
    assert 'get = "/todos/${todos_todo_id.todo_id}"\nweight = 100  # 50 %' in result.stdout


def test_a_replay_sends_the_requests_of_the_log(plimsoll, folder):
    with target() as service:
        words = ("access.log", "--replay", "--speed", "100", "-H", service.url, "-o", "replay.toml")
        result = plimsoll("scenario", *words)
        assert result.exit_code == 0, result.stderr
        assert result.stdout.splitlines()[-2:] == [
            "Written: replay.toml, replay.requests.csv and replay.times.txt, of 100 requests.",
            "Run it: plimsoll run replay.toml --headless",
        ]
        assert plimsoll("scenario", *words).exit_code == 2
        done = subprocess.run(
            [sys.executable, "-m", "plimsoll", "run", "replay.toml", "--headless", "--only-summary", "--processes", "2",
             "--store", "x.db"],
            env=os.environ | {"PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}, capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert Counter(f"{request.method} {request.path}" for request in service.received) == Counter(ASKED)
    report = " ".join(plimsoll("report", "last", "--store", "x.db").stdout.split())
    assert "100 of 100 requests of the log were sent, 99 % of them at most " in report
    assert "their mix differs from the log's by 0 %." in report


def test_credentials_in_a_query_are_masked(plimsoll, folder):
    line = CLF.format(client=1, minute=0, second=0, request="GET /a?access_token=8f3bfa1b9c2d4e5f", status=200)
    (folder / "access.log").write_text(line)
    result = plimsoll("scenario", "access.log")
    assert "8f3bfa1b" not in result.stdout + result.stderr
    assert "note: 1 target had credentials in the query" in result.stderr


def json_log(folder: Path) -> None:
    """A log of an application with keys of its own, and a line of another form."""
    lines = [
        {"at": f"2020-11-01T10:00:{second:02}Z", "http": {"verb": "GET", "code": 200}, "to": f"/todos/{second}"}
        for second in range(10)
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in [{"msg": "started"}, *lines])
    (folder / "app.jsonl.gz").write_bytes(gzip.compress(text.encode()))


def test_json_lines_are_read_by_the_keys_that_a_person_names(plimsoll, folder):
    json_log(folder)
    words = ("scenario", "app.jsonl.gz", "--log-format", "method=http.verb,path=to,status=http.code,time=at")
    assert plimsoll(*words).stderr.splitlines()[:2] == [
        "1 endpoint of 10 requests from 2020-11-01 10:00:00 UTC to 2020-11-01 10:00:09 UTC: "
        "GET /todos/{todo_id} 100 %.",
        "1 left out: 1 in lines of another form.",
    ]
    assert plimsoll(*words, "--replay", "-o", "replay.toml").exit_code == 0
    assert (folder / "replay.times.txt").read_text().split() == [f"{second}.000000" for second in range(10)]


def test_json_lines_that_are_not_recognized_have_a_suggestion(plimsoll, folder):
    json_log(folder)
    (folder / "app.jsonl").write_bytes(gzip.decompress((folder / "app.jsonl.gz").read_bytes()))
    result = plimsoll("scenario", "app.jsonl", "--log-format", "method=http.method,path=to,status=http.code,time=at")
    assert (result.exit_code, result.stderr) == (
        2, "plimsoll: app.jsonl:2: has no key http.method (method); its keys are at, http.verb, http.code, to\n"
    )  # fmt: skip
    for name in ("app.jsonl", "app.jsonl.gz"):
        assert plimsoll("scenario", name).stderr == (
            f"plimsoll: {name}: of these JSON lines no request is recognized; name the keys that requests have: "
            "--log-format 'method=http.verb,path=to,status=http.code,time=at'\n"
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("access.log", "-o", "mix.py"), "--output mix.py: an access log becomes a plan; write to a .toml file"),
        (
            ("access.log", "--prove"),
            "--prove is not for access logs, which have neither hosts nor variables nor replies",
        ),
        (("own.log", "--log-format", "$status"), "has no request; needed are $request"),
        (("own.log", "--log-format", "$remote_addr $request $status"), "own.log:1: no request is recognized in '1|GET"),
        (("posts.log",), "posts.log: has no request that a plan could send: 1 with a body that a log does not have"),
        (("broken.gz", "--log-format", "$request"), "broken.gz: not a whole gzip file"),
        (("own.sh", "-H", "http://127.0.0.1"), "--host is for access logs"),
        (("own.log", "-H", "http://127.0.0.1"), "access logs, for some of which plimsoll scenario needs --log-format"),
        (("access.log", "-H", "127.0.0.1:8000"), '--host: "127.0.0.1:8000" is not a URL'),
        (("access.log", "--set", "a=b"), "--set is not for access logs"),
    ],
)
def test_mistakes(plimsoll, folder, words, message):
    (folder / "own.log").write_text("1|GET|/\n")
    (folder / "own.sh").write_text("curl http://127.0.0.1/")
    (folder / "posts.log").write_text(CLF.format(client=1, minute=0, second=0, request="POST /a", status=200))
    (folder / "broken.gz").write_bytes(gzip.compress(b"GET / HTTP/1.1\n" * 99)[:-9])
    result = plimsoll("scenario", *words)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


HOSTILE = [
    {"method": method, "uri": uri, "status": 200, "ts": number}
    for number in range(3)
    for method in ("GET", "HEAD")
    for uri in (
        "/${x}/a", "/b?${y}=${z}", "/a\x01b/\x1b[31mred", "/a\nb\r\nX: y", "/a\"b'c", "/a b?c d=e f", "//evil.test/x",
        "/../etc", "/a#b?c", "/{id}/{}", f"/a%2F{number}", "/%zz%", "/é\u2028\x7f", "/\ud800", "/a??b", "/a?&&=", "/",
        f"/t/{number}", f"/t/{number}?q={number}", f"/t/{number}?q=${{{number}}}&p=%00%ff\n,", f"/t?q={number}",
        f"/t?q={number}&q=", "/" * 30_000,
        '/@api_key=password=Bearer #"sig=?a', "/%00&:/authorization=//1://{}",
    )
]  # fmt: skip


@pytest.mark.parametrize("name", ["access.log", "a\nb = 1 #.log"])
def test_a_plan_of_what_anybody_may_ask_for_is_accepted(plimsoll, folder, name):
    (folder / name).write_text("\ufeff" + "\r\n".join(map(json.dumps, HOSTILE)))
    assert plimsoll("scenario", name, "-o", "mix.toml").exit_code == 0
    checked = plimsoll("run", "mix.toml", "--dry-run", "-H", "http://127.0.0.1:1")
    assert checked.exit_code == 0, checked.stderr


def test_a_pipe_is_read_once(plimsoll, folder):
    os.mkfifo(folder / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", "cat access.log > pipe"]):
        result = plimsoll("scenario", "pipe", "--log-format", '%h %l %u %t "%r" %>s')
    assert result.stderr.startswith("4 endpoints of 100 requests"), result.stderr
