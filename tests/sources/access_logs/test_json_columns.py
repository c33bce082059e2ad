"""JSON lines whose keys a person names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.access_logs.json_columns import JsonColumns, json_columns, suggestion
from plimsoll.sources.access_logs.line import AccessLine
from plimsoll.sources.access_logs.reading import read_mix

if TYPE_CHECKING:
    from pathlib import Path

TIME = 1_604_226_896.0
"""2020-11-01 10:34:56 UTC."""
FORMAT = (
    "time=@timestamp,method=http.method,path=url.path,status=http.status,duration=took_ms:ms,client=remote,session=sid"
)
ROW = {
    "@timestamp": "2020-11-01T10:34:58Z",
    "http": {"method": "get", "status": 200},
    "url": {"path": "/todos/7"},
    "took_ms": 2000,
    "remote": "127.0.0.1",
    "sid": "a7",
}


def columns(text: str) -> JsonColumns:
    read = json_columns(text)
    assert read is not None
    return read


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        (FORMAT, ROW, AccessLine("GET", "/todos/7", 200, TIME, "a7")),
        (FORMAT, {**ROW, "sid": None}, AccessLine("GET", "/todos/7", 200, TIME, "127.0.0.1")),
        ("method=a.b,path=c.d.e", {"a.b": "PUT", "c": {"d.e": "/x"}}, AccessLine("PUT", "/x")),
        ("method=$.m, path=.p", {"m": "GET", "p": "http://h.test/a?b=1"}, AccessLine("GET", "/a?b=1")),
        ("method=m,path=p,query=q", {"m": "GET", "p": "/a", "q": "?b=1"}, AccessLine("GET", "/a?b=1")),
        ("method=m,path=p,query=q", {"m": "GET", "p": "/a?b=1", "q": "b=1"}, AccessLine("GET", "/a?b=1")),
        ("request=r,time=t", {"r": "GET /a HTTP/1.1", "t": 1_604_226_896_000}, AccessLine("GET", "/a", None, TIME)),
        (
            "request=r,time=t,duration=d",
            {"r": "GET /a HTTP/1.1", "t": "2020-11-01 10:34:57,500", "d": "1.5"},
            AccessLine("GET", "/a", None, TIME),
        ),
    ],
)
def test_a_line_has_what_its_keys_have(text: str, row: dict[str, object], expected: AccessLine) -> None:
    assert columns(text)(json.dumps(row)) == expected


@pytest.mark.parametrize("text", ['$remote_addr "$request" $status', "m=$request_method,p=$uri", '%h %t "%r" %>s', "x"])
def test_formats_of_servers_are_no_columns(text: str) -> None:
    assert json_columns(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("method=m", "has no path; write for example method=http.method,path="),
        ("methode=m,path=p", "unknown name methode; did you mean method? names are method, path, query, request, "),
        ("method=m,path", "'path' is not NAME=KEY; write for example "),
        ("method=m,path=p,path=q", "path is given twice"),
        ("method=m,path=p,duration=d:h", "unknown unit h; units of a duration are s, ms, us, µs, ns"),
    ],
)
def test_columns_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        json_columns(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("no JSON", "is no JSON object"),
        ([1], "is no JSON object"),
        (
            {"verb": "GET", "url": {"path": "/", "n": {}}},
            "has no key @timestamp (time), http.method (method), http.status (status); its keys are verb, url.path",
        ),
        ({**ROW, "url": {"path": "todos"}}, 'url.path (path) is "todos"; needed are a method such as GET, and a path'),
        ({**ROW, "@timestamp": "at nine"}, '@timestamp (time) is "at nine"; needed is Unix time in s, ms'),
        ({**ROW, "took_ms": "slow"}, 'took_ms (duration) is "slow"; needed is a number'),
        ({**ROW, "http": {"method": "GET", "status": "OK"}}, 'http.status (status) is "OK"; needed is 200, 404, …'),
        (ROW, ""),
    ],
)
def test_a_line_that_is_no_request_says_why(row: Any, complaint: str) -> None:
    said = columns(FORMAT).complaint(row if isinstance(row, str) else json.dumps(row))
    assert complaint in said if complaint else said == ""


def test_keys_in_a_complaint_are_bounded() -> None:
    row = {f"{number}\x1b{'k' * 500}": {"a": number} for number in range(500)}
    assert len(columns(FORMAT).complaint(json.dumps(row))) < 4_000
    assert "\x1b" not in columns(FORMAT).complaint(json.dumps(row))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {"@timestamp": "2020-11-01T10:34:58Z", "level": "info", "http": {"verb": "GET", "code": 200}, "to": "/a"},
            "method=http.verb,path=to,status=http.code,time=@timestamp",
        ),
        ({"line": "GET /a HTTP/1.1", "p": "/a", "v": "GET"}, "request=line"),
        ({"msg": "started"}, ""),
    ],
)
def test_columns_are_suggested(row: dict[str, object], expected: str) -> None:
    text = suggestion(json.dumps(row))
    assert text == expected
    assert not text or columns(text).complaint(json.dumps(row)) == ""


def test_a_key_that_no_line_has_is_named(tmp_path: Path) -> None:
    log = tmp_path / "app.jsonl"
    log.write_text(f"{json.dumps(ROW)}\n" * 100)
    with pytest.raises(UsageError) as caught:
        read_mix([str(log)], f"{FORMAT},query=url.search", assets=False)
    assert str(caught.value) == (
        f"{log}: no line has the key url.search (query); leave it out of --log-format, or name one of @timestamp, "
        "http.method, http.status, url.path, took_ms, remote, sid"
    )


def test_other_lines_of_an_application_are_left_out(tmp_path: Path) -> None:
    log = tmp_path / "app.jsonl"
    log.write_text(f"{json.dumps({'msg': 'started'})}\n{json.dumps(ROW)}\n{json.dumps(ROW)}\n")
    mix = read_mix([str(log)], FORMAT, assets=False)
    assert mix.requests == 2
    assert mix.left_out == {"in lines of another form": 1}
